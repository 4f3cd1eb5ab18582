"""Speech batch: speaks a long text into one MP3 of even loudness."""

from datetime import timedelta
from typing import Any, Generic, TypeVar

from capabilities.speech.handlers.rendering import SpeechRenderer
from capabilities.speech.handlers.script import write_script
from capabilities.speech.handlers.speech import SpeakingHandler
from capabilities.speech.handlers.timeline import Timeline
from capabilities.speech.kinds.batch import SpeechBatchInput
from capabilities.speech.kinds.fields import AudioFile
from capabilities.speech.kinds.music import SpeechWithMusicInput
from workers.handler import Done, Outcome, Task
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
        for number, spoken in enumerate(speaking.perform(script, stop=task.is_stopped), start=1):
            track.append_silence(spoken.silence)
            timeline.add(spoken, track.duration)
            if spoken.utterance is not None:
                track.append_sound(spoken.utterance.sound)
            task.progress(number, len(script) + encoding_steps(len(script)))
        return len(script)


class SpeechBatchHandler(ChapterHandler[SpeechBatchInput]):
    """Speaks a text into an MP3."""

    def speak(self, task: Task[SpeechBatchInput], speaking: SpeechRenderer) -> Outcome[AudioFile]:
        timeline = Timeline(task.input, speaking.language, wanted=task.input.timestamps)
        voice = speaking.voice
        with MeasuredTrack(voice.natural_sample_rate_hertz) as track:
            chunks = self.speak_into(track, task, speaking, timeline)
            sound = Levelled(track, track.measured())
            return keep_mp3(
                task, sound, self.ffmpeg, made=speaking.made, voice=voice.id, timeline=timeline, chunks=chunks
            )


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
    timeline: Timeline | None = None,
    chunks: int = 0,
) -> Done[AudioFile]:
    """Store the sound of so many chunks as an MP3. Raises FfmpegFailed, Stopped, ServiceUnavailable."""
    steps = encoding_steps(chunks)
    sound.on_read = lambda share: task.progress(round(chunks + share * steps, 1), chunks + steps)
    with encoded_mp3(ffmpeg, sound, stop=task.is_stopped) as file:
        artifact = task.store(file, suffix=".mp3", made=made)
    duration = timedelta(seconds=len(sound) / sound.sample_rate)
    times = timeline and timeline.keep(task, duration)
    audio = AudioFile(artifact=artifact, duration_seconds=duration.total_seconds(), voice=voice, times=times)
    return Done(audio, engine=made.engine, models=made.models)
