"""Speech batch: a long text becomes one MP3, sentence by sentence, at an even loudness."""

from datetime import timedelta
from typing import Any, Generic, TypeVar

from pipeline.kinds.speech.batch import SpeechBatchRequest
from pipeline.kinds.speech.fields import AudioFile
from workers.handler import Done, Outcome, Task
from workers.handlers.speech.script import write_script
from workers.handlers.speech.speaking import Speaking
from workers.handlers.speech.speech import SpeakingHandler
from workers.handlers.speech.timeline import Timeline
from workers.media.audio.ffmpeg import Ffmpeg, find_ffmpeg
from workers.media.audio.levelling import Levelled
from workers.media.audio.measured_track import MeasuredTrack
from workers.media.audio.mp3_parts import encoded_mp3
from workers.media.audio.track import Track

#: Characters of a chunk (docs/speech.md).
CHUNK_CHARACTERS = 250


B = TypeVar("B", bound=SpeechBatchRequest)


class ChapterHandler(SpeakingHandler[B, AudioFile], Generic[B]):
    """Speaks a text in chunks with pauses; a subclass decides what becomes of the track."""

    def setup(self) -> None:
        """Set the engines up, and find ffmpeg. Raises NotReady."""
        super().setup()
        self.ffmpeg = find_ffmpeg(self.settings)

    def speak_into(self, track: Track, task: Task[B], speaking: Speaking, timeline: Timeline) -> None:
        """Put the text at the end of a track, with its pauses, and note its times."""
        script = write_script(task.input, limit=CHUNK_CHARACTERS, language=speaking.language)
        for number, spoken in enumerate(speaking.perform(script, stop=task.is_stopped), start=1):
            track.append_silence(spoken.silence)
            timeline.add(spoken, track.duration)
            if spoken.utterance is not None:
                track.append_sound(spoken.utterance.sound)
            task.progress(number, len(script))


class SpeechBatchHandler(ChapterHandler[SpeechBatchRequest]):
    """Speaks a text into an MP3."""

    def speak(self, task: Task[SpeechBatchRequest], speaking: Speaking) -> Outcome[AudioFile]:
        """Speak one text."""
        timeline = Timeline(task.input, speaking.language, wanted=task.input.timestamps)
        voice = speaking.voice
        with MeasuredTrack(voice.natural_sample_rate_hertz) as track:
            self.speak_into(track, task, speaking, timeline)
            sound = Levelled(track, track.measured())
            return keep_mp3(task, sound, self.ffmpeg, engine=voice.engine, voice=voice.id, timeline=timeline)


def keep_mp3(
    task: Task[Any],
    sound: Levelled,
    ffmpeg: Ffmpeg,
    *,
    engine: str,
    voice: str | None = None,
    timeline: Timeline | None = None,
) -> Done[AudioFile]:
    """Keep a sound as an MP3. Raises FfmpegFailed, Stopped, ServiceUnavailable."""
    with encoded_mp3(ffmpeg, sound, stop=task.is_stopped) as file:
        artifact = task.store(file, suffix=".mp3")
    duration = timedelta(seconds=len(sound) / sound.sample_rate)
    seconds = duration.total_seconds()
    times = None if timeline is None else timeline.keep(task, duration)
    return Done(AudioFile(artifact=artifact, duration_seconds=seconds, voice=voice, times=times), engine=engine)
