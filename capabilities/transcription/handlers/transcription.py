"""Transcription: transcribes an uploaded recording window by window."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any, Generic, TypeVar

from pydantic import BaseModel

from capabilities.transcription.engines import SAMPLE_RATE, HeardSegment, Transcriber
from capabilities.transcription.handlers.delivery import rendered, transcript_of
from capabilities.transcription.handlers.progress import Transcribed, keep, resumed
from capabilities.transcription.handlers.speakers import Speakers
from capabilities.transcription.kinds.transcription import (
    FAMILY,
    RecordingInput,
    TranscriptFile,
    TranslationNotSupported,
    require_language,
    what_brings,
)
from capabilities.transcription.kinds.transcripts import ENDINGS, transcription_credits
from capabilities.transcription.settings import TranscriptionSettings
from pipeline.errors import InsufficientCredits, KeyCreditsUsed
from pipeline.log import get_logger
from pipeline.offers.offers import Offer, Offers
from workers.engines import EngineBusy, EngineUnavailable
from workers.engines.family import Family
from workers.engines.locks import FairLock
from workers.engines.resources import Resources
from workers.handler import Done, Handler, Outcome, Task
from workers.media.audio.decoding import decode
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.audio.track import Track, windows

log = get_logger(__name__)

#: Length that is decoded of a long recording before its stream begins; up to half of it is heard at once.
HEAD = timedelta(seconds=60)
#: Longest decoding: four hours take a quiet core less than a minute, and a busy machine several.
DECODING_LIMIT = timedelta(minutes=15)

#: Endings of recordings that browsers play, by their first bytes.
SUFFIXES = {
    ".wav": re.compile(rb"RIFF"),
    ".ogg": re.compile(rb"OggS"),
    ".flac": re.compile(rb"fLaC"),
    ".m4a": re.compile(rb"....ftyp", re.DOTALL),
    ".webm": re.compile(rb"\x1a\x45\xdf\xa3"),
}

O = TypeVar("O", bound=BaseModel)  # noqa: E741


@dataclass(frozen=True, slots=True)
class RecordingProgress:
    """A recording, its transcript so far, and the engine that makes it."""

    engine: Transcriber
    transcribed: Transcribed
    track: Track

    @property
    def price(self) -> int:
        """The credits for the whole recording; none if nobody speaks."""
        return transcription_credits(self.track.duration) if self.transcribed.segments else 0


#: Called with each segment as soon as it is heard.
OnSegment = Callable[[RecordingProgress, HeardSegment], None]


class ListeningHandler(Handler[RecordingInput, O], Generic[O]):
    """Takes some recordings at once: while one is transcribed, others are decoded. They take turns at the engine.

    A subclass decides what becomes of the text."""

    def __init__(self, resources: Resources, *, family: Family | None = None) -> None:
        super().__init__(resources)
        settings = self.settings.of(TranscriptionSettings)
        self.slots = settings.slots
        self._longest = timedelta(hours=settings.max_hours)
        self._window = timedelta(seconds=settings.window_seconds)
        self._family = family or resources.family(FAMILY)
        self._lock = resources.shared(_turns)

    def setup(self) -> None:
        """Find ffmpeg, and set up the engines. Raises NotReady."""
        self._ffmpeg = find_ffmpeg(self.settings)
        self._family.setup()

    def offers(self) -> Sequence[Offer]:
        return self._family.offers()

    def watch(self, on_change: Callable[[], None]) -> None:
        self._family.watch(on_change)

    @contextmanager
    def listened(
        self, task: Task[RecordingInput], *, resumes: bool = True, heard: OnSegment | None = None
    ) -> Iterator[RecordingProgress]:
        """Transcribe one recording, whose sound exists as long as the block lasts.

        `resumes`: another attempt continues where this one stops. Raises InvalidRequest, Stopped."""
        engines = self._choose(task.input)
        with self._opened(task) as upload:
            begun = self._begun(task, upload, engines[0], heard) if heard is not None else None
            decoded = self._decoded(task, upload, self._longest)
        with decoded as track:
            price = transcription_credits(track.duration)
            if price > task.price:
                task.raise_hold(price)
            for place, engine in enumerate(engines):
                anew = begun if begun and not place else Transcribed.anew(task, engine)
                transcribed = resumed(task, engine) if resumes else anew
                listened = RecordingProgress(engine, transcribed, track)
                try:
                    self._transcribe_all(task, listened, heard, resumes=resumes)
                    break
                except EngineUnavailable as error:
                    is_sent = heard is not None and bool(transcribed.segments)
                    if isinstance(error, EngineBusy) or is_sent or place + 1 == len(engines):
                        raise
                    log.warning("engine failed, the next one transcribes", engine=engine.name, reason=error.message)
            yield listened

    def _opened(self, task: Task[RecordingInput]) -> AbstractContextManager[IO[bytes]]:
        """Open the recording. Raises InvalidRequest, Gone, ServiceUnavailable."""
        return task.upload("audio")

    def _decoded(
        self, task: Task[RecordingInput], upload: IO[bytes], longest: timedelta, *, is_head: bool = False
    ) -> Track:
        return decode(
            self._ffmpeg,
            upload,
            sample_rate=SAMPLE_RATE,
            max_duration=longest,
            time_limit=DECODING_LIMIT,
            stop=task.is_stopped,
            is_head=is_head,
        )

    def _begun(
        self, task: Task[RecordingInput], upload: IO[bytes], engine: Transcriber, heard: OnSegment
    ) -> Transcribed | None:
        """Return the transcript of a long recording's first half-minute, made before the rest is decoded; or None.

        The length that the file tells is held first, so that nothing is heard that can't be paid."""
        with self._decoded(task, upload, HEAD, is_head=True) as track:
            declared = track.declared
            if declared is None or not track.duration < declared <= self._longest:
                return None
            listened = RecordingProgress(engine, Transcribed.anew(task, engine), track)
            try:
                if (price := transcription_credits(declared)) > task.price:
                    task.raise_hold(price)
                self._transcribe(task, listened, next(windows(track, length=HEAD / 2)), heard)
            except (InsufficientCredits, KeyCreditsUsed, EngineUnavailable) as error:
                if listened.transcribed.segments:
                    raise
                log.info("recording not begun early", reason=error.message)
                return None
            return listened.transcribed

    def _transcribe_all(
        self, task: Task[RecordingInput], listened: RecordingProgress, heard: OnSegment | None, *, resumes: bool
    ) -> None:
        """Add the text of each window that is not heard yet. Raises Stopped, EngineUnavailable."""
        transcribed, track = listened.transcribed, listened.track
        _report(task, track, transcribed.heard / SAMPLE_RATE)
        for window in windows(track, length=self._window, start=transcribed.heard):
            self._transcribe(task, listened, window, heard)
            if resumes and window.stop < len(track):
                keep(task, transcribed)

    def _choose(self, wanted: RecordingInput) -> Sequence[Transcriber]:
        """Return the engines that can do it, with their present models, in order of preference.

        Raises LanguageNotSupported, TranslationNotSupported, EngineBusy while an operator has paused them all."""
        engines, known = self._known()
        if not engines:
            raise EngineBusy("No engine that transcribes is ready at the moment.")
        if wanted.task == "translate":
            engines = [engine for engine in engines if engine.translates]
            if not engines:
                raise TranslationNotSupported(what_brings(None, self.offered()))
        language = wanted.language
        if language is None:
            return engines
        if language not in known:
            # Another process may have found a new model, and the API knows of it.
            self._family.look()
            engines, known = self._known()
        require_language(language, known, self.offered())
        return [engine for engine in engines if language in engine.languages()]

    def _known(self) -> tuple[Sequence[Transcriber], Sequence[str]]:
        """Return the engines with their present models, and their languages."""
        engines: Sequence[Transcriber] = [engine.as_it_is() for engine in self._family.engines]
        return engines, [code for engine in engines for code in engine.languages()]

    def offered(self) -> Offers:
        """Return the engines' current offers."""
        return Offers(tuple(self._family.offers()))

    def _transcribe(
        self, task: Task[RecordingInput], listened: RecordingProgress, window: range, heard: OnSegment | None
    ) -> None:
        """Add the text of a window. Raises Stopped."""
        transcribed, track = listened.transcribed, listened.track
        # Engines need not have the parameters of what they can't do.
        how: dict[str, Any] = {"translate": True} if task.input.task == "translate" else {}
        if listened.engine.tells_changes:
            how |= {"language": task.input.language, "likely": transcribed.language}
        start, latest = window.start / SAMPLE_RATE, track.duration.total_seconds()
        with (
            nullcontext() if listened.engine.is_remote else self._lock.unless(task.is_stopped),
            listened.engine.listen(
                track.read(window.start, len(window)),
                timed=task.input.is_timed,
                prompt=task.input.prompt,
                stop=task.is_stopped,
                **{"language": transcribed.language, **how},
            ) as hearing,
        ):
            for segment in hearing.segments:
                if transcribed.language is None:
                    transcribed.language = hearing.language
                    transcribed.language_probability = hearing.language_probability
                transcribed.segments.append(HeardSegment.of(segment.moved(start, latest=latest)))
                if heard is not None:
                    heard(listened, transcribed.segments[-1])
                _report(task, track, min(start + segment.end, latest))
        transcribed.has_times &= hearing.has_times
        transcribed.heard = window.stop
        _report(task, track, window.stop / SAMPLE_RATE)


