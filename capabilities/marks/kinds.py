"""Verification: says whether a file was made here, by which engine, and whether it was altered since."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from pipeline.kind import Answer, FinishedItem, Kind, NewItem, Origin, Request, Response, Stored
from pipeline.lifecycle.jobs import Job
from pipeline.timestamps import Timestamp


class VerifyRequest(Request):
    """A file."""


class VerifyOutput(Stored):
    """What the marks in a file say."""

    status: Literal["signed", "altered", "tagged", "foreign", "unmarked"]
    source: str | None = None
    origin: Origin | None = None
    engine: str | None = None
    model: str | None = None
    made_at: str | None = None
    job: str | None = None
    signer: str | None = None
    is_trusted: bool = False


class VerifyResult(BaseModel):
    """What the marks in a file say. Of an altered file, what they said before."""

    status: Literal["signed", "altered", "tagged", "foreign", "unmarked"] = Field(
        description="signed: as it was made; altered: changed since; tagged: marked, not signed, as streams are; "
        "foreign: signed by another program; unmarked: no mark, or one that was removed."
    )
    is_trusted: bool = Field(description="Whether this Pressroom, or its operator's certificate, signed it.")
    signer: str | None = Field(description="The name in the signer's certificate.")
    origin: Origin | None
    source: str | None = Field(description="IPTC's digital source type, such as trainedAlgorithmicMedia.")
    engine: str | None
    model: str | None
    made_at: Timestamp | None
    job: str | None


class Verification(Kind[VerifyRequest, VerifyRequest, VerifyOutput]):
    """POST /verify."""

    name = "verification"
    queue = "vision"
    routes = ("/verify",)
    handler = "capabilities.marks.handlers:VerificationHandler"
    unit = "files"
    summary = "Tell which engine made a file, and whether it was altered since. Free."
    files = ("file",)
    example = {"file": "@picture"}
    answer = Answer(model=VerifyResult)

    def items(self, request: VerifyRequest) -> list[NewItem[VerifyRequest]]:
        """Return the file as one item, free of charge."""
        return [NewItem(request, 0)]

    def response(self, job: Job, items: Sequence[FinishedItem[VerifyRequest, VerifyOutput]]) -> Response:
        """Return what the marks say."""
        found = dict(items[0].delivered)
        return Response({name: found[name] for name in VerifyResult.model_fields})


KINDS = (Verification(),)
