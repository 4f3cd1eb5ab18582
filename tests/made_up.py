"""A made-up kind for tests and benchmarks: its items do what their input says.

`PRESSROOM_KINDS=made_up:MadeUp`, with this folder on PYTHONPATH, adds it to any process.
"""

import os
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar

from pydantic import Field

from pipeline.errors import InvalidRequest
from pipeline.kind import FinishedItem, Kind, Limits, NewItem, Request, Response, Stored, as_json
from pipeline.lifecycle.jobs import Job
from pipeline.offers.offers import Offer
from workers.handler import Done, Failed, Handler, Outcome, Release, Retry, Task


class MadeUpInput(Stored):
    """The action of one item, and its options."""

    do: str = "done"
    after: float = 0
    credits: int = 0
    seconds: float = 0


class MadeUpRequest(Request):
    """`items` say what each does; `count` is that many that are simply done."""

    items: list[MadeUpInput] = Field(default_factory=list)
    count: int = Field(0, ge=0, le=10_000)
    price: int = Field(1, ge=0)


class MadeUpOutput(Stored):
    """Which item it was, and in which process it ended."""

    index: int = 0
    pid: int = 0
    from_step: int | None = None


class MadeUp(Kind[MadeUpRequest, MadeUpInput, MadeUpOutput]):
    """POST /made-up."""

    name = "made_up"
    queue = "made_up"
    routes = ("/made-up",)
    handler = "made_up:MadeUpHandler"
    unit = "items"
    summary = "Do what the items say."
    example: ClassVar[dict[str, Any]] = {"count": 1}
    bulky = frozenset({"items"})
    limits = Limits(run=timedelta(seconds=float(os.environ.get("MADE_UP_RUN_LIMIT", "60"))), slice_size=8)

    def items(self, request: MadeUpRequest) -> list[NewItem[MadeUpInput]]:
        inputs = request.items or [MadeUpInput()] * max(1, request.count)
        return [NewItem(entry, request.price) for entry in inputs]

    def response(self, job: Job, items: Sequence[FinishedItem[MadeUpInput, MadeUpOutput]]) -> Response:
        return Response({"results": [as_json(item.output) if item.output else dict(item.error) for item in items]})


class MadeUpHandler(Handler[MadeUpInput, MadeUpOutput]):
    """Takes eight at a time, so that batches and their neighbours are tested."""

    batch = int(os.environ.get("MADE_UP_BATCH", "8"))
    slots = int(os.environ.get("MADE_UP_SLOTS", "1"))

    def offers(self) -> Sequence[Offer]:
        return [Offer("made_up", "made_up", ready=True)]

    def carry_out(self, task: Task[MadeUpInput]) -> Outcome[MadeUpOutput]:
        entry = task.input
        match entry.do:
            case "fail":
                return Failed(InvalidRequest("It was asked to fail.", code="asked_to_fail"))
            case "throw":
                raise ValueError("nobody foresaw this")
            case "throw_once" if task.attempts == 0:
                raise ValueError("nobody foresaw this")
            case "retry_once" if task.attempts == 0:
                return Retry(timedelta(seconds=entry.after), InvalidRequest("not yet"))
            case "exit":
                os._exit(9)
            case "hang":
                time.sleep(3_600)
            case "raise":
                task.raise_hold(entry.credits)
            case "sleep":
                return self._sleep(task, entry.seconds)
        return Done(MadeUpOutput(index=task.index, pid=os.getpid()), engine="made_up")

    def _sleep(self, task: Task[MadeUpInput], seconds: float) -> Outcome[MadeUpOutput]:
        steps = max(1, round(seconds / 0.02))
        start = int((task.checkpoint or {}).get("step", 0))
        for step in range(start, steps):
            if task.is_stopped():
                return Release()
            time.sleep(0.02)
            task.progress(step + 1, steps, checkpoint={"step": step + 1})
        return Done(MadeUpOutput(index=task.index, pid=os.getpid(), from_step=start), engine="made_up")
