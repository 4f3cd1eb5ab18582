"""Recording: a finished track becomes the MP3 that was asked for."""

from typing import Any

from pipeline.kinds.speech.fields import AudioFile
from workers.handler import Done, Task
from workers.media.audio.ffmpeg import Ffmpeg
from workers.media.audio.loudness import normalised
from workers.media.audio.mp3 import encoded_mp3
from workers.media.audio.track import Track


def keep_mp3(task: Task[Any], track: Track, ffmpeg: Ffmpeg, *, engine: str) -> Done[AudioFile]:
    """Bring a track to -16 LUFS, and keep it as an MP3. Raises FfmpegFailed, Stopped, ServiceUnavailable."""
    blocks = normalised(track)
    with encoded_mp3(ffmpeg, blocks, sample_rate=track.sample_rate, stop=task.is_stopped) as file:
        artifact = task.store(file, suffix=".mp3")
    return Done(AudioFile(artifact=artifact, duration_seconds=track.duration.total_seconds()), engine=engine)
