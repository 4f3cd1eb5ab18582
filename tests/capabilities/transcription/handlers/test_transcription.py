"""The transcription handler: what it charges, where it goes on, and which engine hears what."""

import json
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import pairwise
from typing import IO, Any
from uuid import uuid4

import numpy as np
import pytest
from waiting import wait_for

from capabilities.transcription.engines import SAMPLE_RATE, Recognition
from capabilities.transcription.handlers.delivery import TIMES_ESTIMATED
from capabilities.transcription.handlers.progress import SUFFIX
from capabilities.transcription.handlers.stream import TranscriptionStreamHandler
from capabilities.transcription.handlers.transcription import DECODING_LIMIT, TranscriptionHandler
from capabilities.transcription.kinds.transcription import RecordingInput, Transcription
from pipeline.errors import Gone, InsufficientCredits, ServiceUnavailable
from pipeline.offers.languages import LanguageNotSupported
from pipeline.offers.offers import Offer
from pipeline.settings import Settings
from pipeline.storage.streams import Parts
from pipeline.subtitles.segments import Segment
from workers.engines import EngineBusy, EngineUnavailable, Stopped, never
from workers.engines.resources import Resources
from workers.handler import Done
from workers.media.audio.decoding import AudioUndecodable
from workers.media.audio.pcm import Pcm, encode_wav

SECOND = SAMPLE_RATE
#: Seconds that a thread may take to get somewhere, on the busiest machine.
PATIENCE = 60


class Listener:
    """An engine that hears a segment in everything that is of one loudness, but for silence."""

    warning: str | None = None
    tells_changes = False
    is_remote = False
    has_times = True

    def __init__(self, name: str = "listener", *languages: str, model: str = "small") -> None:
        self.name = name
        self.model = model
        self._languages = languages or ("de", "en")
        self.asked: list[tuple[int, str | None, bool]] = []
        self.prompts: list[str | None] = []
        self.at_once = 0
        self.most_at_once = 0
        self.before_segment: Callable[[int], object] = lambda number: None

    def languages(self) -> Sequence[str]:
        return self._languages

    def as_it_is(self) -> "Listener":
        return self

    @contextmanager
    def listen(
        self,
        samples: Any,
        *,
        language: str | None,
        timed: bool,
        prompt: str | None = None,
        stop: Callable[[], bool] = never,
    ) -> Iterator[Recognition]:
        self.asked.append((len(samples), language, timed))
        self.prompts.append(prompt)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        segments = self._segments(samples, stop)
        yield Recognition(language or "de", None if language else 0.75, segments, has_times=self.has_times)
        self.at_once -= 1

    def _segments(self, samples: Any, stop: Callable[[], bool]) -> Iterator[Segment]:
        edges = [0, *(np.flatnonzero(np.diff(samples)) + 1), len(samples)]
        for number, (start, end) in enumerate(pairwise(edges)):
            self.before_segment(number)
            if stop():
                raise Stopped
            if samples[start]:
                yield Segment(start=start / SECOND, end=end / SECOND, text=f" {samples[start]}")


class Engines:
    """A family of them."""

    def __init__(self, *engines: Listener) -> None:
        self.engines = engines
        #: What the next look finds, as where a model has arrived that another process knows already.
        self.arriving: Sequence[Listener] = ()

    def setup(self) -> None:
        pass

    def look(self) -> None:
        self.engines = (*self.engines, *self.arriving)

    def offers(self) -> Sequence[Offer]:
        fetchable = [{"model": "whisper-base", "languages": ["de", "en", "fr"], "voices": []}]
        return [
            Offer("transcription", one.name, ready=True, content={"languages": one.languages(), "fetchable": fetchable})
            for one in self.engines
        ]


