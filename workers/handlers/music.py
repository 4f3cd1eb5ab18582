"""Music: speech over music, made here or brought along."""

from datetime import timedelta

from pipeline.kind import Done, Outcome, Task
from pipeline.music import MusicFields
from workers.audio.decoding import decode
from workers.audio.ffmpeg import find_ffmpeg
from workers.audio.mixing import MIX_RATE, Bed, mix
from workers.audio.track import Track
from workers.handlers.speech_batch import SpeechBatchHandler

#: More music than this of a file is not needed by anybody, and 25 MB can hold months of silence.
MAX_MUSIC = timedelta(hours=4)


class SpeechWithMusicHandler(SpeechBatchHandler):
    """Speaks a text over the music that came with it."""

    def carry_out(self, task: Task) -> Outcome:
        """Speak one text over its music."""
        speaking = self.speaker.choose(task.input)
        # The music first: a file that is none is told before anything is spoken.
        with (
            self.decoded(task, "music", MAX_MUSIC) as music,
            self.spoken(task, speaking) as spoken,
            spoken.resampled(self.ffmpeg, MIX_RATE) as speech,
        ):
            return self.mixed(task, speech, music, engine=speaking.voice.engine)

    def decoded(self, task: Task, field: str, max_duration: timedelta) -> Track:
        """Return an uploaded file as a track; the caller closes it. Raises AudioUndecodable, AudioTooLong."""
        return decode(self.ffmpeg, task.upload(field), sample_rate=MIX_RATE, max_duration=max_duration)

    def mixed(self, task: Task, speech: Track, music: Track, *, engine: str) -> Outcome:
        """Keep the two as one MP3, as long as the speech."""
        fields = MusicFields.model_validate(task.input)
        bed = Bed(fields.music_volume, timedelta(milliseconds=fields.fade_duration), fields.duck)
        with mix(speech, music, bed, stop=task.is_stopped) as track:
            return self.deliver(task, track, engine=engine)


class AddMusicHandler(SpeechWithMusicHandler):
    """Puts music under a recording that came with it; nothing is spoken."""

    def setup(self) -> None:
        """Find ffmpeg. Raises NotReady."""
        self.ffmpeg = find_ffmpeg(self.settings)

    def carry_out(self, task: Task) -> Outcome:
        """Put music under one recording."""
        longest = timedelta(minutes=self.settings.synthesis.max_recording_minutes)
        with self.decoded(task, "audio", longest) as recording, self.decoded(task, "music", MAX_MUSIC) as music:
            outcome = self.mixed(task, recording, music, engine="ffmpeg")
        if isinstance(outcome, Done):
            task.progress(1, 1)
        return outcome
