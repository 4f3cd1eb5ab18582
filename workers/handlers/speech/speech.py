"""Speech: the handler of POST /tts, and what all handlers that speak have in common."""

import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from pipeline.kinds.speech.fields import AudioFile, SpokenRequest
from pipeline.kinds.speech.offered_voices import FAMILY, offered_voices
from pipeline.kinds.speech.sentences import split_text
from pipeline.kinds.speech.speech import SpeechRequest
from pipeline.kinds.speech.voices import Voice
from pipeline.log import get_logger
from pipeline.offers import Offer, Offers, order_offers
from workers.engines import EngineUnavailable, Stopped
from workers.engines.synthesis import NothingToSpeak, Synthesizer
from workers.handler import Done, Handler, Outcome, Task
from workers.media.audio.pcm import Pcm, WavWriter
from workers.resources import Resources

log = get_logger(__name__)

#: Characters that are spoken at a time, as whole sentences where they fit. espeak takes 30 ms for them, or some tenths
#: of a second where it spells them out. Then another text may use it.
TURN_CHARACTERS = 500


S = TypeVar("S", bound=SpokenRequest)
O = TypeVar("O", bound=BaseModel)  # noqa: E741


@dataclass(frozen=True, slots=True)
class Speaking:
    """One text's engine and voice, with speed, pitch and gain."""

    engine: Synthesizer
    voice: Voice
    speed: float
    pitch: float
    gain_db: float

    def speak_all(self, chunks: Sequence[str], *, stop: Callable[[], bool]) -> Iterator[Pcm | None]:
        """Yield the chunks as sound, in order, as many at once as the engine can; None for one without a word.

        Raises NothingToSpeak when no chunk has one, Stopped, and what the engine raises."""
        ahead = self.engine.parallel
        sounds = (self._speak(chunk, stop) for chunk in chunks) if ahead == 1 else self._speak_ahead(chunks, stop)
        has_spoken = False
        with closing(sounds):
            for sound in sounds:
                has_spoken = has_spoken or sound is not None
                yield sound
        if not has_spoken:
            raise NothingToSpeak

    def _speak_ahead(self, chunks: Sequence[str], stop: Callable[[], bool]) -> Generator[Pcm | None, None, None]:
        ahead = self.engine.parallel
        has_left = False
        waiting: list[Future[Pcm | None]] = []
        with ThreadPoolExecutor(ahead, "speak") as pool:
            try:
                for number, chunk in enumerate(chunks):
                    waiting.append(pool.submit(self._speak, chunk, lambda: has_left or stop()))
                    # The first chunk alone: a client may wait for it, and others at the same time would delay it.
                    if number == 0 or len(waiting) > ahead:
                        yield waiting.pop(0).result()
                while waiting:
                    yield waiting.pop(0).result()
            finally:
                has_left = True
                pool.shutdown(cancel_futures=True)

    def _speak(self, chunk: str, stop: Callable[[], bool]) -> Pcm | None:
        if stop():
            raise Stopped
        text, voice = chunk.strip(), self.voice.id
        try:
            if text:
                return self.engine.speak(
                    text, voice=voice, speed=self.speed, pitch=self.pitch, gain_db=self.gain_db, stop=stop
                )
        except NothingToSpeak:
            pass
        return None


class Speaker:
    """The synthesis engines of a process, and the voices that they offer now."""

    def __init__(self, resources: Resources) -> None:
        self._settings = resources.settings
        self._family = resources.family(FAMILY)
        self._family.watch(self._renew)
        self.offers = Offers()

    def setup(self) -> None:
        """Set up every engine that can be, once. Raises NotReady when none can."""
        try:
            self._family.setup()
        finally:
            self._renew()  # also without any engine: the offers tell what they lack

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change` whenever an engine has become available or unavailable, or has other voices."""
        self._family.watch(on_change)

    def choose(self, voice_name: str | None, language: str | None) -> tuple[Synthesizer, Voice]:
        """Return the engine and the voice for a request. Raises InvalidRequest, VoiceUnavailable."""
        voice = offered_voices(self.offers).pick(voice_name=voice_name, language=language)
        return self._family.engine(voice.engine), voice

    def _renew(self) -> None:
        self.offers = order_offers(self._settings, self._family.offers())


class SpeakingHandler(Handler[S, O], Generic[S, O]):
    """Takes one text at a time; a subclass decides what becomes of the sound."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self.slots = self.settings.synthesis.slots
        self.speaker = resources.shared(Speaker)

    def setup(self) -> None:
        """Set the engines up. Raises NotReady when none is ready."""
        self.speaker.setup()

    def offers(self) -> Sequence[Offer]:
        """Return the engines with their voices."""
        return self.speaker.offers.engines

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change` when the engines, or their voices, have changed."""
        self.speaker.watch(on_change)

    def speak(self, task: Task[S], speaking: Speaking) -> Outcome[O]:
        """Return the outcome of one task, spoken from start to end by one engine."""
        raise NotImplementedError

    def carry_out(self, task: Task[S]) -> Outcome[O]:
        """Carry out a task; when its engine fails, with the next engine, unless the request named its voice."""
        request = task.input
        while True:
            engine, voice = self.speaker.choose(request.voice_name, request.language)
            try:
                return self.speak(task, Speaking(engine, voice, request.speed, request.pitch, request.gain_db))
            except EngineUnavailable as error:
                if request.voice_name or engine.is_available():
                    raise
                log.warning("engine failed, the next one speaks", engine=voice.engine, reason=error.message)


class SpeechHandler(SpeakingHandler[SpeechRequest, AudioFile]):
    """Speaks a text into a WAV file."""

    def speak(self, task: Task[SpeechRequest], speaking: Speaking) -> Outcome[AudioFile]:
        """Speak one text into a file, not into memory. Other texts of this process speak between its chunks."""
        chunks = split_text(task.input.text, limit=TURN_CHARACTERS)
        with tempfile.TemporaryFile(prefix="pressroom-") as file:
            writer = WavWriter(file, speaking.voice.natural_sample_rate_hertz)
            for sound in speaking.speak_all(chunks, stop=task.is_stopped):
                if sound is not None:
                    writer.write(sound)
            duration = writer.close()
            file.seek(0)
            artifact = task.store(file, suffix=".wav")
        wav = AudioFile(artifact=artifact, voice=speaking.voice.id, duration_seconds=duration.total_seconds())
        return Done(wav, engine=speaking.voice.engine)
