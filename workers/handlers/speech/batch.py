"""Speech batch: a long text becomes one MP3, sentence by sentence, at an even loudness."""

from datetime import timedelta
from typing import Any, Generic, TypeVar

from pipeline.kinds.speech.batch import SpeechBatchRequest
from pipeline.kinds.speech.fields import AudioFile
from pipeline.kinds.speech.sentences import split_text
from workers.handler import Done, Outcome, Task
from workers.handlers.speech.speech import Speaking, SpeakingHandler
from workers.media.audio.ffmpeg import Ffmpeg, find_ffmpeg
from workers.media.audio.loudness import normalised
from workers.media.audio.mp3 import encoded_mp3
from workers.media.audio.track import Track, new_track

#: Characters of a chunk (docs/speech.md).
CHUNK_CHARACTERS = 250


B = TypeVar("B", bound=SpeechBatchRequest)


class ChapterHandler(SpeakingHandler[B, AudioFile], Generic[B]):
    """Speaks a text in chunks with pauses; a subclass decides what becomes of the track."""

    def setup(self) -> None:
        """Set the engines up, and find ffmpeg. Raises NotReady."""
        super().setup()
        self.ffmpeg = find_ffmpeg(self.settings)

    def spoken(self, task: Task[B], speaking: Speaking) -> Track:
        """Return the text as one track, with the pauses between its chunks; the caller closes it."""
        request = task.input
        pause = timedelta(milliseconds=request.pause_duration)
        chunks = split_text(request.text, limit=CHUNK_CHARACTERS)
        with new_track(speaking.voice.natural_sample_rate_hertz) as track:
            for number, sound in enumerate(speaking.speak_all(chunks, stop=task.is_stopped), start=1):
                if sound is not None:
                    if len(track):
                        track.append_silence(pause)
                    track.append_sound(sound)
                task.progress(number, len(chunks))
        return track


class SpeechBatchHandler(ChapterHandler[SpeechBatchRequest]):
    """Speaks a text into an MP3."""

    def speak(self, task: Task[SpeechBatchRequest], speaking: Speaking) -> Outcome[AudioFile]:
        """Speak one text."""
        with self.spoken(task, speaking) as track:
            return keep_mp3(task, track, self.ffmpeg, engine=speaking.voice.engine)


def keep_mp3(task: Task[Any], track: Track, ffmpeg: Ffmpeg, *, engine: str) -> Done[AudioFile]:
    """Bring a track to -16 LUFS, and keep it as an MP3. Raises FfmpegFailed, Stopped, ServiceUnavailable."""
    blocks = normalised(track)
    with encoded_mp3(ffmpeg, blocks, sample_rate=track.sample_rate, stop=task.is_stopped) as file:
        artifact = task.store(file, suffix=".mp3")
    return Done(AudioFile(artifact=artifact, duration_seconds=track.duration.total_seconds()), engine=engine)
