"""Transcription: an uploaded recording becomes a transcript, window by window."""

from collections.abc import Sequence
from datetime import timedelta

from pipeline.kinds.transcription.forms import render
from pipeline.kinds.transcription.subtitles import subtitles
from pipeline.kinds.transcription.transcription import AUTO, FAMILY, RecordingInput, TranscriptFile, require_language
from pipeline.kinds.transcription.transcripts import ENDINGS, TIMED, Transcript, join_texts, transcription_credits
from pipeline.offers import Offer
from workers.engines.family import Family
from workers.engines.locks import FairLock
from workers.engines.transcription import SAMPLE_RATE, Transcriber
from workers.handler import Done, Handler, Outcome, Task
from workers.handlers.transcription.transcribed import Transcribed, keep, resume
from workers.media.audio.decoding import decode
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.audio.track import Track, windows
from workers.resources import Resources

#: How long decoding may take: four hours take a quiet core less than a minute, and a busy machine several.
DECODING_LIMIT = timedelta(minutes=15)


class TranscriptionHandler(Handler[RecordingInput, TranscriptFile]):
    """Takes some recordings at once: one is heard while others are decoded, and a long one holds up no short one."""

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
        """Write down one recording."""
        engine = self._choose(task.input.language)
        with self._decoded(task) as track:
            price = transcription_credits(track.duration)
            if price > task.price:
                task.raise_hold(price)
            transcribed = resume(task, engine=engine.name, language=task.input.language)
            _tell(task, track, transcribed.heard / SAMPLE_RATE)
            for window in windows(track, length=self._window, start=transcribed.heard):
                self._transcribe(task, engine, track, window, transcribed)
                if window.stop < len(track):
                    keep(task, transcribed)
            return _deliver(task, engine, transcribed, duration=track.duration, price=price)

    def _decoded(self, task: Task[RecordingInput]) -> Track:
        with task.upload("audio") as upload:
            return decode(
                self._ffmpeg,
                upload,
                sample_rate=SAMPLE_RATE,
                max_duration=self._longest,
                time_limit=DECODING_LIMIT,
                stop=task.is_stopped,
            )

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
        latest = track.duration.total_seconds()

        def has_left() -> bool:
            _tell(task, track, window.start / SAMPLE_RATE)  # to wait for the engine is not to stall
            return task.is_stopped()

        with (
            self._lock.unless(has_left),
            engine.listen(
                track.read(window.start, window.stop - window.start),
                language=transcribed.language,
                timed=task.input.response_format in TIMED,
                stop=task.is_stopped,
            ) as hearing,
        ):
            for segment in hearing.segments:
                transcribed.segments.append(segment.moved(window.start / SAMPLE_RATE, latest=latest))
                _tell(task, track, transcribed.segments[-1].end)
            if transcribed.language is None and transcribed.segments:
                transcribed.language = hearing.language
                transcribed.language_probability = hearing.language_probability
        transcribed.heard = window.stop
        _tell(task, track, window.stop / SAMPLE_RATE)


def _tell(task: Task[RecordingInput], track: Track, heard: float) -> None:
    task.progress(round(heard, 1), round(track.duration.total_seconds(), 1))


def _deliver(
    task: Task[RecordingInput], engine: Transcriber, transcribed: Transcribed, *, duration: timedelta, price: int
) -> Done[TranscriptFile]:
    """Keep the transcript in the form that was asked for."""
    wanted = task.input.response_format
    probability = transcribed.language_probability
    transcript = Transcript(
        text=join_texts(transcribed.segments, transcribed.language),
        language=transcribed.language or AUTO,
        language_probability=None if probability is None else round(probability, 3),
        duration=round(duration.total_seconds(), 3),
        credits_used=price,
        draft=engine.warning is not None,
        warnings=[engine.warning] if engine.warning else [],
        segments=subtitles(
            transcribed.segments, language=transcribed.language, latest=round(duration.total_seconds(), 3)
        ),
    )
    artifact = task.store(render(transcript, wanted), suffix=ENDINGS[wanted])
    file = TranscriptFile(artifact=artifact, response_format=wanted, duration_seconds=transcript.duration)
    return Done(file, engine.name)
