"""Verification: says whether a file was made here, by which engine, and whether it was altered since."""

from collections.abc import Sequence

from pipeline.kind import Answer, FinishedItem, Kind, NewItem, Request, Response
from pipeline.lifecycle.jobs import Job
from pipeline.marks.receipts import Verified


class VerifyRequest(Request):
    """A file."""


class Verification(Kind[VerifyRequest, VerifyRequest, Verified]):
    """POST /verify."""

    name = "verification"
    queue = "vision"
    routes = ("/verify",)
    handler = "capabilities.marks.handlers:VerificationHandler"
    unit = "files"
    summary = "Tell which engine made a file, and whether it was altered since. Free."
    files = ("file",)
    example = {"file": "@picture"}
    answer = Answer(model=Verified)

    def items(self, request: VerifyRequest) -> list[NewItem[VerifyRequest]]:
        return [NewItem(request, 0)]

    def response(self, job: Job, items: Sequence[FinishedItem[VerifyRequest, Verified]]) -> Response:
        return Response(items[0].delivered.model_dump())


KINDS = (Verification(),)
