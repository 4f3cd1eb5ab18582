"""Work: the one resource behind every route that makes jobs; the kind says all that differs."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import falcon.asgi

from api.answers import show_accepted, show_delivery
from api.auth import header_key, query_key
from api.bodies import read_json, refuse_length
from api.exchange import exchange_of
from api.fields import read_fields
from api.preferences import Preference, read_idempotency_key, read_preference
from api.services import Services
from api.submitting import Order, new_job, submission_of, submit_job
from api.waiting import Restarting, Waiter
from pipeline.errors import PressroomError
from pipeline.jobs import Delivery, find_delivery
from pipeline.keys import Caller
from pipeline.kind import Kind


@dataclass(frozen=True, slots=True)
class Sent:
    """What a request's body held: fields to be checked, a key, and the SHA-256 of each file."""

    fields: bytes | dict[str, Any]
    key: object
    file_hashes: dict[str, str] = field(default_factory=dict)


class Work:
    """POST of a kind at one of its routes."""

    def __init__(self, services: Services, kind: Kind[Any], route: str) -> None:
        self._services = services
        self._kind = kind
        self._route = route
        self._max_body_bytes = _max_body_bytes(services, kind)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Make a job of the request, and answer with its result or with where to find it."""
        order, preference = await self._order(req)
        with self._services.room.enter(order.job_id) as waiter:
            await self._carry_out(order, preference, waiter, resp)

    async def _order(self, req: falcon.asgi.Request) -> tuple[Order, Preference]:
        """Return the request when it is in order; the order of refusal is API.md's."""
        services, exchange = self._services, exchange_of(req)
        job_id = uuid4()
        refuse_length(req, self._max_body_bytes)
        key = header_key(req)
        caller = await services.authenticate(req, key) if key else None
        sent = await self._read(req, job_id)
        if caller is None:
            caller = await services.authenticate(req, sent.key if sent.key is not None else query_key(req))
        request = read_fields(self._kind, sent.fields)
        self._kind.check(request, await services.catalogue.offers())
        preference, idempotency_key = read_preference(req), read_idempotency_key(req)
        order = Order(
            self._kind, self._route, caller, job_id, request, exchange.request_id, idempotency_key, sent.file_hashes
        )
        standing = await services.limits.admit(caller.account_id, caller.tier, self._kind.requests(request))
        if standing is not None:
            exchange.headers.update(standing.headers())
        return order, preference

    async def _read(self, req: falcon.asgi.Request, job_id: UUID) -> Sent:
        body, fields = await read_json(req, max_bytes=self._max_body_bytes)
        return Sent(body, fields.get("api_key"))

    async def _carry_out(
        self, order: Order, preference: Preference, waiter: Waiter, resp: falcon.asgi.Response
    ) -> None:
        services = self._services
        submission = submission_of(order, services)
        submitted = await submit_job(submission, services)
        job = new_job(submission, submitted)
        if submitted.outcome == "accepted":
            services.alarm.ring(self._kind.queue)
        if job is not None and preference.patience is not None and not preference.patience:
            show_accepted(services, resp, job, available=submitted.available, applied=preference.applied)
            return
        job_id = submitted.job_id or order.job_id
        if job_id != waiter.job_id:
            services.room.move(waiter, job_id)
        await self._wait(order.caller, job_id, preference, waiter, resp, is_new=job is not None)

    async def _wait(
        self,
        caller: Caller,
        job_id: UUID,
        preference: Preference,
        waiter: Waiter,
        resp: falcon.asgi.Response,
        *,
        is_new: bool,
    ) -> None:
        services = self._services
        delivery = None if is_new else await self._find(caller, job_id)
        if delivery is None or not delivery.job.is_final:
            try:
                await waiter.wait(preference.patience)
            except Restarting:
                resp.set_header("X-Job-Id", str(job_id))
                resp.set_header("Location", f"/jobs/{job_id}")
                raise
            delivery = await self._find(caller, job_id)
        if delivery.job.is_final:
            await show_delivery(services, resp, delivery)
        else:
            show_accepted(services, resp, delivery.job, available=delivery.available, applied=preference.applied)

    async def _find(self, caller: Caller, job_id: UUID) -> Delivery:
        found = await self._services.database.run(find_delivery(job_id, caller.account_id))
        if found is None:
            raise PressroomError("The job was not found right after it was made.")
        return found


def _max_body_bytes(services: Services, kind: Kind[Any]) -> int:
    api = services.settings.api
    return kind.max_body_bytes or api.max_json_bytes + len(kind.files) * api.max_upload_bytes
