"""Made-up kinds that show what a route can ask of the API; `PRESSROOM_KINDS=api_kinds:Echo,…` adds them."""

import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Literal

from pydantic import Field

from pipeline.errors import InvalidRequest
from pipeline.jobs import Item, Job
from pipeline.kind import Kind, Part, Request, Response
from pipeline.offers import Offers

KINDS = "api_kinds:Echo,api_kinds:Many,api_kinds:Files"


class EchoRequest(Request):
    """A text, and a field of each other type."""

    text: str = Field(min_length=1, max_length=1_000)
    number: float = Field(1.0, ge=0, le=10)
    whole: int = 0
    choice: Literal["a", "b"] = "a"
    source: Literal["web", "api"] = "api"


class Echo(Kind[EchoRequest]):
    """One item; its answer is JSON."""

    name = "echo"
    queue = "echo"
    routes = ("/echo", "/echo/again")
    handler = "nowhere:Nothing"
    unit = "texts"
    summary = "Say a text again."
    bulky = frozenset({"text"})
    request = EchoRequest

    def check(self, request: EchoRequest, offers: Offers) -> None:
        if request.text == "crash":
            raise RuntimeError("nobody foresaw this")
        if not request.text.strip():
            raise InvalidRequest("The text is empty.", code="text_empty", field="text")

    def parts(self, request: EchoRequest) -> list[Part]:
        return [Part({"text": request.text}, 3)]

    def response(self, job: Job, items: Sequence[Item]) -> Response:
        return Response({"echo": items[0].output, "credits_used": job.credits_captured})


class ManyRequest(Request):
    """So many items; the request is looked at, as a file says, until that is deleted."""

    items: int = Field(ge=1, le=1_000)
    looking: str = ""


class Many(Kind[ManyRequest]):
    """Many items, each a request of its own."""

    name = "many"
    queue = "echo"
    routes = ("/many",)
    handler = "nowhere:Nothing"
    unit = "things"
    summary = "Do many things."
    max_body_bytes = 2**21
    request = ManyRequest

    def check(self, request: ManyRequest, offers: Offers) -> None:
        if request.looking:
            Path(request.looking).touch()
        while request.looking and Path(request.looking).exists():
            time.sleep(0.01)

    def requests(self, request: ManyRequest) -> int:
        return request.items

    def parts(self, request: ManyRequest) -> list[Part]:
        return [Part({"number": number}, 1) for number in range(request.items)]

    def response(self, job: Job, items: Sequence[Item]) -> Response:
        return Response({"results": [item.output or item.error for item in items]})


class FilesRequest(Request):
    """The texts of a form."""

    text: str = Field(min_length=1)
    volume: float = Field(-20.0, ge=-60, le=0)


class Files(Kind[FilesRequest]):
    """Two files and some texts; its answer is bytes."""

    name = "files"
    queue = "echo"
    routes = ("/files-in",)
    handler = "nowhere:Nothing"
    unit = "files"
    summary = "Take two files."
    files = ("audio", "music")
    keep_for = timedelta(hours=2)
    answer_type = "audio/mpeg"
    request = FilesRequest

    def parts(self, request: FilesRequest) -> list[Part]:
        return [Part({"volume": request.volume}, 2)]

    def response(self, job: Job, items: Sequence[Item]) -> Response:
        output = items[0].output or {}
        return Response(
            artifacts=[output["artifact"]],
            content_type="audio/mpeg",
            headers={"Content-Disposition": "attachment; filename=output.mp3"},
        )
