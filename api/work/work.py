"""Work: the one resource behind every route that makes jobs; the kind says all that differs."""

import asyncio
from collections.abc import Mapping
from typing import Any

import falcon.asgi
from pydantic import BaseModel

from api.http.bodies.bodies import read_json, refuse_length
from api.http.bodies.fields import read_fields, refuse_marks, require_files, with_uploads
from api.http.bodies.forms import FormReader, FormShape, Upload
from api.http.request_context import RequestContext, context_of
from api.services.auth import header_key, query_key
from api.services.services import Services
from api.services.waiting import Restarting, Waiter
from api.work.answers import name_job, show_accepted, show_delivery, show_response
from api.work.preferences import Preference, read_idempotency_key, read_preference
from api.work.submitting import Order, submit_job
from api.work.webhook_fields import HEADERS, WebhookMissing, read_webhook
from pipeline.accounts.keys import Caller
from pipeline.errors import PressroomError, ServiceUnavailable
from pipeline.identifiers import uuid7
from pipeline.kind import AnyKind
from pipeline.lifecycle import Submitted
from pipeline.lifecycle.jobs import Delivery, Job, find_delivery, find_replay, new_job
from pipeline.limits.rate_limits import AccountLimitExceeded
from pipeline.webhooks.accounts import find_webhook


