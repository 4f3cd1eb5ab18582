"""Passage: the handler of POST /audiobooks, which speaks one passage at a time."""

import subprocess
import tempfile
from datetime import timedelta

from capabilities.audiobooks.kinds.audiobook import PassageInput
from capabilities.speech.handlers.batch import CHUNK_CHARACTERS
from capabilities.speech.handlers.rendering import SpeechRenderer
from capabilities.speech.handlers.script import write_script
from capabilities.speech.handlers.speech import SpeakingHandler, append_all
from capabilities.speech.handlers.timeline import Timeline
from capabilities.speech.kinds.fields import AudioFile
from workers.handler import Done, Outcome, Task
from workers.media.audio.ffmpeg import find_ffmpeg, pcm_input
from workers.media.audio.levelling import Levelled
from workers.media.audio.loudness import MeasuredTrack

#: Lossless: passages are joined and encoded once more.
FLAC = ("-c:a", "flac", "-sample_fmt", "s16", "-map_metadata", "-1", "-bitexact", "-f", "flac", "fd:")
ENCODING_LIMIT = timedelta(minutes=5)
SUFFIX = ".flac"


class PassageHandler(SpeakingHandler[PassageInput, AudioFile]):
    """Speaks a passage into a FLAC file, or takes it from an earlier audiobook."""

    def setup(self) -> None:
        """Set the engines up, and find ffmpeg. Raises NotReady."""
        super().setup()
        self._ffmpeg = find_ffmpeg(self.settings)

    def carry_out(self, task: Task[PassageInput]) -> Outcome[AudioFile]:
        """Copy the passage's earlier sound, or speak it."""
        given = task.input
        if given.sound is None:
            return super().carry_out(task)
        kept = task.store(task.stored(given.sound.artifact), suffix=SUFFIX)
        return Done(given.sound.model_copy(update={"artifact": kept}), engine=given.engine, credits=0)

    def speak(self, task: Task[PassageInput], speaking: SpeechRenderer) -> Outcome[AudioFile]:
        """Speak a passage."""
        script = write_script(task.input, limit=CHUNK_CHARACTERS, language=speaking.language)
        timeline = Timeline(task.input, speaking.language, wanted=False)
        rate = speaking.voice.natural_sample_rate_hertz
        with MeasuredTrack(rate) as track, tempfile.TemporaryFile(prefix="pressroom-") as file:
            for number, _ in enumerate(append_all(track, speaking, script, timeline, task.is_stopped), start=1):
                task.progress(number / len(script), 1)
            with self._ffmpeg.start(
                [*pcm_input(rate), *FLAC], stdin=subprocess.PIPE, stdout=file, time_limit=ENCODING_LIMIT
            ) as run:
                for block in Levelled(track, track.measured()).blocks():
                    run.write(block)
                run.check()
            file.seek(0)
            artifact = task.store(file, suffix=SUFFIX, made=speaking.made)
            seconds = track.duration.total_seconds()
        sound = AudioFile(
            artifact=artifact, duration_seconds=seconds, voice=speaking.voice.id, warning=speaking.warning
        )
        return Done(sound, engine=speaking.voice.engine, models=speaking.made.models)
