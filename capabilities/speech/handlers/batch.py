"""Speech batch: speaks a long text into one MP3 of even loudness."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, Generic, TypeVar

from capabilities.speech.handlers.rendering import SpeechRenderer
from capabilities.speech.handlers.script import write_script
from capabilities.speech.handlers.speech import SpeakingHandler, append_all
from capabilities.speech.handlers.timeline import Timeline
from capabilities.speech.kinds.batch import SpeechBatchInput
from capabilities.speech.kinds.fields import AudioFile
from capabilities.speech.kinds.music import SpeechWithMusicInput
from workers.handler import Done, Outcome, Task
from workers.media.audio.encoding.encodings import CHAPTER
from workers.media.audio.encoding.mp3_parts import encoded_mp3
from workers.media.audio.ffmpeg import Ffmpeg, find_ffmpeg
from workers.media.audio.levelling import Levelled
from workers.media.audio.loudness import MeasuredTrack
from workers.media.audio.track import Track
from workers.media.marks.marking import Made

#: Characters of a chunk (docs/speech.md).
CHUNK_CHARACTERS = 250
#: Making the MP3 counts as one step of progress per so many chunks: about its time with the quickest voices.
CHUNKS_A_STEP = 8

B = TypeVar("B", SpeechBatchInput, SpeechWithMusicInput)


class ChapterHandler(SpeakingHandler[B, AudioFile], Generic[B]):
    """Speaks a text in chunks with pauses; a subclass decides what becomes of the track."""

    def setup(self) -> None:
        """Set the engines up, and find ffmpeg. Raises NotReady."""
        super().setup()
        self.ffmpeg = find_ffmpeg(self.settings)

    def speak_into(self, track: Track, task: Task[B], speaking: SpeechRenderer, timeline: Timeline) -> int:
        """Append the text with its pauses to a track, and note its times. Return the number of chunks."""
        script = write_script(task.input, limit=CHUNK_CHARACTERS, language=speaking.language)
        steps = len(script) + encoding_steps(len(script))
        for number, _ in enumerate(append_all(track, speaking, script, timeline, task.is_stopped), start=1):
            task.progress(number, steps)
        return len(script)


class SpeechBatchHandler(ChapterHandler[SpeechBatchInput]):
    """Speaks a text into an MP3."""

    def speak(self, task: Task[SpeechBatchInput], speaking: SpeechRenderer) -> Outcome[AudioFile]:
        timeline = Timeline(task.input, speaking.language, wanted=task.input.timestamps)
        voice = speaking.voice
        with MeasuredTrack(voice.natural_sample_rate_hertz) as track:
            chunks = self.speak_into(track, task, speaking, timeline)
            sound = Levelled(track, track.measured())
            about: dict[str, Any] = {"made": speaking.made, "voice": voice.id, "warning": speaking.warning}
            return keep_mp3(task, sound, self.ffmpeg, timeline=timeline, chunks=chunks, **about)


def encoding_steps(chunks: int) -> int:
    """Return the steps of progress for making an MP3 of so many chunks."""
    return -(-chunks // CHUNKS_A_STEP) or 1


def keep_mp3(
    task: Task[Any],
    sound: Levelled,
    ffmpeg: Ffmpeg,
    *,
    made: Made,
    voice: str | None = None,
    warning: str | None = None,
    timeline: Timeline | None = None,
    chunks: int = 0,
) -> Done[AudioFile]:
    """Store the sound of so many chunks as an MP3. Raises FfmpegFailed, Stopped, ServiceUnavailable."""
    steps = encoding_steps(chunks)
    sound.on_read = lambda share: task.progress(round(chunks + share * steps, 1), chunks + steps)
    form = replace(CHAPTER, bit_rate=task.input.bit_rate * 1_000, channels=task.input.channels)
    with encoded_mp3(ffmpeg, sound, form=form, stop=task.is_stopped) as file:
        artifact = task.store(file, suffix=".mp3", made=made)
    duration = timedelta(seconds=len(sound) / sound.sample_rate)
    times = timeline and timeline.keep(task, duration)
    seconds = duration.total_seconds()
    audio = AudioFile(artifact=artifact, duration_seconds=seconds, voice=voice, warning=warning, times=times)
    return Done(audio, engine=made.engine, models=made.models)