class Work:
    """POST of a kind at one of its routes."""

    def __init__(self, services: Services, kind: AnyKind, route: str) -> None:
        api = services.settings.api
        self._services = services
        self._kind = kind
        self._route = route
        self._max_bytes = kind.limits.body_bytes or (
            api.max_json_bytes + len([*kind.files, *kind.uploads]) * api.max_upload_bytes
        )
        self._forms = FormReader(
            self._form_shape(),
            max_file_bytes=api.max_upload_bytes,
            max_field_bytes=api.max_json_bytes,
            max_bytes=self._max_bytes,
        )

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Make a job of the request, and answer with its result or with where to find it."""
        services = self._services
        job_id = uuid7()
        async with Upload(services.artifacts, job_id) as upload:
            order = await self._order(req, upload)
            preference = read_preference(req)
            # Before the request is counted: one that finds no place has not been made.
            with services.waiting.enter(job_id, waits=self._waits(preference)) as waiter:
                is_counted = await self._admit(order, context_of(req))
                submitted = await self._submit(order, upload)
                if submitted.outcome == "accepted":
                    services.waker.wake(self._kind.queue)
                elif is_counted:
                    await services.limits.give_back(order.caller, order.requests)
                await self._answer(order, submitted, preference, waiter, resp)

    async def _submit(self, order: Order, upload: Upload) -> Submitted:
        """Make the job. Its files are kept unless it is known that no job wants them. Raises what `submit_job` does."""
        # The answer may be lost after the commit, or the client may leave then: the sweep deletes what no job wants.
        upload.is_wanted = True
        try:
            # With files in a transaction of its own, which ends with a client that leaves meanwhile.
            submitted = await submit_job(order.submission, self._services, alone=bool(upload.hashes))
        except PressroomError as error:
            upload.is_wanted = isinstance(error, ServiceUnavailable)
            raise
        upload.is_wanted = submitted.outcome == "accepted"
        return submitted

    def _waits(self, preference: Preference) -> bool:
        """Return whether the request waits for its job: not where the client or the kind wants the job itself."""
        return not (preference.is_immediate or self._kind.answer.receipt is not None)

    async def _order(self, req: falcon.asgi.Request, upload: Upload) -> Order:
        """Return the request when it is in order; checked in the order of docs/api.md, Errors."""
        services = self._services
        if self._is_form(req):
            self._forms.refuse_length(req)
        else:
            refuse_length(req, self._max_bytes)
        key = header_key(req)
        caller = await services.authenticate(req, key) if key else None
        sent, read = await self._read(req, upload)
        fields = _common_fields(read)
        del read  # what a megabyte of JSON becomes may take twenty, and others are waited for from here on
        if caller is None:
            body_key = fields.get("api_key")
            caller = await services.authenticate(req, query_key(req) if body_key is None else body_key)
        request = self._checked(sent, upload)
        del sent
        order = await self._order_of(req, caller, request, upload)
        return await self._with_webhook(req, fields, order)

    async def _order_of(self, req: falcon.asgi.Request, caller: Caller, request: BaseModel, upload: Upload) -> Order:
        """Return the order of a request whose fields are in order. Raises InvalidRequest for what the kind refuses."""
        offers = await self._services.offer_cache.offers()
        kind = self._kind_of(request)

        def checked() -> Order:
            kind.check(request, offers)
            return Order.of(
                kind,
                self._route,
                caller,
                request,
                job_id=upload.job_id,
                request_id=context_of(req).request_id,
                idempotency_key=read_idempotency_key(req),
                file_hashes=upload.hashes,
                settings=self._services.settings,
            )

        if kind.limits.body_bytes is None:
            return checked()
        # Ten thousand hosts in other scripts take seconds to read, in which others are answered.
        async with self._services.large_requests:
            return await asyncio.to_thread(checked)

    def _form_shape(self) -> FormShape:
        """Return what a form of this route may have."""
        return FormShape.of(self._kind)

    async def _with_webhook(self, req: falcon.asgi.Request, fields: Mapping[str, Any], order: Order) -> Order:
        """Return the order with what a request says of its webhook. Raises InvalidRequest."""
        services = self._services
        webhook = read_webhook(req, fields, services.settings.fetch.allow_networks)
        if webhook.events and webhook.url is None and order.submission.webhook_url is None:
            own = await services.database.run(find_webhook(order.caller.account_id))
            if own is None or own.url is None:
                raise WebhookMissing
        return order.with_webhook(webhook.url, webhook.events)

    def _kind_of(self, request: BaseModel) -> AnyKind:
        """Return the kind of the job that a request makes; one of this route's queue."""
        return self._kind

    async def _read(self, req: falcon.asgi.Request, upload: Upload) -> tuple[bytes | dict[str, Any], dict[str, Any]]:
        """Return the fields as sent, a JSON body or a form's texts, and as read."""
        if self._is_form(req):
            texts = await self._forms.read(req, upload)
            return texts, texts
        return await read_json(req, max_bytes=self._max_bytes)

    def _is_form(self, req: falcon.asgi.Request) -> bool:
        """Return whether the request is a form: always, of a kind that needs files."""
        is_sent = (req.content_type or "").partition(";")[0].strip().lower() == "multipart/form-data"
        return bool(self._kind.files) or (bool(self._kind.uploads) and is_sent)

    def _checked(self, sent: bytes | dict[str, Any], upload: Upload) -> BaseModel:
        require_files(self._kind, upload.hashes)
        if isinstance(sent, dict):
            sent = with_uploads(self._kind, sent, upload.hashes)
        model: type[BaseModel] = self._kind.request
        request = read_fields(model, sent)
        refuse_marks(self._kind, request, upload.hashes)
        return request

    async def _admit(self, order: Order, context: RequestContext) -> bool:
        """Count the request; one that was carried out before is not held up. Raises AccountLimitExceeded."""
        limits = self._services.limits
        try:
            rate_limit = await limits.admit(order.caller, order.requests)
        except AccountLimitExceeded as error:
            context.headers.update(error.rate_limit.headers())
            if not await self._is_replay(order):
                raise
            return False
        context.headers.update(rate_limit.headers())
        return True

    async def _is_replay(self, order: Order) -> bool:
        submission = order.submission
        if submission.idempotency_key is None:
            return False
        return await self._services.database.run(
            find_replay(
                submission.account_id,
                route=submission.route,
                idempotency_key=submission.idempotency_key,
                request_hash=submission.request_hash,
                window=submission.idempotency_window,
            )
        )

    async def _answer(
        self, order: Order, submitted: Submitted, preference: Preference, waiter: Waiter, resp: falcon.asgi.Response
    ) -> None:
        job = new_job(order.submission, submitted)
        delivery = None if job else await self._join(order, submitted, waiter)
        standing = delivery.job if delivery else job
        available = delivery.available if delivery else submitted.available
        if standing is not None and (receipt := self._kind.receipt(standing)) is not None:
            name_job(resp, standing, available)
            await show_response(self._services, resp, receipt)
            return
        if job is not None and preference.is_immediate:
            self._accept(resp, job, submitted.available, preference)
            return
        if delivery is None or not (delivery.job.is_final or preference.is_immediate):
            delivery = await self._wait(order, preference, waiter, resp)
        if delivery.job.is_final:
            await show_delivery(self._services, resp, delivery)
        else:
            self._accept(resp, delivery.job, delivery.available, preference)

    async def _join(self, order: Order, submitted: Submitted, waiter: Waiter) -> Delivery:
        """Wait for the job of the first request with this Idempotency-Key, as far as it is now."""
        if submitted.job_id is not None and submitted.job_id != waiter.job_id:
            self._services.waiting.move(waiter, submitted.job_id)
        return await self._find(order, waiter)

    async def _wait(self, order: Order, preference: Preference, waiter: Waiter, resp: falcon.asgi.Response) -> Delivery:
        try:
            while await waiter.wait(within=preference.patience):
                delivery = await self._find(order, waiter)
                if delivery.job.is_final:
                    return delivery
        except Restarting:
            resp.set_header("X-Job-Id", str(waiter.job_id))
            resp.set_header("Location", f"/jobs/{waiter.job_id}")
            raise
        return await self._find(order, waiter)

    async def _find(self, order: Order, waiter: Waiter) -> Delivery:
        found = await self._services.deliveries.run(find_delivery(waiter.job_id, order.caller.account_id))
        if found is None:
            raise PressroomError("The job was not found right after it was made.")
        return found

    def _accept(self, resp: falcon.asgi.Response, job: Job, available: int | None, preference: Preference) -> None:
        show_accepted(self._services, resp, job, available=available, applied=preference.applied)


def _common_fields(read: Mapping[str, Any]) -> dict[str, Any]:
    """Return those fields of a request that are no kind's; a list or an object where none can be is cut short."""

    def shortened(value: Any) -> Any:
        if isinstance(value, list) and not all(isinstance(entry, str) for entry in value):
            return [None]
        return {} if isinstance(value, dict) else value

    return {name: shortened(read[name]) for name in ("api_key", *HEADERS) if name in read}
