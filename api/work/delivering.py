"""Delivering: wait for the job of an order, and answer with what became of it."""

import falcon.asgi

from api.services.services import Services
from api.services.waiting import Restarting, Waiter
from api.work.answers import name_job, show_accepted, show_delivery, show_response
from api.work.preferences import Preference
from api.work.submitting import Order
from pipeline.errors import PressroomError
from pipeline.kind import AnyKind
from pipeline.lifecycle import Submitted
from pipeline.lifecycle.jobs import Delivery, find_delivery, new_job


async def answer(
    services: Services,
    kind: AnyKind,
    order: Order,
    submitted: Submitted,
    preference: Preference,
    waiter: Waiter,
    resp: falcon.asgi.Response,
) -> None:
    """Answer with the result, or with the job if the client or the kind does not wait for it."""
    job, available = new_job(order.submission, submitted), submitted.available
    delivery = None
    if job is None:
        delivery = await join(services, order, submitted, waiter)
        job, available = delivery.job, delivery.available
    if (receipt := kind.receipt(job)) is not None:
        name_job(services, resp, job, available)
        await show_response(services, resp, receipt)
        return
    if not (job.is_final or preference.is_immediate):
        delivery = await wait(services, order, preference, waiter, resp)
        job, available = delivery.job, delivery.available
    if delivery is not None and job.is_final:
        await show_delivery(services, resp, delivery)
    else:
        show_accepted(services, resp, job, available=available, applied=preference.applied)


async def join(services: Services, order: Order, submitted: Submitted, waiter: Waiter) -> Delivery:
    """Wait for the job of the first request with this Idempotency-Key; return its present state."""
    if submitted.job_id is not None and submitted.job_id != waiter.job_id:
        services.waiting.move(waiter, submitted.job_id)
    return await find(services, order, waiter)


async def wait(
    services: Services, order: Order, preference: Preference, waiter: Waiter, resp: falcon.asgi.Response
) -> Delivery:
    """Return the job once it has ended, or once the client's patience has. Raises Restarting."""
    try:
        while await waiter.wait(within=preference.patience):
            delivery = await find(services, order, waiter)
            if delivery.job.is_final:
                return delivery
    except Restarting:
        resp.set_header("X-Job-Id", str(waiter.job_id))
        resp.set_header("Location", f"/jobs/{waiter.job_id}")
        raise
    return await find(services, order, waiter)


async def find(services: Services, order: Order, waiter: Waiter) -> Delivery:
    found = await services.deliveries.run(find_delivery(waiter.job_id, order.caller.account_id))
    if found is None:
        raise PressroomError("The job was not found right after it was made.")
    return found
