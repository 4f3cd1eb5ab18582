"""Long transcription: the same for a resumable upload, or for a recording behind a URL."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import IO

from capabilities.transcription.handlers.transcription import TranscriptionHandler
from capabilities.transcription.kinds.transcription import RecordingInput, TranscriptFile
from pipeline.errors import Gone
from workers.handler import Outcome, Retry, Task
from workers.media.downloads.recordings import RecordingUrlFailed, download_recording

#: Downloads that are tried, and the pause before the next.
TRIES = 3
PAUSE = timedelta(seconds=20)


class LongTranscriptionHandler(TranscriptionHandler):
    """Writes a transcript of a recording that is not a file of the request."""

    def carry_out(self, task: Task[RecordingInput]) -> Outcome[TranscriptFile]:
        try:
            return super().carry_out(task)
        except RecordingUrlFailed as error:
            if error.is_passing and task.attempts < TRIES:
                return Retry(PAUSE, error)
            raise

    @contextmanager
    def _opened(self, task: Task[RecordingInput]) -> Iterator[IO[bytes]]:
        if task.input.url is None:
            with task.resumable_upload() as upload:
                yield upload
            return
        with ExitStack() as opened:
            try:
                upload = opened.enter_context(task.upload("audio"))  # downloaded by an earlier attempt
            except Gone:
                upload = opened.enter_context(self._downloaded(task, task.input.url))
            yield upload

    @contextmanager
    def _downloaded(self, task: Task[RecordingInput], url: str) -> Iterator[IO[bytes]]:
        """Download the recording, and keep it for other attempts: podcasts put other advertisements into each copy."""

        with tempfile.TemporaryFile(prefix="pressroom-") as file:
            download_recording(
                url,
                file,
                self.settings.fetch,
                max_bytes=self.settings.uploads.max_bytes,
                stop=task.is_stopped,
            )
            file.seek(0)
            task.keep_upload("audio", file)
            file.seek(0)
            yield file
