"""Transcription stream: transcribes an uploaded recording, and sends the text segment by segment."""

from datetime import timedelta

from capabilities.transcription.engines import HeardSegment
from capabilities.transcription.handlers.delivery import ENGLISH
from capabilities.transcription.handlers.transcription import ListeningHandler, RecordingProgress
from capabilities.transcription.kinds.transcription import RecordingInput
from capabilities.transcription.kinds.transcripts import transcription_credits
from pipeline.errors import PressroomError
from pipeline.storage.streams import Parts
from pipeline.subtitles.segments import join_texts
from workers.handler import Done, Failed, Outcome, Task


class _TextWriter:
    """Sends the text of each segment as a part."""

    def __init__(self, task: Task[RecordingInput]) -> None:
        self._task = task
        self.parts = Parts()
        self.credits = 0

    def add(self, listened: RecordingProgress, segment: HeardSegment) -> None:
        """Send a segment's text, with the space before it."""
        if segment.text:
            language = ENGLISH if self._task.input.task == "translate" else listened.transcribed.language
            space = join_texts([segment, segment], language)[len(segment.text) : -len(segment.text)]
            self._send(listened, (space if self.parts.count else "") + segment.text, segment.end)

    def finish(self, listened: RecordingProgress) -> None:
        """Send an empty part if nobody has spoken, so that the answer is an empty text."""
        if not self.parts.count:
            self._send(listened, "", listened.track.duration.total_seconds())

    def _send(self, listened: RecordingProgress, text: str, seconds: float) -> None:
        total = round(listened.track.duration.total_seconds(), 1)
        self.credits = min(self._task.price, transcription_credits(timedelta(seconds=seconds)) if text else 0)
        self.parts = self._task.add_part(
            text.encode(),
            done=min(round(seconds, 1), total),
            total=total,
            credits=self.credits,
            engine=listened.engine.name,
        )


class TranscriptionStreamHandler(ListeningHandler[Parts]):
    """Sends the text of a recording while it is transcribed."""

    def carry_out(self, task: Task[RecordingInput]) -> Outcome[Parts]:
        """Transcribe one recording. Once a part was sent, no other attempt can continue, and what was sent is paid."""
        writer = _TextWriter(task)
        try:
            with self.listened(task, resumes=False, heard=writer.add) as listened:
                writer.finish(listened)
                price = listened.price
                return Done(writer.parts, listened.engine.name, None if price == task.price else price)
        except PressroomError as error:
            if not writer.parts.count:
                raise
            return Failed(error, credits=writer.credits)
