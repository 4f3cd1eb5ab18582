"""Effects: a kind of job of ours that does what the peers' jobs do, so that kills can be told apart from each other.

`PRESSROOM_KINDS=benchmarks.peers.effects:Effect` adds it to any process."""

import os
import sys
from collections.abc import Sequence
from typing import Any, ClassVar

from benchmarks.peers.catalogue import PROGRAMS
from pipeline.kind import FinishedItem, Kind, NewItem, Request, Response, Stored, as_json
from pipeline.lifecycle.jobs import Job
from pipeline.offers.offers import Offer
from workers.handler import Done, Handler, Outcome, Task


class EffectInput(Stored):
    """The job's name in the file of effects, and how long it takes."""

    name: str = ""
    seconds: float = 0


class EffectRequest(Request):
    """One job."""

    name: str
    seconds: float


class EffectOutput(Stored):
    """The name of the job."""

    name: str = ""


class Effect(Kind[EffectRequest, EffectInput, EffectOutput]):
    """POST /effect."""

    name = "effect"
    queue = "effect"
    routes = ("/effect",)
    handler = "benchmarks.peers.effects:EffectHandler"
    unit = "jobs"
    summary = "Write two lines into a file."
    example: ClassVar[dict[str, Any]] = {"name": "a", "seconds": 0.05}

    def items(self, request: EffectRequest) -> list[NewItem[EffectInput]]:
        return [NewItem(EffectInput(name=request.name, seconds=request.seconds), 1)]

    def response(self, job: Job, items: Sequence[FinishedItem[EffectInput, EffectOutput]]) -> Response:
        return Response({"results": [as_json(item.output) if item.output else dict(item.error) for item in items]})


class EffectHandler(Handler[EffectInput, EffectOutput]):
    """Takes eight at a time, as the made-up kind does in the other measurements."""

    batch = 8

    def offers(self) -> Sequence[Offer]:
        return [Offer("effect", "effect", ready=True)]

    def carry_out(self, task: Task[EffectInput]) -> Outcome[EffectOutput]:
        sys.path.append(str(PROGRAMS))
        from work import carry_out  # the very code that the peers run

        assert os.environ["EFFECTS"]
        return Done(EffectOutput(name=carry_out(task.input.name, task.input.seconds)), engine="effect")
