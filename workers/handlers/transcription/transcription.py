"""Transcription: an uploaded recording becomes a transcript, window by window."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from pipeline.kinds.transcription.forms import render
from pipeline.kinds.transcription.transcription import (
    FAMILY,
    RecordingInput,
    TranscriptFile,
    require_language,
    what_brings,
)
from pipeline.kinds.transcription.transcripts import ENDINGS, TIMED, transcription_credits
from pipeline.offers import Offer, Offers
from workers.engines.family import Family
from workers.engines.locks import FairLock
from workers.engines.transcription import SAMPLE_RATE, Foreign, Transcriber
from workers.handler import Done, Handler, Outcome, Task
from workers.handlers.transcription.begun import Transcribed, keep, resumed
from workers.handlers.transcription.delivery import price_of, transcript_of
from workers.media.audio.decoding import decode
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.audio.track import Track, windows
from workers.resources import Resources

#: How long decoding may take: four hours take a quiet core less than a minute, and a busy machine several.
DECODING_LIMIT = timedelta(minutes=15)


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

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change` when the engines, or their languages, have changed."""
        self._family.watch(on_change)

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
            transcribed = resumed(task, engine)
            _report(task, track, transcribed.heard / SAMPLE_RATE)
            for window in windows(track, length=self._window, start=transcribed.heard):
                self._transcribe(task, engine, track, window, transcribed)
                if window.stop < len(track):
                    keep(task, transcribed)
            return self._deliver(task, engine, transcribed, track)

    def _choose(self, language: str | None) -> Transcriber:
        """Return the first engine that understands a language, with its present model. Raises LanguageNotSupported."""
        engines, known = self._known()
        if language is None:
            return engines[0]
        if language not in known:
            # Another process may have found a model that has just arrived, and the API has heard of it.
            self._family.look()
            engines, known = self._known()
        require_language(language, known, self._offered())
        return next(engine for engine in engines if language in engine.languages())

    def _known(self) -> tuple[Sequence[Transcriber], Sequence[str]]:
        """Return the engines with their present models, and the languages that they understand."""
        engines: Sequence[Transcriber] = [engine.as_it_is() for engine in self._family.engines]
        return engines, [code for engine in engines for code in engine.languages()]

    def _deliver(
        self, task: Task[RecordingInput], engine: Transcriber, transcribed: Transcribed, track: Track
    ) -> Done[TranscriptFile]:
        """Store the transcript in the form that was asked for."""
        wanted, seconds = task.input.response_format, round(track.duration.total_seconds(), 3)
        price = price_of(transcribed, track.duration)
        transcript = transcript_of(
            transcribed, engine, seconds=seconds, price=price, remedy=what_brings(None, self._offered())
        )
        artifact = task.store(render(transcript, wanted), suffix=ENDINGS[wanted])
        delivered = TranscriptFile(artifact=artifact, response_format=wanted, duration_seconds=seconds)
        return Done(delivered, engine.name, None if price == task.price else price)

    def _offered(self) -> Offers:
        return Offers(tuple(self._family.offers()))

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
                prompt=task.input.prompt,
                stop=task.is_stopped,
            ) as hearing,
        ):
            for segment in hearing.segments:
                if isinstance(segment, Foreign):
                    # In batches, times may lie behind the end of the sound.
                    transcribed.foreign.append((min(start + segment.start, latest), min(start + segment.end, latest)))
                else:
                    transcribed.segments.append(segment.moved(start, latest=latest))
                _report(task, track, min(start + segment.end, latest))
            if transcribed.language is None and transcribed.segments:
                transcribed.language = hearing.language
                transcribed.language_probability = hearing.language_probability
        transcribed.heard = window.stop
        _report(task, track, window.stop / SAMPLE_RATE)


def _report(task: Task[RecordingInput], track: Track, seconds: float) -> None:
    task.progress(round(seconds, 1), round(track.duration.total_seconds(), 1))
