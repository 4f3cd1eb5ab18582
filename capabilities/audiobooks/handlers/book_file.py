"""Book file: the handler of POST /audiobooks/{job_id}/files, which joins passages with their silences."""

import tempfile
from contextlib import suppress
from typing import IO

from capabilities.audiobooks.handlers.containers import write_m4b, write_mp3s, write_vtt
from capabilities.audiobooks.handlers.covers import jpeg_cover
from capabilities.audiobooks.handlers.epub_book import write_epub
from capabilities.audiobooks.handlers.joining import Joiner
from capabilities.audiobooks.kinds.book_file import FORMS, BookFileInput, MadeBook
from capabilities.speech.handlers.rendering import source_of
from pipeline.errors import ServiceUnavailable
from workers.handler import Done, Handler, Outcome, Task
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.marks.marking import Made

WRITERS = {"m4b": write_m4b, "mp3": write_mp3s, "epub": write_epub, "vtt": write_vtt}


class BookFileHandler(Handler[BookFileInput, MadeBook]):
    """Joins one book at a time, beside the texts that its process speaks."""

    runs_apart = True

    def setup(self) -> None:
        """Find ffmpeg. Raises NotReady."""
        self._ffmpeg = find_ffmpeg(self.settings)

    def carry_out(self, task: Task[BookFileInput]) -> Outcome[MadeBook]:
        """Join the passages of a book, chapter by chapter; its sound is on the disk and never whole in memory."""
        given = task.input
        joiner = Joiner(self._ffmpeg, task, self._cover(task))
        with tempfile.TemporaryFile(prefix="pressroom-") as file:
            WRITERS[given.format](joiner, file)
            artifact = self._kept(task, file)
        with suppress(ServiceUnavailable):  # they expire with the file
            joiner.kept.drop()
        made = MadeBook(artifact=artifact, seconds=joiner.seconds, title=given.title, chapters=tuple(joiner.measured))
        return Done(made, engine=" + ".join(_engines(given)) or None)

    def _cover(self, task: Task[BookFileInput]) -> bytes | None:
        """Return the picture that was sent, else the manuscript's, as JPEG. Raises ImageUndecodable, ImageTooLarge."""
        if task.input.picture is not None:
            with task.upload("cover") as file:
                return jpeg_cover(file.read())
        return None if task.input.cover is None else task.stored(task.input.cover)

    def _kept(self, task: Task[BookFileInput], file: IO[bytes]) -> str:
        file.seek(0)
        engines = _engines(task.input)
        made = Made(" + ".join(engines), source=source_of(*engines))
        return task.store(file, suffix=FORMS[task.input.format][1], made=made)


def _engines(book: BookFileInput) -> list[str]:
    return sorted({engine for part in book.parts for engine in part.engines})
