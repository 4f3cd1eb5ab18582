"""Transcription: an uploaded recording becomes a transcript, window by window."""

from collections.abc import Sequence
from datetime import timedelta

from pydantic import BaseModel, ValidationError

from pipeline.errors import Gone, ServiceUnavailable
from pipeline.kinds.transcription.forms import render
from pipeline.kinds.transcription.subtitles import subtitles
from pipeline.kinds.transcription.transcription import AUTO, FAMILY, RecordingInput, TranscriptFile, require_language
from pipeline.kinds.transcription.transcripts import (
    ENDINGS,
    TIMED,
    Segment,
    Transcript,
    join_texts,
    transcription_credits,
)
from pipeline.log import get_logger
from pipeline.offers import Offer
from workers.engines.family import Family
from workers.engines.locks import FairLock
from workers.engines.transcription import SAMPLE_RATE, Transcriber
from workers.handler import Done, Handler, Outcome, Task
from workers.media.audio.decoding import decode
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.audio.track import Track, windows
from workers.resources import Resources

log = get_logger(__name__)

#: How long decoding may take: four hours take a quiet core less than a minute, and a busy machine several.
DECODING_LIMIT = timedelta(minutes=15)

SUFFIX = ".begun.json"


class Transcribed(BaseModel):
    """What is transcribed so far: the segments of the first `heard` samples. It is stored after each window.

    `language` is None until somebody has spoken."""

    engine: str
    heard: int = 0
    language: str | None = None
    language_probability: float | None = None
    segments: list[Segment] = []


class TranscriptionHandler(Handler[RecordingInput, TranscriptFile]):
    """Takes some recordings at once: while one is transcribed, others are decoded. They use the engine in turns."""

    def __init__(self, resources: Resources, *, family: Family | None = None) -> None:
        super().__init__(resources)
        settings = resources.settings
        self.slots = settings.transcription.slots
        self._longest = timedelta(hours=settings.transcription.max_hours)
        self._window = timedelta(seconds=settings.transcription.window_seconds)
        self._family = family or resources.family(FAMILY)
        self._lock = FairLock()

    def setup(self) -> None:
        """Find ffmpeg, and set up the engines. Raises NotReady."""
        self._ffmpeg = find_ffmpeg(self.settings)
        self._family.setup()

    def offers(self) -> Sequence[Offer]:
        """Return the engines with the languages that they understand."""
        return self._family.offers()

    def carry_out(self, task: Task[RecordingInput]) -> Outcome[TranscriptFile]:
        """Transcribe one recording."""
        engine = self._choose(task.input.language)
        with task.upload("audio") as upload:
            decoded = decode(
                self._ffmpeg,
                upload,
                sample_rate=SAMPLE_RATE,
                max_duration=self._longest,
                time_limit=DECODING_LIMIT,
                stop=task.is_stopped,
            )
        with decoded as track:
            price = transcription_credits(track.duration)
            if price > task.price:
                task.raise_hold(price)
            transcribed = _resumed(task, engine.name)
            _report(task, track, transcribed.heard / SAMPLE_RATE)
            for window in windows(track, length=self._window, start=transcribed.heard):
                self._transcribe(task, engine, track, window, transcribed)
                if window.stop < len(track):
                    _keep(task, transcribed)
            return _deliver(task, engine, transcribed, duration=track.duration, price=price)

    def _choose(self, language: str | None) -> Transcriber:
        """Return the first engine that understands a language. Raises LanguageNotSupported."""
        engines: Sequence[Transcriber] = self._family.engines
        if language is None:
            return engines[0]
        require_language(language, [code for engine in engines for code in engine.languages()])
        return next(engine for engine in engines if language in engine.languages())

    def _transcribe(
        self, task: Task[RecordingInput], engine: Transcriber, track: Track, window: range, transcribed: Transcribed
    ) -> None:
        """Add what is said in a window. Raises Stopped."""
        start, latest = window.start / SAMPLE_RATE, track.duration.total_seconds()

        def is_stopped() -> bool:
            _report(task, track, start)  # waiting for the engine must not count as a stall
            return task.is_stopped()

        with (
            self._lock.unless(is_stopped),
            engine.listen(
                track.read(window.start, len(window)),
                language=transcribed.language,
                timed=task.input.response_format in TIMED,
                stop=task.is_stopped,
            ) as hearing,
        ):
            for segment in hearing.segments:
                transcribed.segments.append(segment.moved(start, latest=latest))
                _report(task, track, transcribed.segments[-1].end)
            if transcribed.language is None and transcribed.segments:
                transcribed.language = hearing.language
                transcribed.language_probability = hearing.language_probability
        transcribed.heard = window.stop
        _report(task, track, window.stop / SAMPLE_RATE)


def _report(task: Task[RecordingInput], track: Track, seconds: float) -> None:
    task.progress(round(seconds, 1), round(track.duration.total_seconds(), 1))


def _resumed(task: Task[RecordingInput], engine: str) -> Transcribed:
    """Return what an earlier attempt has stored, if the same engine made it; otherwise an empty one."""
    begun = Transcribed(engine=engine, language=task.input.language)
    key = (task.checkpoint or {}).get("artifact")
    if key is None:
        return begun
    try:
        found = Transcribed.model_validate_json(task.stored(key))
    except (Gone, ValidationError) as error:
        log.warning("begun transcript lost", job_id=str(task.job_id), reason=type(error).__name__)
        return begun
    return found if found.engine == engine else begun


def _keep(task: Task[RecordingInput], transcribed: Transcribed) -> None:
    """Store what is transcribed so far as one artifact, which the next one replaces. Raises Stopped.

    The checkpoint has only its key: it is written with every heartbeat, and four hours of speech are megabytes."""
    try:
        key = task.store(transcribed.model_dump_json().encode(), suffix=SUFFIX)
        if (task.checkpoint or {}).get("artifact") != key:
            task.save({"artifact": key})
    except ServiceUnavailable as error:
        # That matters only if this attempt fails as well.
        log.warning("begun transcript not kept", job_id=str(task.job_id), reason=error.message)


def _deliver(
    task: Task[RecordingInput], engine: Transcriber, transcribed: Transcribed, *, duration: timedelta, price: int
) -> Done[TranscriptFile]:
    """Store the transcript in the format that was asked for."""
    wanted, seconds = task.input.response_format, round(duration.total_seconds(), 3)
    probability = transcribed.language_probability
    transcript = Transcript(
        text=join_texts(transcribed.segments, transcribed.language),
        language=transcribed.language or AUTO,
        language_probability=None if probability is None else round(probability, 3),
        duration=seconds,
        credits_used=price,
        draft=engine.warning is not None,
        warnings=[engine.warning] if engine.warning else [],
        segments=subtitles(transcribed.segments, language=transcribed.language, latest=seconds),
    )
    artifact = task.store(render(transcript, wanted), suffix=ENDINGS[wanted])
    return Done(TranscriptFile(artifact=artifact, response_format=wanted, duration_seconds=seconds), engine.name)