class Item:
    """A task without a database: what the handler does with it is kept here."""

    def __init__(
        self, audio: bytes, *, language: str | None = None, form: str = "verbose_json", prompt: str | None = None
    ) -> None:
        self.job_id = uuid4()
        self.index = 0
        self.input = RecordingInput(language=language, response_format=form, prompt=prompt)
        self.price = 5
        self.attempts = 0
        self.checkpoint: Mapping[str, Any] | None = None
        self.audio = audio
        self.store_of: dict[str, bytes] = {}
        self.lease = "first"
        self.is_cancelled = False
        self.asked = 0
        self.seen: list[tuple[float, float]] = []
        self.saves = 0
        self.refused: set[str] = set()
        self.balance = 10_000

    def is_stopped(self) -> bool:
        self.asked += 1
        return self.is_cancelled

    def progress(self, done: float, total: float, **_: object) -> None:
        self.seen.append((done, total))

    def raise_hold(self, credits: int) -> None:
        if credits - self.price > self.balance:
            raise InsufficientCredits(required=credits, remaining=self.balance)
        self.price = credits

    def save(self, checkpoint: Mapping[str, Any]) -> None:
        self.saves += 1
        self.checkpoint = checkpoint

    def store(self, data: Any, *, suffix: str = "", keep_for: object = None) -> str:
        if suffix in self.refused:
            raise ServiceUnavailable("The store is away.")
        key = self.lease + suffix
        self.store_of[key] = data
        return key

    def stored(self, key: str) -> bytes:
        if key not in self.store_of:
            raise Gone(key)
        return self.store_of[key]

    @contextmanager
    def upload(self, field: str) -> Iterator[IO[bytes]]:
        assert field == "audio"
        with tempfile.TemporaryFile() as file:
            file.write(self.audio)
            yield file


def wav(*levels: int, rate: int = SAMPLE_RATE) -> bytes:
    """Return a recording of one level a second."""
    samples = np.repeat(np.array(levels, "<i2"), rate)
    return encode_wav(Pcm(samples.tobytes(), rate))


def handler(*engines: Listener, **settings: Any) -> TranscriptionHandler:
    made = TranscriptionHandler(
        Resources(Settings(transcription={"window_seconds": 4, **settings})),
        family=Engines(*engines),  # type: ignore[arg-type]  # what it uses of a family
    )
    made.setup()
    return made


def carry_out(made: TranscriptionHandler, item: Item) -> tuple[Done, Any]:
    [outcome] = made.run([item])  # type: ignore[list-item]  # all that a task is, but for a stream
    assert isinstance(outcome, Done)
    content = item.store_of[outcome.output.artifact]
    return outcome, json.loads(content) if outcome.output.response_format.endswith("json") else content.decode()


def times(document: Any) -> list[tuple[float, float, str]]:
    return [(segment["start"], segment["end"], segment["text"]) for segment in document["segments"]]


LONG = wav(1, 2, 0, 3, 4, 5, 0, 6, 7)
HEARD = [(0, 1, "1"), (1, 2, "2"), (3, 4, "3"), (4, 5, "4"), (5, 6, "5"), (7, 8, "6"), (8, 9, "7")]


def test_windows_are_put_together_and_the_language_is_found_out_once() -> None:
    engine = Listener()

    outcome, document = carry_out(handler(engine), item := Item(LONG))

    assert document["text"] == "1 2 3 4 5 6 7"
    assert times(document) == HEARD
    assert (document["language"], document["language_probability"], document["duration"]) == ("de", 0.75, 9.0)
    assert [language for _, language, _ in engine.asked] == [None, "de", "de"]
    assert (outcome.engine, outcome.credits, document["credits_used"]) == ("listener", None, 5)
    assert item.seen[-1] == (9.0, 9.0)
    assert [done for done, _ in item.seen] == sorted(done for done, _ in item.seen)


