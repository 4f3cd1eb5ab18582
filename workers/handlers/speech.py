"""Speech: the handler of POST /tts, and what all handlers that speak have in common."""

from collections.abc import Sequence

from pipeline.kind import Done, Outcome, Task
from pipeline.offers import Offer
from pipeline.settings import Settings
from workers.audio.wav import encode_wav
from workers.handlers.speaker import Speaker


class SpeakingHandler:
    """Takes one text at a time; a subclass says what becomes of it."""

    batch = 1

    def __init__(self, settings: Settings) -> None:
        self.slots = settings.synthesis.slots
        self.settings = settings
        self.speaker = Speaker(settings)

    def setup(self) -> None:
        """Set the engines up. Raises NotReady when none is ready."""
        self.speaker.setup()

    def offers(self) -> Sequence[Offer]:
        """Return the engines with their voices."""
        return self.speaker.offers.engines

    def run(self, tasks: Sequence[Task]) -> Sequence[Outcome]:
        """Carry out each task."""
        return [self.carry_out(task) for task in tasks]

    def carry_out(self, task: Task) -> Outcome:
        """Return what became of one task."""
        raise NotImplementedError


class SpeechHandler(SpeakingHandler):
    """Speaks a text into a WAV file."""

    def carry_out(self, task: Task) -> Outcome:
        """Speak one text."""
        asked = task.input
        speaking = self.speaker.choose(asked)
        sound = speaking.speak(asked["text"], gain_db=asked.get("volume_gain_db", 0.0), stop=task.is_stopped)
        artifact = task.store(encode_wav(sound), suffix=".wav")
        output = {
            "artifact": artifact,
            "voice": speaking.voice.id,
            "duration_seconds": sound.duration.total_seconds(),
        }
        return Done(output, engine=speaking.voice.engine)
