"""Speech: the handler of POST /tts, and what all handlers that speak have in common."""

import tempfile
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from pydantic import BaseModel

from pipeline.kinds.speech.fields import AudioFile, SpokenRequest
from pipeline.kinds.speech.sentences import split_text
from pipeline.kinds.speech.speech import SpeechRequest
from pipeline.log import get_logger
from pipeline.offers import Offer
from workers.engines import EngineUnavailable
from workers.handler import Done, Handler, Outcome, Task
from workers.handlers.speech.speaker import Speaker, Speaking
from workers.media.audio.pcm import WavWriter
from workers.resources import Resources

log = get_logger(__name__)

#: Characters that are spoken at a time, as whole sentences where they fit: espeak takes 30 ms for them, or some tenths
#: of a second where it spells them out, and then it is the next text's turn.
TURN_CHARACTERS = 500


S = TypeVar("S", bound=SpokenRequest)
O = TypeVar("O", bound=BaseModel)  # noqa: E741


class SpeakingHandler(Handler[S, O], Generic[S, O]):
    """Takes one text at a time; a subclass says what becomes of it."""

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
        """Return what became of one task, spoken from start to end by one engine."""
        raise NotImplementedError

    def carry_out(self, task: Task[S]) -> Outcome[O]:
        """Carry out a task; when its engine fails, with the next one, unless the request named its voice."""
        while True:
            speaking = self.speaker.choose(task.input)
            try:
                return self.speak(task, speaking)
            except EngineUnavailable as error:
                if task.input.voice_name or speaking.engine.is_available():
                    raise
                log.warning("engine failed, the next one speaks", engine=speaking.voice.engine, reason=error.message)


class SpeechHandler(SpeakingHandler[SpeechRequest, AudioFile]):
    """Speaks a text into a WAV file."""

    def speak(self, task: Task[SpeechRequest], speaking: Speaking) -> Outcome[AudioFile]:
        """Speak one text, in turns with the others of this process, into a file and not into memory."""
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
