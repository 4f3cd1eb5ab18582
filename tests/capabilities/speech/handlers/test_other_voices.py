"""What speaks when the voice that was chosen can't any more."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from given_task import GivenTask
from waiting import wait_for

from capabilities.speech.engines import Synthesizer
from capabilities.speech.engines.utterance import Utterance
from capabilities.speech.handlers.speech import SpeechHandler
from capabilities.speech.handlers.stream import SpeechStreamHandler
from capabilities.speech.kinds.speech import SpeechInput
from capabilities.speech.kinds.stream import SpeechStreamInput
from capabilities.speech.voices.voices import Voice, VoiceUnknown
from pipeline.offers.offers import Offer
from pipeline.settings import Settings
from workers.engines import EngineBusy, EngineUnavailable, Stopped
from workers.engines.resources import Resources
from workers.handler import Failed
from workers.media.audio.pcm import Pcm

RATE = 16_000
PARTS = "One. [pause 100ms] Two. [pause 100ms] Three. [pause 100ms] Four."


class Speaking(Synthesizer):
    """Speaks with one voice, until it fails; `leaves`: then it has no voice any more."""

    parallel = 1

    def __init__(
        self, name: str, error: Exception | None = None, *, leaves: bool = False, codes: Sequence[str] = ("en-US",)
    ) -> None:
        self.name = name
        self._error, self._leaves, self._spoken = error, leaves, 0
        self.heard: list[str] = []
        self._voices = [Voice(f"en-US-{name}", name, tuple(codes), "FEMALE", RATE, name, name)]

    def voices(self) -> Sequence[Voice]:
        return self._voices

    def render(self, text: str, *, voice: str, speed: float, pitch: float, stop: Callable[[], bool]) -> Utterance:
        self._spoken += 1
        self.heard.append(text)
        if self._error is not None and self._spoken == 3:
            self._voices = [] if self._leaves else self._voices
            self._spoken = 0
            raise self._error
        return Utterance(Pcm(b"\1\1" * RATE, RATE), [])


class OfferingFamily:
    """The engines of a test, in order of preference."""

    def __init__(self, engines: Sequence[Synthesizer]) -> None:
        self._engines: Mapping[str, Synthesizer] = {engine.name: engine for engine in engines}

    def setup(self) -> None: ...

    def watch(self, on_change: Callable[[], None]) -> None: ...

    def engine(self, name: str) -> Synthesizer:
        return self._engines[name]

    def offers(self) -> Sequence[Offer]:
        return [
            Offer("synthesis", engine.name, True, None, engine.offer(), place)
            for place, engine in enumerate(self._engines.values())
        ]


class FamilyResources(Resources):
    def __init__(self, *engines: Synthesizer) -> None:
        super().__init__(Settings(synthesis={"engines": "piper,espeak"}))
        self._family = OfferingFamily(engines)

    def family(self, name: str) -> Any:
        return self._family


def handler_of(*engines: Synthesizer) -> SpeechHandler:
    handler = SpeechHandler(FamilyResources(*engines))
    handler.setup()
    return handler


FAILURES = [EngineUnavailable("Its network is damaged."), VoiceUnknown("There is no such voice.")]


@pytest.mark.parametrize("error", FAILURES, ids=["damaged", "removed"])
def test_when_a_voice_leaves_amid_a_text_the_next_engine_speaks_all_of_it(error: Exception) -> None:
    handler = handler_of(Speaking("piper", error, leaves=True), Speaking("espeak"))

    done = handler.carry_out(GivenTask(SpeechInput(text=PARTS)))

    assert (done.engine, done.output.voice) == ("espeak", "en-US-espeak")
    assert done.output.duration_seconds == pytest.approx(4.3)


@pytest.mark.parametrize("error", FAILURES, ids=["damaged", "removed"])
def test_who_named_the_voice_gets_no_other(error: Exception) -> None:
    handler = handler_of(Speaking("piper", error, leaves=True), Speaking("espeak"))

    with pytest.raises(type(error)):
        handler.carry_out(GivenTask(SpeechInput(text=PARTS, voice_name="en-US-piper")))


def test_an_engine_that_asks_for_a_pause_is_waited_for() -> None:
    here = Speaking("espeak")
    with pytest.raises(EngineBusy):
        handler_of(Speaking("piper", EngineBusy("Slow down."), leaves=True), here).carry_out(
            GivenTask(SpeechInput(text=PARTS))
        )
    assert here.heard == []


@pytest.mark.parametrize("error", FAILURES, ids=["unavailable", "unknown"])
def test_after_a_voice_that_fails_and_is_still_offered_the_next_engine_speaks(error: Exception) -> None:
    done = handler_of(Speaking("piper", error), Speaking("espeak")).carry_out(GivenTask(SpeechInput(text=PARTS)))
    assert done.engine == "espeak"

    with pytest.raises(type(error)):
        handler_of(Speaking("piper", error)).carry_out(GivenTask(SpeechInput(text=PARTS)))


@pytest.mark.parametrize(("language", "read"), [("en", "five dollars."), (None, "five dollars."), ("ja", "$5.")])
def test_a_text_is_read_in_the_language_that_is_asked_for(language: str | None, read: str) -> None:
    engine = Speaking("piper", codes=("ja-JP", "en-US"))

    handler_of(engine).carry_out(GivenTask(SpeechInput(text="$5.", language=language)))

    assert engine.heard == [read]


@pytest.mark.filterwarnings("error")
def test_a_text_that_is_stopped_leaves_no_file_half_written() -> None:
    with pytest.raises(Stopped):
        handler_of(Speaking("piper", Stopped())).carry_out(GivenTask(SpeechInput(text=PARTS)))


def test_a_stream_that_breaks_off_is_failed_and_charges_what_was_spoken() -> None:
    task = GivenTask(SpeechStreamInput(text="These words are spoken by an engine that will fail soon. " * 40), price=3)

    class Breaking(Speaking):
        def render(self, text: str, **how: Any) -> Utterance:
            if len(self.heard) == 2:
                wait_for(lambda: task.kept)  # the first words are on their way
            return super().render(text, **how)

    handler = SpeechStreamHandler(FamilyResources(Breaking("piper", EngineUnavailable("Its network is damaged."))))
    handler.setup()

    outcome = handler.carry_out(task)

    assert isinstance(outcome, Failed)
    assert outcome.credits == 1
