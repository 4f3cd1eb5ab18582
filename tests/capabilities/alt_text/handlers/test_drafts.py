"""Drafts: texts of pictures of which nothing is known are free, and say what would bring real ones."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from test_alt_text import Painter, Task, Web, handler_of, png

from capabilities.alt_text.engines import Caption, CaptionRequest
from capabilities.alt_text.handlers.caption_cache import CaptionCache
from capabilities.alt_text.handlers.pending_caption import LATER
from workers.handler import Done, Release
from workers.models.advice import what_writes
from workers.models.machine import Machine

DAY = timedelta(hours=24)


class Redis:
    """A Redis of one dictionary."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def mget(self, keys: Sequence[str]) -> list[bytes | None]:
        return [self.kept.get(key) for key in keys]

    def pipeline(self, *, transaction: bool) -> "Redis":
        return self

    def set(self, key: str, value: str, *, px: timedelta) -> None:
        self.kept[key] = value.encode()

    def execute(self) -> None:
        pass


class Unsure(Painter):
    """An engine that knows colours and nothing else."""

    def _one(self, request: CaptionRequest) -> Any:
        return {mode: Caption("Mostly red.", 0.2, draft=True) for mode in request.modes}


def test_a_draft_costs_nothing_and_says_what_would_bring_a_text() -> None:
    (outcome,) = handler_of(Web(r=png("red")), Unsure()).run([Task("r", "all")])

    assert isinstance(outcome, Done)
    assert outcome.credits == 0
    assert all(caption.draft for caption in outcome.output.texts.values())
    assert "pressroom models fetch" in outcome.output.advice


def test_an_ornament_costs_nothing() -> None:
    class Decorator(Painter):
        def _one(self, request: CaptionRequest) -> Any:
            return {mode: Caption("", 0.7, decorative=True) for mode in request.modes}

    (outcome,) = handler_of(Web(r=png("red")), Decorator()).run([Task("r", "all")])

    assert isinstance(outcome, Done)
    assert (outcome.credits, outcome.output.advice) == (0, None)


def test_a_draft_waits_for_an_engine_that_is_being_loaded_and_a_text_does_not() -> None:
    handler = handler_of(Web(r=png("red")), Unsure())
    handler._family.is_loading = True

    assert handler.run([Task("r")]) == [Release(LATER)]
    handler._family.engines = (Painter(),)
    assert isinstance(handler.run([Task("r")])[0], Done)


def test_a_draft_that_is_remembered_is_free_too() -> None:
    redis, engine = Redis(), Unsure()
    handler = handler_of(Web(r=png("red")), engine, cache=CaptionCache(redis, keep_for=DAY))

    first, second = (handler.run([Task("r")])[0] for _ in range(2))

    assert len(engine.seen) == 1
    assert first == second
    assert second.credits == 0


@pytest.mark.parametrize(
    ("machine", "language", "model", "lacks"),
    [
        (Machine(64 * 10**9, 16, gpu_bytes=24 * 10**9), "en", "qwen3-vl-2b", False),
        (Machine(16 * 10**9, 8), "en", "qwen3-vl-2b-gguf", False),
        (Machine(4 * 10**9, 2), "en", "smolvlm2-500m-gguf", False),
        (Machine(1 * 10**9, 1), "en", "smolvlm2-500m-gguf", True),
        (Machine(4 * 10**9, 2), "de", "qwen3-vl-2b-gguf", True),
    ],
)
def test_the_advice_is_the_model_that_suits_machine_and_language(
    machine: Machine, language: str, model: str, lacks: bool
) -> None:
    advice = what_writes("captioning", language, "vision", machine)

    assert f"`pressroom models fetch {model}`" in advice
    assert ("which this machine lacks" in advice) is lacks
