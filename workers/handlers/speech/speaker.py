"""Speaker: the synthesis engines of a process, and which of them speaks a text, from its start to its end."""

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.errors import NotReady
from pipeline.kinds.speech.fields import SpokenRequest
from pipeline.kinds.speech.offered_voices import offered_voices
from pipeline.kinds.speech.voices import Voice
from pipeline.offers import Offer, Offers, order_offers
from pipeline.settings import Settings
from workers.engines import Stopped
from workers.engines.registry import load_engines
from workers.engines.synthesis.espeak.espeak import NothingToSpeak
from workers.media.audio.pcm import Pcm

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
            raise NothingToSpeak("The text has no word or sign that can be spoken; send some words.")

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
                    # The first alone: somebody may be waiting for it, and the others would take its time.
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
    """The synthesis engines of a process, each set up once, whatever handlers there are."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._engines: dict[str, Any] = {}
        self._needs: dict[str, str] = {}
        self._watchers: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._is_set_up = False
        self.offers = Offers()

    @classmethod
    def shared(cls, settings: Settings) -> "Speaker":
        """Return the speaker of this process."""
        # It keeps its settings, so no others ever get their id.
        return _shared.setdefault(id(settings), cls(settings))

    def setup(self) -> None:
        """Set up every engine that can be, once. Raises NotReady when none can."""
        with self._lock:
            if not self._is_set_up:
                self._set_up_engines()
                self._is_set_up = True
        if not self._engines:
            raise NotReady("; ".join(f"{name}: {needs}" for name, needs in self._needs.items()))

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change` whenever an engine has become available, or no longer is, or has other voices."""
        self._watchers.append(on_change)

    def choose(self, request: SpokenRequest) -> Speaking:
        """Return who speaks a request. Raises InvalidRequest, VoiceUnavailable."""
        voice = offered_voices(self.offers).pick(voice_name=request.voice_name, language=request.language)
        return Speaking(self._engines[voice.engine], voice, request.speed, request.pitch, request.gain_db)

    def _set_up_engines(self) -> None:
        for engine in load_engines(self._settings, FAMILY):
            try:
                engine.setup()
            except NotReady as error:
                self._needs[engine.name] = error.message
                continue
            self._engines[engine.name] = engine
        self._look()
        for engine in self._engines.values():
            if hasattr(engine, "watch"):
                engine.watch(self._change)

    def _change(self) -> None:
        self._look()
        for on_change in self._watchers:
            on_change()

    def _look(self) -> None:
        missing = [Offer(FAMILY, name, ready=False, needs=needs) for name, needs in self._needs.items()]
        found = [
            Offer(
                FAMILY,
                name,
                ready=engine.is_available(),
                needs=None if engine.is_available() else "it can't be reached at the moment",
                content={"voices": [asdict(voice) for voice in engine.voices()]},
            )
            for name, engine in self._engines.items()
        ]
        self.offers = order_offers(self._settings, [*missing, *found])


_shared: dict[int, Speaker] = {}
