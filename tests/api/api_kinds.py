"""Made-up kinds that show what a route can ask of the API; `PRESSROOM_KINDS=api_kinds:Echo,…` adds them."""

import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field

from pipeline.errors import InvalidRequest
from pipeline.kind import Answer, FinishedItem, Kind, Limits, NewItem, Request, Response, Stored
from pipeline.lifecycle.jobs import Job
from pipeline.offers.offers import Offers

KINDS = "api_kinds:Echo,api_kinds:Many,api_kinds:Files"


class EchoRequest(Request):
    """A text, and a field of each other type."""

    text: str = Field(min_length=1, max_length=1_000)
    number: float = Field(1.0, ge=0, le=10)
    whole: int = 0
    choice: Literal["a", "b"] = "a"
    source: Literal["web", "api"] = "api"


class Anything(Stored):
    """Whatever a test's worker says."""

    model_config = ConfigDict(extra="allow")


class Echo(Kind[EchoRequest, Anything, Anything]):
    """One item; its answer is JSON."""

    name = "echo"
    queue = "echo"
    routes = ("/echo", "/echo/again")
    handler = "nowhere:Nothing"
    unit = "texts"
    summary = "Say a text again."
    bulky = frozenset({"text"})
    subject = "text"

    def check(self, request: EchoRequest, offers: Offers) -> None:
        if request.text == "crash":
            raise RuntimeError("nobody foresaw this")
        if not request.text.strip():
            raise InvalidRequest("The text is empty.", code="text_empty", field="text")

    def items(self, request: EchoRequest) -> list[NewItem[Anything]]:
        return [NewItem(Anything(text=request.text), 3)]

    def response(self, job: Job, items: Sequence[FinishedItem[Anything, Anything]]) -> Response:
        return Response({"echo": _shown(items[0]), "credits_used": job.credits_captured})


class ManyRequest(Request):
    """So many items; the request is looked at, as a file says, until that is deleted."""

    items: int = Field(ge=1, le=1_000)
    looking: str = ""


class Many(Kind[ManyRequest, Anything, Anything]):
    """Many items, each a request of its own."""

    name = "many"
    queue = "echo"
    routes = ("/many",)
    handler = "nowhere:Nothing"
    unit = "things"
    summary = "Do many things."
    limits = Limits(body_bytes=2**21)

    def check(self, request: ManyRequest, offers: Offers) -> None:
        if request.looking:
            Path(request.looking).touch()
        while request.looking and Path(request.looking).exists():
            time.sleep(0.01)

    def counts_as(self, request: ManyRequest) -> int:
        return request.items

    def counts_again(self, items: int) -> int:
        return items

    def items(self, request: ManyRequest) -> list[NewItem[Anything]]:
        return [NewItem(Anything(number=number), 1) for number in range(request.items)]

    def response(self, job: Job, items: Sequence[FinishedItem[Anything, Anything]]) -> Response:
        return Response({"results": [_shown(item) for item in items]})


class FilesRequest(Request):
    """The texts of a form."""

    text: str = Field(min_length=1)
    volume: float = Field(-20.0, ge=-60, le=0)


class FilesInput(Stored):
    volume: float = 0


class FilesOutput(Stored):
    artifact: str


class Files(Kind[FilesRequest, FilesInput, FilesOutput]):
    """Two files and some texts; its answer is bytes."""

    name = "files"
    queue = "echo"
    routes = ("/files-in",)
    handler = "nowhere:Nothing"
    unit = "files"
    summary = "Take two files."
    files = ("audio", "music")
    limits = Limits(keep_for=timedelta(hours=2))
    answer = Answer("audio/mpeg")

    def items(self, request: FilesRequest) -> list[NewItem[FilesInput]]:
        return [NewItem(FilesInput(volume=request.volume), 2)]

    def response(self, job: Job, items: Sequence[FinishedItem[FilesInput, FilesOutput]]) -> Response:
        return Response(
            artifacts=[items[0].delivered.artifact],
            content_type="audio/mpeg",
            headers={"Content-Disposition": "attachment; filename=output.mp3"},
        )


def _shown(item: FinishedItem[Anything, Anything]) -> dict[str, Any]:
    return dict(item.error) if item.output is None else item.output.model_dump()
