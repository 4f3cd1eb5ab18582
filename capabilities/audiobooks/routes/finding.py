"""Finding: the plans and audiobooks that a request names."""

from uuid import UUID

from api.services.services import Services
from api.work.answers import refuse_gone
from pipeline.accounts.keys import Caller
from pipeline.errors import Conflict, Gone, InvalidRequest, NotFound
from pipeline.lifecycle.jobs import Item, Job, find_items, find_job


class AudiobookNotFound(NotFound):
    """There is no such plan or audiobook in the account."""

    code = "audiobook_not_found"


class BookUnfinished(Conflict):
    """The audiobook is being spoken, or lacks passages."""

    code = "audiobook_unfinished"


async def find_own(services: Services, caller: Caller, job_id: UUID, kind: str) -> Job:
    """Return a job of a kind, and of the caller's account. Raises AudiobookNotFound, ResultExpired."""
    job = await services.database.run(find_job(job_id, caller.account_id))
    if job is None or job.kind != kind or not caller.may_use(job.route):
        raise AudiobookNotFound(f"There is no {kind.replace('_', ' ')} {job_id} in this account.")
    refuse_gone(job)
    return job


async def find_ended(services: Services, caller: Caller, job_id: UUID, kind: str) -> Job:
    """Return one that has ended. Raises AudiobookNotFound, BookUnfinished, ResultExpired."""
    job = await find_own(services, caller, job_id, kind)
    if not job.is_final:
        raise BookUnfinished(f"The job {job_id} is {job.state}. Ask again when it has ended, or cancel it.")
    return job


async def find_named(
    services: Services, caller: Caller, job_id: UUID, kind: str, *, field: str
) -> tuple[Job, list[Item]]:
    """Return the ended job that a request names in a field, and its items. Raises InvalidRequest."""
    try:
        job = await find_ended(services, caller, job_id, kind)
    except (Conflict, Gone, NotFound) as error:
        raise InvalidRequest(error.message, code=error.code, field=field) from error
    return job, await services.database.run(find_items(job.id))
