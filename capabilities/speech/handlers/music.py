"""Music: the handlers that put music under speech, or under an uploaded recording."""

from datetime import timedelta
from typing import Any

from capabilities.speech.handlers.batch import ChapterHandler, keep_mp3
from capabilities.speech.handlers.rendering import SpeechRenderer
from capabilities.speech.handlers.timeline import Timeline
from capabilities.speech.kinds.fields import AudioFile
from capabilities.speech.kinds.music import AddMusicRequest, MusicFields, SpeechWithMusicInput
from capabilities.speech.settings import SynthesisSettings
from workers.engines.resources import Resources
from workers.handler import Done, Handler, Outcome, Task
from workers.media.audio.decoding import AudioTooLong, AudioUndecodable, decode
from workers.media.audio.ffmpeg import Ffmpeg, find_ffmpeg
from workers.media.audio.levelling import Levelled
from workers.media.audio.mixing import MIX_RATE, Bed, mix
from workers.media.audio.track import Track
from workers.media.marks.marking import MIXED, Made

#: The longest music: 25 MB can hold months of silence.
MAX_MUSIC = timedelta(hours=4)
#: The maker of a mix of two uploads.
MIX = Made("ffmpeg", "composed", MIXED)


def decode_upload(task: Task[Any], field: str, ffmpeg: Ffmpeg, *, max_duration: timedelta) -> Track:
    """Return an uploaded file as a track; the caller closes it.

    Raises Stopped, and AudioUndecodable and AudioTooLong, which name the field, since a request may have two files."""
    try:
        with task.upload(field) as upload:
            return decode(ffmpeg, upload, sample_rate=MIX_RATE, max_duration=max_duration, stop=task.is_stopped)
    except (AudioUndecodable, AudioTooLong) as error:
        raise type(error)(f"{field}: {error.message}", **error.details, field=field) from error


def keep_mix(task: Task[MusicFields], speech: Track, music: Track, ffmpeg: Ffmpeg, **about: Any) -> Done[AudioFile]:
    """Store music under speech as one MP3, as long as intro, speech and outro; `about` goes to keep_mp3."""
    fields = task.input
    cut = [name for name, track in (("audio", speech), ("music", music)) if track.is_cut_short]
    if cut:
        short = f"{' and '.join(cut)}: the file ends before its header says; all of its sound was used."
        about["warning"] = " ".join(filter(None, (about.get("warning"), short)))
    bed = Bed(
        volume_db=fields.music_volume,
        fade=timedelta(milliseconds=fields.fade_duration),
        duck=fields.duck,
        intro=timedelta(seconds=fields.music_intro),
        outro=timedelta(seconds=fields.music_outro),
    )
    with mix(speech, music, bed, stop=task.is_stopped) as track:
        return keep_mp3(task, Levelled(track), ffmpeg, **about)


class SpeechWithMusicHandler(ChapterHandler[SpeechWithMusicInput]):
    """Speaks a text over the music that came with it."""

    def speak(self, task: Task[SpeechWithMusicInput], speaking: SpeechRenderer) -> Outcome[AudioFile]:
        begins = timedelta(seconds=task.input.music_intro)
        timeline = Timeline(task.input, speaking.language, wanted=task.input.timestamps, begins=begins)
        voice = speaking.voice
        # The music first: if it can't be decoded, nothing is spoken in vain.
        with (
            decode_upload(task, "music", self.ffmpeg, max_duration=MAX_MUSIC) as music,
            Track(voice.natural_sample_rate_hertz) as spoken,
        ):
            chunks = self.speak_into(spoken, task, speaking, timeline)
            about = {"made": speaking.made, "voice": voice.id, "warning": speaking.warning}
            with spoken.resampled(self.ffmpeg, MIX_RATE) as speech:
                return keep_mix(task, speech, music, self.ffmpeg, timeline=timeline, chunks=chunks, **about)


class AddMusicHandler(Handler[AddMusicRequest, AudioFile]):
    """Puts music under an uploaded recording."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self.slots = self.settings.of(SynthesisSettings).slots

    def setup(self) -> None:
        """Find ffmpeg. Raises NotReady."""
        self._ffmpeg = find_ffmpeg(self.settings)

    def carry_out(self, task: Task[AddMusicRequest]) -> Outcome[AudioFile]:
        longest = timedelta(minutes=self.settings.of(SynthesisSettings).max_recording_minutes)
        with (
            decode_upload(task, "audio", self._ffmpeg, max_duration=longest) as recording,
            decode_upload(task, "music", self._ffmpeg, max_duration=MAX_MUSIC) as music,
        ):
            return keep_mix(task, recording, music, self._ffmpeg, made=MIX)
