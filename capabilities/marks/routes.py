"""Receipts of jobs, this Pressroom's certificates, and the page that a file is dropped on."""

from collections.abc import Mapping
from importlib.metadata import version

import falcon.asgi

from api.http.operations import Operation, Reply
from api.jobs.job_resources import find_own_job
from api.services.resource import Resource
from api.try_pages import Call, Trial, TryPage
from api.work.answers import refuse_gone, show_json
from pipeline.database import AsyncDatabase
from pipeline.errors import Conflict
from pipeline.lifecycle.jobs import find_items
from pipeline.marks.identity import (
    Identity,
    add_identity,
    make_identity,
    needs_renewal,
    operators_identity,
    read_identity,
)
from pipeline.marks.receipts import Receipt, read_ledger, read_request_hash, write_receipt
from pipeline.settings import MarkSettings


class NoReceipt(Conflict):
    """The job has not ended, or makes nothing that a receipt is written for."""

    code = "no_receipt"


async def find_identity(settings: MarkSettings, database: AsyncDatabase) -> Identity:
    """Return the operator's identity, or the newest made here; makes the first. Raises NotReady, ServiceUnavailable."""
    if (named := operators_identity(settings)) is not None:
        return named
    found = await database.run(read_identity())
    if needs_renewal(found):
        await database.run(add_identity(make_identity()))
        found = await database.run(read_identity())
    assert found is not None  # noqa: S101 - one was added
    return found


class ReceiptResource(Resource):
    """GET /jobs/{job_id}/receipt."""

    @Operation(
        id="get_job_receipt",
        tag="jobs",
        summary="Return a signed receipt of a job that made something: hashes, models and ledger lines.",
        replies={200: Reply("The receipt.", Receipt)},
        errors=(409, 410),
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        caller = await self._services.authenticate_reader(req)
        job = await find_own_job(self._services, caller, job_id)
        kind = self._services.kinds.get(job.kind)
        if not job.is_final:
            raise NoReceipt(f"The job is {job.state}. Ask for its receipt when it has ended.")
        if kind is None or not kind.origins:
            raise NoReceipt(f"Jobs of the kind {job.kind} make nothing, so they have no receipt.")
        refuse_gone(job)
        database = self._services.database
        items, ledger = await database.run(find_items(job.id)), await database.run(read_ledger(job.id))
        receipt = write_receipt(
            job,
            items,
            request_hash=await database.run(read_request_hash(job.id)),
            ledger=ledger,
            origin=kind.origin(job.engine),
            version=version("pressroom"),
            identity=await find_identity(self._services.settings.marks, database),
        )
        show_json(resp, receipt.model_dump(mode="json"))

    on_head = on_get


class CertificateResource(Resource):
    """GET /certificate."""

    @Operation(
        id="get_certificate",
        tag="jobs",
        summary="Return the certificates, in PEM, that sign this Pressroom's files and receipts.",
        replies={200: Reply("The chain, the signer first.", content=("application/x-pem-file",))},
        is_open=True,
    )
    async def on_get(self, _: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        identity = await find_identity(self._services.settings.marks, self._services.database)
        resp.content_type = "application/x-pem-file"
        resp.data = identity.certificates

    on_head = on_get


RESOURCES: Mapping[str, type[Resource]] = {
    "/jobs/{job_id}/receipt": ReceiptResource,
    "/certificate": CertificateResource,
}

TRY = TryPage(
    slug="verify",
    title="Verify",
    lead="Drop a file to see whether a machine made it, which one, and whether it was changed since.",
    trials=(
        Trial("verification", "A file", "Free", Call(then=("print(pressroom.result(pressroom.wait(answer.id).id))",))),
    ),
    engines=(),
    main=("file",),
    labels={"file": "File"},
    accepts={"file": "image/*,audio/*"},
    script="try_verify.js",
    submit="Verify",
    icon="badge-check",
    order=9,
)
