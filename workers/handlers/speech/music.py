"""Music: the handlers that put music under speech, made here or brought along."""

from collections.abc import Sequence
from datetime import timedelta

from pipeline.kind import Done, Outcome, Task
from pipeline.kinds.speech.music import MusicFields
from pipeline.offers import Offer
from workers.handlers.speech.batch import SpeechBatchHandler
from workers.handlers.speech.recording import keep_mp3
from workers.handlers.speech.speaker import Speaking
from workers.media.audio.decoding import AudioTooLong, AudioUndecodable, decode
from workers.media.audio.ffmpeg import Ffmpeg, find_ffmpeg
from workers.media.audio.mixing import MIX_RATE, Bed, mix
from workers.media.audio.track import Track
from workers.resources import Resources

#: More music of a file than this is not needed by anybody, and 25 MB can hold months of silence.
MAX_MUSIC = timedelta(hours=4)


def decode_upload(task: Task, field: str, ffmpeg: Ffmpeg, *, max_duration: timedelta) -> Track:
    """Return an uploaded file as a track; the caller closes it.

    Raises AudioUndecodable and AudioTooLong, which name the field, as two files may have come; Stopped."""
    try:
        with task.upload(field) as upload:
            return decode(ffmpeg, upload, sample_rate=MIX_RATE, max_duration=max_duration, stop=task.is_stopped)
    except (AudioUndecodable, AudioTooLong) as error:
        raise type(error)(f"{field}: {error.message}", **error.details, field=field) from error


def keep_mix(task: Task, speech: Track, music: Track, ffmpeg: Ffmpeg, *, engine: str) -> Done:
    """Keep music under speech as one MP3, as long as the speech."""
    fields = MusicFields.model_validate(task.input)
    bed = Bed(fields.music_volume, timedelta(milliseconds=fields.fade_duration), fields.duck)
    with mix(speech, music, bed, stop=task.is_stopped) as track:
        return keep_mp3(task, track, ffmpeg, engine=engine)


class SpeechWithMusicHandler(SpeechBatchHandler):
    """Speaks a text over the music that came with it."""

    def carry_out(self, task: Task, speaking: Speaking) -> Outcome:
        """Speak one text over its music."""
        # The music first: a file that is none is told before anything is spoken.
        with (
            decode_upload(task, "music", self.ffmpeg, max_duration=MAX_MUSIC) as music,
            self.spoken(task, speaking) as spoken,
            spoken.resampled(self.ffmpeg, MIX_RATE) as speech,
        ):
            return keep_mix(task, speech, music, self.ffmpeg, engine=speaking.voice.engine)


class AddMusicHandler:
    """Puts music under a recording that came with it; nothing is spoken."""

    batch = 1

    def __init__(self, resources: Resources) -> None:
        self._settings = resources.settings
        self.slots = self._settings.synthesis.slots

    def setup(self) -> None:
        """Find ffmpeg. Raises NotReady."""
        self._ffmpeg = find_ffmpeg(self._settings)

    def offers(self) -> Sequence[Offer]:
        """Return nothing: there is nothing to choose."""
        return ()

    def run(self, tasks: Sequence[Task]) -> Sequence[Outcome]:
        """Put music under each recording."""
        return [self._carry_out(task) for task in tasks]

    def _carry_out(self, task: Task) -> Outcome:
        longest = timedelta(minutes=self._settings.synthesis.max_recording_minutes)
        with (
            decode_upload(task, "audio", self._ffmpeg, max_duration=longest) as recording,
            decode_upload(task, "music", self._ffmpeg, max_duration=MAX_MUSIC) as music,
        ):
            return keep_mix(task, recording, music, self._ffmpeg, engine="ffmpeg")
