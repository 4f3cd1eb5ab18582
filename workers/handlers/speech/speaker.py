"""Speaker: which engine of a process speaks a text, with which voice, from its start to its end."""

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from pipeline.kinds.speech.fields import SpokenRequest
from pipeline.kinds.speech.offered_voices import offered_voices
from pipeline.kinds.speech.voices import Voice
from pipeline.offers import Offers, order_offers
from workers.engines import Stopped
from workers.engines.synthesis.synthesizer import NothingToSpeak
from workers.media.audio.pcm import Pcm
from workers.resources import Resources

FAMILY = "synthesis"


@dataclass(frozen=True, slots=True)
class Speaking:
    """One text's engine and voice, and how it is to sound."""

    engine: Any
    voice: Voice
    speed: float
    pitch: float
    gain_db: float

    def speak(self, text: str, *, stop: Callable[[], bool]) -> Pcm:
        """Return the text as sound. Raises NothingToSpeak, Stopped, and what the engine raises."""
        sound: Pcm = self.engine.speak(
            text, voice=self.voice.id, speed=self.speed, pitch=self.pitch, gain_db=self.gain_db, stop=stop
        )
        return sound

    def speak_all(self, chunks: Sequence[str], *, stop: Callable[[], bool]) -> Iterator[Pcm | None]:
        """Yield the chunks as sound, in order, as many at once as the engine can; None for one without a word.

        Raises NothingToSpeak when no chunk has one, Stopped, and what the engine raises."""
        has_spoken = False
        with closing(self._sounds(chunks, stop)) as sounds:
            for sound in sounds:
                has_spoken = has_spoken or sound is not None
                yield sound
        if not has_spoken:
            raise NothingToSpeak

    def _sounds(self, chunks: Sequence[str], stop: Callable[[], bool]) -> Generator[Pcm | None, None, None]:
        ahead = self.engine.parallel
        if ahead == 1:
            for chunk in chunks:
                yield self._sound(chunk, stop)
            return
        has_left = False
        waiting: list[Future[Pcm | None]] = []
        with ThreadPoolExecutor(ahead, "speak") as pool:
            try:
                for number, chunk in enumerate(chunks):
                    waiting.append(pool.submit(self._sound, chunk, lambda: has_left or stop()))
                    # The first chunk alone: somebody may wait for it, and others beside it would make it slower.
                    if number == 0 or len(waiting) > ahead:
                        yield waiting.pop(0).result()
                while waiting:
                    yield waiting.pop(0).result()
            finally:
                has_left = True
                pool.shutdown(cancel_futures=True)

    def _sound(self, chunk: str, stop: Callable[[], bool]) -> Pcm | None:
        if stop():
            raise Stopped
        try:
            return self.speak(chunk.strip(), stop=stop) if chunk.strip() else None
        except NothingToSpeak:
            return None


class Speaker:
    """Chooses the engine and the voice for a request, among the synthesis engines of a process."""

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
            self._renew()  # also without any engine: the offers say what they lack

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change` whenever an engine has become available, or no longer is, or has other voices."""
        self._family.watch(on_change)

    def choose(self, request: SpokenRequest) -> Speaking:
        """Return who speaks a request. Raises InvalidRequest, VoiceUnavailable."""
        voice = offered_voices(self.offers).pick(voice_name=request.voice_name, language=request.language)
        return Speaking(self._family.engine(voice.engine), voice, request.speed, request.pitch, request.gain_db)

    def _renew(self) -> None:
        self.offers = order_offers(self._settings, self._family.offers())
