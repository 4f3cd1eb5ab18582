"""Work: the resource behind every route that makes jobs. The kind decides all that differs."""

import asyncio
from collections.abc import Mapping
from typing import Any

import falcon
import falcon.asgi
from pydantic import BaseModel

from api.http.bodies.bodies import read_json, refuse_length
from api.http.bodies.fields import ignore_unknown, read_fields, refuse_marks, require_files, with_uploads
from api.http.bodies.forms import SMALLER, FormReader, FormShape, Upload
from api.http.parameters import DRY_RUN, PRICE
from api.http.request_context import context_of
from api.services.auth import header_key, query_key
from api.services.services import Services
from api.services.waiting import Waiter
from api.work.common_fields import HEADERS, add_priority, add_webhook
from api.work.delivering import answer
from api.work.preferences import Preference, read_idempotency_key, read_preference
from api.work.submitting import Order, is_replay, submit_order
from pipeline.accounts.keys import Caller
from pipeline.identifiers import uuid7
from pipeline.kind import AnyKind
from pipeline.lifecycle import Submitted
from pipeline.storage.resumable import ResumableUpload, find_upload
from pipeline.storage.upload_errors import UploadIncomplete, UploadNotFound, UploadUsed

Sent = bytes | dict[str, Any]


class Work:
    """POST of a kind at one of its routes: receive the request, submit its order, answer."""

    def __init__(self, services: Services, kind: AnyKind, route: str) -> None:
        self._services = services
        self._kind = kind
        self._route = route
        api = services.settings.api
        files = [*kind.files, *kind.uploads, *([kind.many_files.file] if kind.many_files else ())]
        self._takes_form = bool(files)
        self._max_bytes = kind.limits.body_bytes or (api.max_json_bytes + len(files) * api.max_upload_bytes)
        self._forms = FormReader(
            self._form_shape(),
            max_file_bytes=api.max_upload_bytes,
            max_field_bytes=api.max_json_bytes,
            max_bytes=self._max_bytes,
            remedy=kind.larger_files or SMALLER,
        )

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Make a job of the request, and answer with its result or its location."""
        services = self._services
        async with Upload(services.artifacts, uuid7()) as upload:
            order = await self._order(req, upload)
            if DRY_RUN.read(req) == "true":
                # A recording's price is that of its first minute: its length is not known yet.
                await services.show_rate_limit(req, order.caller)
                resp.set_header(PRICE, str(sum(price for _, price, _ in order.submission.items)))
                resp.status = falcon.HTTP_204
                return
            preference = read_preference(req)
            waits = not preference.is_immediate and self._kind.answer.receipt is None
            # Before the request is counted: without a place to wait it was not made.
            with services.waiting.enter(upload.job_id, waits=waits) as waiter:
                submitted = await submit_order(services, order, context_of(req), upload)
                await self._answer(order, submitted, preference, waiter, resp)

    async def _order(self, req: falcon.asgi.Request, upload: Upload) -> Order:
        """Return the order that a request makes. Raises Unauthorized, InvalidRequest and so on."""
        caller, request, common = await self._receive(req, upload)
        return await self._with_common(req, common, await self._order_of(req, caller, request, upload))

    async def _receive(self, req: falcon.asgi.Request, upload: Upload) -> tuple[Caller, BaseModel, dict[str, Any]]:
        """Return who sends a request, its valid fields, and those of no kind, after storing its files in `upload`.

        It is checked in the order of docs/api.md, Errors: size, key, body, fields."""
        is_form = bool(self._kind.files) or (
            self._takes_form and (req.content_type or "").partition(";")[0].strip().lower() == "multipart/form-data"
        )
        if is_form:
            self._forms.refuse_length(req)
        else:
            refuse_length(req, self._max_bytes)
        key = header_key(req)
        caller = await self._services.authenticate(req, key) if key else None
        sent: Sent
        if is_form:
            sent = read = await self._forms.read(req, upload)
        else:
            sent, read = await read_json(req, max_bytes=self._max_bytes)
        common = _common_fields(read)
        del read  # a megabyte of JSON may become twenty, and from here on this waits for others
        if caller is None:
            body_key = common.get("api_key")
            caller = await self._services.authenticate(req, query_key(req) if body_key is None else body_key)
        request = self._checked(sent, upload)
        if not is_form:
            ignore_unknown(req, type(request))
        return caller, request, common

    async def _order_of(self, req: falcon.asgi.Request, caller: Caller, request: BaseModel, upload: Upload) -> Order:
        """Return the order of a request with valid fields. Raises InvalidRequest for what the kind refuses."""
        context, idempotency_key = context_of(req), read_idempotency_key(req)
        offers = await self._services.offer_cache.offers()
        kind = self._kind_of(request)
        resumable = await self._resumable(caller, kind, request, upload)

        def checked() -> Order:
            kind.check(request, offers)
            return Order.of(
                kind,
                self._route,
                caller,
                request,
                job_id=upload.job_id,
                request_id=context.request_id,
                idempotency_key=idempotency_key,
                file_hashes=upload.hashes,
                file_names=upload.names,
                settings=self._services.settings,
            )

        if kind.limits.body_bytes is None:
            order = checked()
            if kind.resumable is not None and getattr(request, kind.resumable) is not None:
                await self._check_resumable(resumable, order)
            return order
        # Ten thousand hosts in other scripts take seconds to check; the event loop answers others meanwhile.
        async with self._services.large_requests:
            return await asyncio.to_thread(checked)

    async def _resumable(
        self, caller: Caller, kind: AnyKind, request: BaseModel, upload: Upload
    ) -> ResumableUpload | None:
        """Return the resumable upload that a request names, whose id its job takes: sent twice, it is one job."""
        if kind.resumable is None or (named := getattr(request, kind.resumable)) is None:
            return None
        upload.job_id = named
        found = await self._services.database.run(find_upload(named, caller.account_id))
        if found is not None and found.name:
            upload.names[kind.resumable] = found.name
        return found

    async def _check_resumable(self, found: ResumableUpload | None, order: Order) -> None:
        """Refuse an upload that is not there, not complete, or another request's.

        Raises UploadNotFound, UploadIncomplete, UploadUsed."""
        if found is None:
            # Once its job has ended an upload expires; the request may still be repeated under its Idempotency-Key.
            if not await is_replay(self._services, order.submission):
                raise UploadNotFound
        elif not found.is_complete:
            raise UploadIncomplete(found)
        elif found.request_hash not in (None, order.submission.request_hash):
            raise UploadUsed(found)

    async def _with_common(self, req: falcon.asgi.Request, fields: Mapping[str, Any], order: Order) -> Order:
        """Return the order with the webhook and the priority that a request names. Raises InvalidRequest."""
        return add_priority(req, fields, await add_webhook(self._services, req, fields, order))

    async def _answer(
        self, order: Order, submitted: Submitted, preference: Preference, waiter: Waiter, resp: falcon.asgi.Response
    ) -> None:
        """Answer with the result, or with the job if the client does not wait."""
        await answer(self._services, self._kind, order, submitted, preference, waiter, resp)

    def _form_shape(self) -> FormShape:
        """Return the files and texts that a form of this route may have."""
        return FormShape.of(self._kind)

    def _kind_of(self, request: BaseModel) -> AnyKind:
        """Return the kind of the job that a request makes; it has the queue of this route's kind."""
        return self._kind

    def _checked(self, sent: Sent, upload: Upload) -> BaseModel:
        """Return the valid fields of a request. Raises FieldsInvalid."""
        require_files(self._kind, upload.hashes)
        if isinstance(sent, dict):
            sent = with_uploads(self._kind, sent, upload.hashes, upload.names)
        model: type[BaseModel] = self._kind.request
        request = read_fields(model, sent)
        refuse_marks(self._kind, request, upload.hashes)
        return request


def _common_fields(read: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request that belong to no kind, without lists or objects where none can be."""

    def shortened(value: Any) -> Any:
        if isinstance(value, list) and not all(isinstance(entry, str) for entry in value):
            return [None]
        return {} if isinstance(value, dict) else value

    return {name: shortened(read[name]) for name in ("api_key", *HEADERS) if name in read}
