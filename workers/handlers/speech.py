"""Speech: the handler of the kinds that speak."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pipeline.errors import NotReady
from pipeline.kind import Done, Outcome, Task
from pipeline.offers import Offer, Offers, order_offers
from pipeline.settings import Settings
from pipeline.voices import pick_voice
from workers.audio.wav import encode_wav
from workers.engines.registry import load_engines

FAMILY = "synthesis"


class SpeechHandler:
    """Speaks one text at a time, with the first ready engine that has the voice."""

    batch = 1

    def __init__(self, settings: Settings) -> None:
        self.slots = settings.synthesis.slots
        self._settings = settings
        self._engines: dict[str, Any] = {}
        self._offers = Offers()

    def setup(self) -> None:
        """Set up every engine that is ready. Raises NotReady when none is."""
        offers = []
        for engine in load_engines(self._settings, FAMILY):
            try:
                engine.setup()
            except NotReady as error:
                offers.append(Offer(FAMILY, engine.name, ready=False, needs=error.message))
                continue
            self._engines[engine.name] = engine
            voices = [asdict(voice) for voice in engine.voices()]
            offers.append(Offer(FAMILY, engine.name, ready=True, content={"voices": voices}))
        self._offers = order_offers(self._settings, offers)
        if not self._engines:
            raise NotReady("; ".join(f"{offer.engine}: {offer.needs}" for offer in offers))

    def offers(self) -> Sequence[Offer]:
        """Return the engines with their voices."""
        return self._offers.engines

    def run(self, tasks: Sequence[Task]) -> Sequence[Outcome]:
        """Speak each text into a WAV file."""
        return [self._speak(task) for task in tasks]

    def _speak(self, task: Task) -> Outcome:
        asked = task.input
        voice = pick_voice(self._offers.voices, voice_name=asked.get("voice_name"), language=asked.get("language"))
        sound = self._engines[voice.engine].speak(
            asked["text"],
            voice=voice.id,
            speed=asked.get("speed", 1.0),
            pitch=asked.get("pitch", 0.0),
            gain_db=asked.get("volume_gain_db", 0.0),
            stop=task.is_stopped,
        )
        artifact = task.store(encode_wav(sound), suffix=".wav")
        duration = sound.duration.total_seconds()
        return Done({"artifact": artifact, "voice": voice.id, "duration_seconds": duration}, engine=voice.engine)