class TranscriptionHandler(ListeningHandler[TranscriptFile]):
    """Writes a transcript in the form that was asked for."""

    def __init__(self, resources: Resources, *, family: Family | None = None) -> None:
        super().__init__(resources, family=family)
        self._speakers = resources.shared(Speakers)

    def carry_out(self, task: Task[RecordingInput]) -> Outcome[TranscriptFile]:
        if task.input.speakers is not None:
            self._speakers.load()  # first, so that nobody waits for a transcript in vain
        with self.listened(task) as listened:
            wanted, transcribed = task.input, listened.transcribed
            if wanted.speakers is not None:
                self._speakers.tell(transcribed, listened.track, wanted.speakers or None, task)
            duration = listened.track.duration
            seconds, price = round(duration.total_seconds(), 3), listened.price
            transcript = transcript_of(
                transcribed,
                listened.engine,
                seconds=seconds,
                price=price,
                is_translated=wanted.task == "translate",
                is_cut_short=listened.track.is_cut_short,
                is_diarized=wanted.speakers is not None,
                is_timed=wanted.is_timed or bool(wanted.granularities),
            )
            form = wanted.response_format
            artifact = task.store(rendered(transcript, wanted, transcribed.segments).encode(), suffix=ENDINGS[form])
            kept = {"recording": self._keep_recording(task)} if wanted.keep_audio else {}
            delivered = TranscriptFile(
                artifact=artifact,
                response_format=form,
                duration_seconds=seconds,
                warning=" ".join(transcript.warnings) or None,
                **kept,
            )
            return Done(delivered, listened.engine.name, None if price == task.price else price)

    def _keep_recording(self, task: Task[RecordingInput]) -> str:
        """Store the recording as an artifact; its first bytes tell its type. Returns its key."""
        with self._opened(task) as upload:
            head = upload.read(16)
            upload.seek(0)
            suffix = next((suffix for suffix, begins in SUFFIXES.items() if begins.match(head)), ".mp3")
            return task.store(upload, suffix=suffix)


def _turns(resources: Resources) -> FairLock:
    """Return the lock of the listening handlers of a process, which share their engines."""
    return FairLock()


def _report(task: Task[RecordingInput], track: Track, seconds: float) -> None:
    task.progress(round(seconds, 1), round(track.duration.total_seconds(), 1))
