"""Verified: the contents of a file's marks, as workers read them and answers show them."""

from typing import Literal

from pydantic import Field

from pipeline.kind import Origin, Stored

Status = Literal["signed", "altered", "tagged", "foreign", "unmarked"]


class Verified(Stored):
    """The contents of a file's marks. Those of an altered file are from before the change."""

    status: Status = Field(
        description="signed: as it was made; altered: changed since; tagged: marked, not signed, as streams are; "
        "foreign: signed by another program; unmarked: no mark, or one that was removed."
    )
    is_trusted: bool = Field(False, description="True if this Pressroom, or its operator's certificate, signed it.")
    signer: str | None = Field(None, description="The name in the signer's certificate.")
    origin: Origin | None = None
    source: str | None = Field(None, description="IPTC's digital source type, such as trainedAlgorithmicMedia.")
    engine: str | None = None
    model: str | None = None
    made_at: str | None = None
    job: str | None = None
