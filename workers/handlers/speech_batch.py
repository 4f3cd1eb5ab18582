"""Speech batch: a long text becomes one MP3, sentence by sentence, at an even loudness."""

from datetime import timedelta

from pipeline.kind import Done, Outcome, Task
from pipeline.kinds.speech_batch import SpeechBatchRequest
from pipeline.sentences import split_text
from workers.audio.ffmpeg import find_ffmpeg
from workers.audio.loudness import normalised
from workers.audio.mp3 import encode_mp3
from workers.audio.track import Track
from workers.handlers.speaker import Speaking
from workers.handlers.speech import SpeakingHandler

#: Characters of a chunk (SPEC.md, POST /tts/batch).
CHUNK_CHARACTERS = 250


class SpeechBatchHandler(SpeakingHandler):
    """Speaks a text into an MP3."""

    def setup(self) -> None:
        """Set the engines up, and find ffmpeg. Raises NotReady."""
        super().setup()
        self.ffmpeg = find_ffmpeg(self.settings)

    def carry_out(self, task: Task) -> Outcome:
        """Speak one text."""
        speaking = self.speaker.choose(task.input)
        with self.spoken(task, speaking) as track:
            return self.deliver(task, track, engine=speaking.voice.engine)

    def spoken(self, task: Task, speaking: Speaking) -> Track:
        """Return the text as one track, with the pauses between its chunks; the caller closes it."""
        request = SpeechBatchRequest.model_validate(task.input)
        pause = timedelta(milliseconds=request.pause_duration)
        chunks = split_text(request.text, limit=CHUNK_CHARACTERS)
        track: Track | None = None
        try:
            for number, sound in enumerate(speaking.speak_all(chunks, stop=task.is_stopped), start=1):
                if sound is not None and track is None:
                    track = Track(sound.sample_rate)
                elif sound is not None and track is not None:
                    track.append_silence(pause)
                if sound is not None and track is not None:
                    track.append_sound(sound)
                task.progress(number, len(chunks))
        except BaseException:
            if track is not None:
                track.close()
            raise
        if track is None:
            raise RuntimeError("speak_all ended without a sound and without an error.")
        return track

    def deliver(self, task: Task, track: Track, *, engine: str) -> Outcome:
        """Bring a track to -16 LUFS, and keep it as an MP3."""
        mp3 = encode_mp3(self.ffmpeg, normalised(track), sample_rate=track.sample_rate, stop=task.is_stopped)
        artifact = task.store(mp3, suffix=".mp3")
        return Done({"artifact": artifact, "duration_seconds": track.duration.total_seconds()}, engine=engine)
