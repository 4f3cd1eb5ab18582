"""Speech stream: speaks a text chunk by chunk, and sends its sound while it is made."""

from capabilities.speech.handlers.rendering import SpeechRenderer
from capabilities.speech.handlers.script import write_script
from capabilities.speech.handlers.speech import SpeakingHandler
from capabilities.speech.kinds.fields import speech_credits
from capabilities.speech.kinds.stream import SpeechStreamInput
from pipeline.errors import PressroomError
from pipeline.storage.streams import Parts
from workers.handler import Done, Failed, Outcome, Task
from workers.media.audio.encoding.encoded_stream import EncodedStream
from workers.media.audio.encoding.encodings import ENCODINGS
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.audio.gain import apply_gain
from workers.media.audio.levelling import REACH
from workers.media.audio.loudness import TARGET, gain_to, profile
from workers.media.audio.pcm import Pcm, silence
from workers.media.audio.track import Track
from workers.media.marks.marking import stream_tags

#: Bytes of a part. The first part is sent with its first byte; each next one has twice as many, up to the most, since a
#: part costs a file and a message. 256 KiB are 16 s of sound.
FIRST_PART_BYTES = 1
MOST_PART_BYTES = 2**18


class _PartWriter:
    """Collects an encoder's bytes into parts; called from the encoder's thread."""

    def __init__(self, task: Task[SpeechStreamInput], speaking: SpeechRenderer, *, chunks: int) -> None:
        self._task = task
        self._voice, self._warning = speaking.voice, speaking.warning or ""
        self._chunks = chunks
        self._bytes = bytearray()
        self._wanted = FIRST_PART_BYTES
        self._gain: float | None = None if speaking.engine.loudness is None else TARGET - speaking.engine.loudness
        self.spoken_chunks = 0
        self.spoken_characters = 0
        self.parts = Parts()

    @property
    def credits(self) -> int:
        """The credits earned so far: one per started 1,000 spoken characters."""
        return min(self._task.price, speech_credits(self.spoken_characters))

    def levelled(self, sound: Pcm) -> bytes:
        """Return a sound's samples with the stream's gain: the engine's, or that of the first line."""
        if self._gain is None:
            with Track(sound.sample_rate) as track:
                track.append_sound(sound)
                self._gain = gain_to(profile(track))
        return bytes(apply_gain(sound, self._gain, reach=REACH).samples)

    def add(self, piece: bytes) -> None:
        """Take bytes; send them once they are enough for a part."""
        self._bytes += piece
        if len(self._bytes) >= self._wanted:
            self.send()
            self._wanted = min(max(2 * self._wanted, 2**14), MOST_PART_BYTES)

    def send(self) -> None:
        """Send the collected bytes as a part."""
        if not self._bytes:
            return
        self.parts = self._task.add_part(
            bytes(self._bytes),
            done=self.spoken_chunks,
            total=self._chunks,
            credits=self.credits,
            engine=self._voice.engine,
            voice=self._voice.id,
            warning=self._warning,
        )
        self._bytes.clear()


class SpeechStreamHandler(SpeakingHandler[SpeechStreamInput, Parts]):
    """Speaks a text into parts of one continuous file."""

    def setup(self) -> None:
        """Set the engines up, and find ffmpeg. Raises NotReady."""
        super().setup()
        self.ffmpeg = find_ffmpeg(self.settings)

    def speak(self, task: Task[SpeechStreamInput], speaking: SpeechRenderer) -> Outcome[Parts]:
        """Speak one text. Once a part was sent, no other engine can continue, and what was spoken is charged."""
        script = write_script(task.input, limit=task.input.chunk_size, language=speaking.language, starts_short=True)
        writer = _PartWriter(task, speaking, chunks=len(script))
        rate, made = speaking.voice.natural_sample_rate_hertz, speaking.made
        tags = stream_tags(made.source) if self.settings.marks.enabled else ()
        encoding = [*ENCODINGS[task.input.response_format], *tags]
        try:
            # The encoder starts while the first chunk is spoken.
            with EncodedStream(self.ffmpeg, sample_rate=rate, sink=writer.add, encoding=encoding) as encoder:
                for spoken in speaking.perform(script, stop=task.is_stopped):
                    writer.spoken_chunks += 1
                    writer.spoken_characters += len(spoken.line.source)
                    for samples in silence(spoken.silence, rate):
                        encoder.write(samples)
                    if spoken.utterance is not None:
                        encoder.write(writer.levelled(spoken.utterance.sound))
                encoder.finish()
            writer.send()
        except PressroomError as error:
            if not writer.parts.count:
                raise
            return Failed(error, credits=writer.credits)
        return Done(writer.parts, engine=speaking.voice.engine, models=made.models)