def test_an_engine_that_tells_changes_detects_the_language_of_each_window() -> None:
    class Changing(Listener):
        tells_changes = True

        def listen(self, samples: Any, *, likely: str | None, **how: Any) -> Any:
            told.append(likely)
            return super().listen(samples, **how)

    told: list[str | None] = []
    engine = Changing()

    carry_out(handler(engine), Item(LONG))
    carry_out(handler(engine), Item(LONG, language="en"))

    assert [language for _, language, _ in engine.asked] == [None, None, None, "en", "en", "en"]
    assert told == [None, "de", "de", "en", "en", "en"]


def test_a_recording_of_one_window_keeps_nothing_on_the_way() -> None:
    carry_out(handler(Listener()), item := Item(wav(1, 2)))

    assert item.saves == 0
    assert list(item.store_of) == ["first.json"]


def test_a_file_that_breaks_off_is_told_in_a_warning() -> None:
    whole = wav(1, 2, 3)

    assert carry_out(handler(Listener()), Item(whole))[1]["warnings"] == []
    _, document = carry_out(handler(Listener()), Item(whole[: len(whole) * 2 // 3]))

    assert document["text"] == "1 2"
    assert "ends before its header says" in document["warnings"][0]


def test_estimated_times_are_told_where_times_are_shown() -> None:
    engine = Listener()
    engine.has_times = False

    def warning(form: str, *granularities: str) -> str | None:
        item = Item(wav(1), form=form)
        item.input = item.input.model_copy(update={"granularities": granularities})
        return carry_out(handler(engine), item)[0].output.warning

    assert warning("srt") == warning("openai_verbose_json", "segment") == TIMES_ESTIMATED
    assert warning("text") is warning("openai_json") is None


def test_nobody_speaking_is_an_empty_text_of_an_unknown_language() -> None:
    _, document = carry_out(handler(Listener()), Item(wav(0, 0)))

    assert (document["text"], document["language"], document["language_probability"]) == ("", "auto", None)
    assert carry_out(handler(Listener()), Item(wav(0, 0), form="srt", language="en"))[1] == ""


def test_times_of_words_are_asked_for_where_they_are_shown() -> None:
    for form, timed in (("json", False), ("text", False), ("verbose_json", True), ("srt", True), ("vtt", True)):
        engine = Listener()
        carry_out(handler(engine), Item(wav(1), form=form))
        assert engine.asked == [(SECOND, None, timed)]


def test_the_price_is_that_of_the_decoded_length_and_is_held_before_anybody_listens() -> None:
    engine = Listener()
    made = handler(engine, window_seconds=600)
    long = wav(*[1] * 61, rate=8_000)

    carry_out(made, item := Item(long))
    assert item.price == 10

    engine.asked.clear()
    poor = Item(long)
    poor.balance = 4
    with pytest.raises(InsufficientCredits):
        made.run([poor])  # type: ignore[list-item]
    assert engine.asked == []
    assert poor.store_of == {}


def test_decoding_has_its_time_which_ends_before_its_process_would_pass_for_hung(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Transcription.limits.stall is not None
    assert timedelta(minutes=10) < DECODING_LIMIT < Transcription.limits.stall

    monkeypatch.setattr("capabilities.transcription.handlers.transcription.DECODING_LIMIT", timedelta(seconds=0.001))
    with pytest.raises(AudioUndecodable, match="within 0 s"):
        handler(Listener()).run([Item(LONG)])  # type: ignore[list-item]


def test_the_first_engine_that_has_the_language_hears_and_a_draft_says_that_it_is_one() -> None:
    whisper, drafts = Listener("whisper", "de"), Listener("drafts", "en")
    drafts.warning = "a draft"
    made = handler(whisper, drafts)

    heard = {language: carry_out(made, Item(wav(1), language=language)) for language in (None, "de", "en")}

    assert {language: outcome.engine for language, (outcome, _) in heard.items()} == {
        None: "whisper", "de": "whisper", "en": "drafts",
    }  # fmt: skip
    assert (heard["de"][1]["draft"], heard["de"][1]["warnings"]) == (False, [])
    assert (heard["en"][1]["draft"], heard["en"][1]["warnings"]) == (True, ["a draft"])
    with pytest.raises(LanguageNotSupported, match=r"models fetch whisper-base\. Send one of de, en"):
        made.run([Item(wav(1), language="fr")])  # type: ignore[list-item]


def test_a_recording_is_heard_from_its_start_by_the_next_engine_when_one_fails() -> None:
    def fail(number: int) -> None:
        if number == 1:
            raise EngineUnavailable("The server went away.")

    away, here = Listener("away"), Listener("here")
    away.before_segment = fail

    outcome, document = carry_out(handler(away, here), Item(LONG))

    assert (outcome.engine, times(document)) == ("here", HEARD)
    here.before_segment = fail
    with pytest.raises(EngineUnavailable, match="went away"):
        handler(away, here).run([Item(LONG)])  # type: ignore[list-item]


def test_an_engine_that_asks_for_a_pause_is_not_replaced() -> None:
    def pause(number: int) -> None:
        raise EngineBusy("Slow down.")

    busy, here = Listener("busy"), Listener("here")
    busy.before_segment = pause
    with pytest.raises(EngineBusy):
        handler(busy, here).run([Item(LONG)])  # type: ignore[list-item]
    assert here.asked == []


def test_a_language_whose_model_has_just_arrived_is_understood() -> None:
    made = TranscriptionHandler(
        Resources(Settings()),
        family=(family := Engines(Listener("whisper", "en"))),  # type: ignore[arg-type]
    )
    made.setup()
    family.arriving = [Listener("whisper", "de")]

    outcome, _ = carry_out(made, Item(wav(1), language="de"))

    assert outcome.engine == "whisper"


def test_the_names_that_were_sent_are_told_with_each_window() -> None:
    engine = Listener()

    carry_out(handler(engine), Item(LONG, prompt="Ngũgĩ"))

    assert engine.prompts == ["Ngũgĩ"] * 3


def interrupted(engine: Listener, *, window: int) -> Item:
    """Return an item whose first attempt ended within a window, by the number of the window."""
    item = Item(LONG)

    def break_off(number: int) -> None:
        if len(engine.asked) == window and number == 1:
            raise SystemExit

    engine.before_segment = break_off
    with pytest.raises(SystemExit):
        handler(engine).run([item])  # type: ignore[list-item]
    engine.before_segment = lambda number: None
    engine.asked.clear()
    item.lease = "second"
    return item


def test_another_attempt_goes_on_behind_the_last_whole_window() -> None:
    engine = Listener()
    item = interrupted(engine, window=3)
    assert item.saves == 1

    _, document = carry_out(handler(engine), item)

    assert len(engine.asked) == 1
    assert times(document) == HEARD
    assert (document["language"], document["language_probability"]) == ("de", 0.75)


def test_what_was_begun_by_another_engine_or_model_or_is_gone_is_done_again() -> None:
    for change in ("engine", "model", "gone"):
        engine = Listener()
        item = interrupted(engine, window=2)
        other = {"engine": Listener("other"), "model": Listener(model="base"), "gone": engine}[change]
        if change == "gone":
            item.store_of.clear()

        _, document = carry_out(handler(other), item)

        assert len(other.asked) == 3
        assert times(document) == HEARD


def test_a_store_that_is_away_for_a_moment_fails_no_recording_that_is_begun() -> None:
    item = Item(LONG)
    item.refused = {SUFFIX}

    assert times(carry_out(handler(Listener()), item)[1]) == HEARD
    assert item.checkpoint is None


def test_a_cancelled_recording_stops_between_segments() -> None:
    engine = Listener()
    item = Item(LONG)

    def cancel(number: int) -> None:
        item.is_cancelled = number == 2

    engine.before_segment = cancel
    with pytest.raises(Stopped):
        handler(engine).run([item])  # type: ignore[list-item]
    assert len(engine.asked) == 1


def test_a_long_recording_holds_up_no_short_one() -> None:
    engine = Listener()
    made = handler(engine)
    has_begun, may_go_on = threading.Event(), threading.Event()

    def wait_once(number: int) -> None:
        has_begun.set()
        may_go_on.wait(PATIENCE)

    engine.before_segment = wait_once
    long = threading.Thread(target=carry_out, args=(made, Item(wav(*[1] * 20))))
    short = threading.Thread(target=carry_out, args=(made, Item(wav(2))))
    long.start()
    assert has_begun.wait(PATIENCE)
    short.start()
    wait_for(lambda: made._lock._waiting)
    may_go_on.set()
    long.join(PATIENCE)
    short.join(PATIENCE)

    first, second, *others = [samples for samples, _, _ in engine.asked]
    assert second < first, engine.asked  # between two windows of the long one
    assert first in others
    assert engine.most_at_once == 1


def test_who_waits_for_a_turn_is_not_taken_for_hung_and_leaves_when_cancelled() -> None:
    engine = Listener()
    made = handler(engine)
    has_begun, may_go_on = threading.Event(), threading.Event()

    def wait(number: int) -> None:
        has_begun.set()
        may_go_on.wait(PATIENCE)

    engine.before_segment = wait
    waiting = Item(wav(2))
    first = threading.Thread(target=run_quietly, args=(made, Item(wav(1))))
    first.start()
    assert has_begun.wait(PATIENCE)
    second = threading.Thread(target=run_quietly, args=(made, waiting))
    second.start()
    wait_for(lambda: made._lock._waiting)
    before = waiting.asked
    wait_for(lambda: waiting.asked >= before + 2)
    waiting.is_cancelled = True
    second.join(PATIENCE)

    assert not second.is_alive()
    assert set(waiting.seen) == {(0.0, 1.0)}
    may_go_on.set()
    first.join(PATIENCE)
    assert len(engine.asked) == 1


def run_quietly(made: TranscriptionHandler, item: Item) -> None:
    with suppress(Stopped):
        made.run([item])  # type: ignore[list-item]


class StreamItem(Item):
    def add_part(self, data: bytes, *, done: float, **_: object) -> Parts:
        self.store_of[str(len(self.store_of))] = data
        self.ends = [*getattr(self, "ends", []), done]
        return Parts(count=len(self.ends))


def test_the_stream_of_a_long_recording_begins_with_its_first_half_minute_once_all_of_it_is_held() -> None:
    engine, item = Listener(), StreamItem(wav(*([1, 2, 3] * 30)))
    held: list[int] = []
    engine.before_segment = lambda number: held.append(item.price)  # type: ignore[method-assign]
    made = TranscriptionStreamHandler(
        Resources(Settings(transcription={"window_seconds": 60})),
        family=Engines(engine),  # type: ignore[arg-type]
    )
    made.setup()

    [outcome] = made.run([item])  # type: ignore[list-item]

    assert isinstance(outcome, Done)
    said = b"".join(item.store_of.values()).decode().split()  # a window may end within a second
    assert [one for one, after in pairwise([*said, ""]) if one != after] == ["1", "2", "3"] * 30
    assert engine.asked[0][0] <= 30 * SAMPLE_RATE
    assert sum(length for length, *_ in engine.asked) == 90 * SAMPLE_RATE
    assert set(held) == {10}

    poor = StreamItem(wav(*([1] * 90)))
    poor.balance = 0
    heard_before = len(engine.asked)
    with pytest.raises(InsufficientCredits):
        made.run([poor])  # type: ignore[list-item]
    assert len(engine.asked) == heard_before


def test_silence_costs_nothing() -> None:
    outcome, document = carry_out(handler(Listener()), Item(wav(0, 0, 0)))

    assert (outcome.credits, document["credits_used"], document["text"]) == (0, 0, "")


def test_a_recording_waits_while_an_operator_has_paused_the_only_engine() -> None:
    for language in (None, "de"):
        with pytest.raises(EngineBusy):
            handler().run([Item(wav(1), language=language)])  # type: ignore[list-item]
