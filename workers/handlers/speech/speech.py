"""Speech: the handler of POST /tts, and what all handlers that speak have in common."""

import tempfile
from collections.abc import Callable, Sequence

from pipeline.kind import Done, Outcome, Task
from pipeline.kinds.speech.sentences import split_text
from pipeline.log import get_logger
from pipeline.offers import Offer
from workers.engines import EngineUnavailable
from workers.handlers.speech.speaker import Speaker, Speaking
from workers.media.audio.wav import WavWriter
from workers.resources import Resources

log = get_logger(__name__)

#: Characters that are spoken at a time, as whole sentences where they fit: espeak takes 30 ms for them, or some tenths
#: of a second where it spells them out, and then it is the next text's turn.
TURN_CHARACTERS = 500


class SpeakingHandler:
    """Takes one text at a time; a subclass says what becomes of it."""

    batch = 1

    def __init__(self, resources: Resources) -> None:
        self.settings = resources.settings
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

    def run(self, tasks: Sequence[Task]) -> Sequence[Outcome]:
        """Carry out each task."""
        return [self._carry_out(task) for task in tasks]

    def carry_out(self, task: Task, speaking: Speaking) -> Outcome:
        """Return what became of one task, spoken from start to end by one engine."""
        raise NotImplementedError

    def _carry_out(self, task: Task) -> Outcome:
        """Carry out a task; when its engine fails, with the next one, unless the request named its voice."""
        while True:
            speaking = self.speaker.choose(task.input)
            try:
                return self.carry_out(task, speaking)
            except EngineUnavailable as error:
                if task.input.get("voice_name") or speaking.engine.is_available():
                    raise
                log.warning("engine failed, the next one speaks", engine=speaking.voice.engine, reason=error.message)


class SpeechHandler(SpeakingHandler):
    """Speaks a text into a WAV file."""

    def carry_out(self, task: Task, speaking: Speaking) -> Outcome:
        """Speak one text, in turns with the others of this process, into a file and not into memory."""
        chunks = split_text(task.input["text"], limit=TURN_CHARACTERS)
        with tempfile.TemporaryFile(prefix="pressroom-") as file:
            writer = WavWriter(file, speaking.voice.natural_sample_rate_hertz)
            for sound in speaking.speak_all(chunks, stop=task.is_stopped):
                if sound is not None:
                    writer.write(sound)
            duration = writer.close()
            file.seek(0)
            artifact = task.store(file, suffix=".wav")
        output = {"artifact": artifact, "voice": speaking.voice.id, "duration_seconds": duration.total_seconds()}
        return Done(output, engine=speaking.voice.engine)
