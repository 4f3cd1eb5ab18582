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
from pipeline.jobs import Item, Job
from pipeline.kind import Done, Failed, Kind, Outcome, Part, Release, Request, Response, Retry, Task
from pipeline.offers import Offer
from workers.resources import Resources


class MadeUpRequest(Request):
    """`items` say what each does; `count` is that many that are simply done."""

    items: list[dict[str, Any]] = Field(default_factory=list)
    count: int = Field(0, ge=0, le=10_000)
    price: int = Field(1, ge=0)


class MadeUp(Kind[MadeUpRequest]):
    """POST /made-up."""

    name = "made_up"
    queue = "made_up"
    routes = ("/made-up",)
    handler = "made_up:MadeUpHandler"
    unit = "items"
    summary = "Do what the items say."
    example: ClassVar[dict[str, Any]] = {"count": 1}
    bulky = frozenset({"items"})
    slice_size = 8
    run_limit = timedelta(seconds=float(os.environ.get("MADE_UP_RUN_LIMIT", "60")))
    request = MadeUpRequest

    def parts(self, request: MadeUpRequest) -> list[Part]:
        inputs = request.items or [{} for _ in range(max(1, request.count))]
        return [Part(entry, request.price) for entry in inputs]

    def response(self, job: Job, items: Sequence[Item]) -> Response:
        return Response({"results": [item.output or item.error for item in items]})


class MadeUpHandler:
    """Takes eight at a time, so that batches and their neighbours are tested."""

    batch = 8
    slots = int(os.environ.get("MADE_UP_SLOTS", "1"))

    def __init__(self, resources: Resources) -> None:
        self.batch = int(os.environ.get("MADE_UP_BATCH", "8"))

    def setup(self) -> None:
        pass

    def offers(self) -> Sequence[Offer]:
        return [Offer("made_up", "made_up", ready=True)]

    def run(self, tasks: Sequence[Task]) -> Sequence[Outcome]:
        return [self._do(task) for task in tasks]

    def _do(self, task: Task) -> Outcome:
        entry = task.input
        match entry.get("do", "done"):
            case "fail":
                return Failed(InvalidRequest("It was asked to fail.", code="asked_to_fail"))
            case "throw":
                raise ValueError("nobody foresaw this")
            case "throw_once" if task.attempts == 0:
                raise ValueError("nobody foresaw this")
            case "retry_once" if task.attempts == 0:
                return Retry(timedelta(seconds=entry.get("after", 0)), InvalidRequest("not yet"))
            case "exit":
                os._exit(9)
            case "hang":
                time.sleep(3_600)
            case "raise":
                task.raise_hold(entry["credits"])
            case "sleep":
                return self._sleep(task, entry["seconds"])
        return Done({"index": task.index, "pid": os.getpid()}, engine="made_up")

    def _sleep(self, task: Task, seconds: float) -> Outcome:
        steps = max(1, round(seconds / 0.02))
        start = int((task.checkpoint or {}).get("step", 0))
        for step in range(start, steps):
            if task.is_stopped():
                return Release()
            time.sleep(0.02)
            task.progress(step + 1, steps, checkpoint={"step": step + 1})
        return Done({"index": task.index, "pid": os.getpid(), "from_step": start}, engine="made_up")
