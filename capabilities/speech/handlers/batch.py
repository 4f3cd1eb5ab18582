"""Speech batch: a long text becomes one MP3, sentence by sentence, at an even loudness."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, Generic, TypeVar

from capabilities.speech.handlers.rendering import SpeechRenderer
from capabilities.speech.handlers.script import write_script
from capabilities.speech.handlers.speech import SpeakingHandler
from capabilities.speech.handlers.timeline import Timeline
from capabilities.speech.kinds.batch import SpeechBatchRequest
from capabilities.speech.kinds.fields import AudioFile
from workers.handler import Done, Outcome, Task
from workers.media.audio.encoding.mp3_parts import encoded_mp3
from workers.media.audio.ffmpeg import Ffmpeg, find_ffmpeg
from workers.media.audio.levelling import Levelled
from workers.media.audio.measured_track import MeasuredTrack
from workers.media.audio.track import Track

#: Characters of a chunk (docs/speech.md).
CHUNK_CHARACTERS = 250


#: Making the MP3 counts as one step of progress for so many spoken chunks: about the time that it takes of the quickest
#: voices.
CHUNKS_A_STEP = 8

B = TypeVar("B", bound=SpeechBatchRequest)


class ChapterHandler(SpeakingHandler[B, AudioFile], Generic[B]):
    """Speaks a text in chunks with pauses; a subclass decides what becomes of the track."""

    def setup(self) -> None:
        """Set the engines up, and find ffmpeg. Raises NotReady."""
        super().setup()
        self.ffmpeg = find_ffmpeg(self.settings)

    def speak_into(self, track: Track, task: Task[B], speaking: SpeechRenderer, timeline: Timeline) -> int:
        """Put the text at the end of a track, with its pauses, and note its times; returns the number of chunks."""
        script = write_script(task.input, limit=CHUNK_CHARACTERS, language=speaking.language)
        for number, spoken in enumerate(speaking.perform(script, stop=task.is_stopped), start=1):
            track.append_silence(spoken.silence)
            timeline.add(spoken, track.duration)
            if spoken.utterance is not None:
                track.append_sound(spoken.utterance.sound)
            task.progress(number, len(script) + encoding_steps(len(script)))
        return len(script)


class SpeechBatchHandler(ChapterHandler[SpeechBatchRequest]):
    """Speaks a text into an MP3."""

    def speak(self, task: Task[SpeechBatchRequest], speaking: SpeechRenderer) -> Outcome[AudioFile]:
        """Speak one text."""
        timeline = Timeline(task.input, speaking.language, wanted=task.input.timestamps)
        voice = speaking.voice
        with MeasuredTrack(voice.natural_sample_rate_hertz) as track:
            chunks = self.speak_into(track, task, speaking, timeline)
            sound = Levelled(track, track.measured())
            return keep_mp3(
                task, sound, self.ffmpeg, engine=voice.engine, voice=voice.id, timeline=timeline, chunks=chunks
            )


def encoding_steps(chunks: int) -> int:
    """Return the steps of progress that making an MP3 of so many spoken chunks is."""
    return -(-chunks // CHUNKS_A_STEP) or 1


class Encoded:
    """A sound that tells how much of it was read, which is how far its encoders are."""

    def __init__(self, sound: Levelled, tell: Callable[[float], None]) -> None:
        """`tell` gets the share that was read, between 0 and 1, from any thread."""
        self._sound = sound
        self._tell = tell
        self._read = 0
        self.sample_rate = sound.sample_rate

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self._sound)

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield samples (16 bit, little-endian) from `start` to before `stop`."""
        for block in self._sound.blocks(start, stop):
            yield block
            # Parts overlap, and threads may count at once: near enough for a progress.
            self._read += len(block) // 2
            self._tell(min(1.0, self._read / len(self)))


def keep_mp3(
    task: Task[Any],
    sound: Levelled,
    ffmpeg: Ffmpeg,
    *,
    engine: str,
    voice: str | None = None,
    timeline: Timeline | None = None,
    chunks: int = 0,
) -> Done[AudioFile]:
    """Keep a sound, of so many spoken chunks, as an MP3. Raises FfmpegFailed, Stopped, ServiceUnavailable."""
    steps = encoding_steps(chunks)
    encoded = Encoded(sound, lambda share: task.progress(round(chunks + share * steps, 1), chunks + steps))
    with encoded_mp3(ffmpeg, encoded, stop=task.is_stopped) as file:
        artifact = task.store(file, suffix=".mp3")
    duration = timedelta(seconds=len(sound) / sound.sample_rate)
    seconds = duration.total_seconds()
    times = None if timeline is None else timeline.keep(task, duration)
    return Done(AudioFile(artifact=artifact, duration_seconds=seconds, voice=voice, times=times), engine=engine)
