"""Book file: the handler of POST /audiobooks/{job_id}/files, which joins passages with their silences."""

import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import IO

from capabilities.audiobooks.kinds.book_file import FORMS, BookFileInput, MadeBook
from capabilities.speech.handlers.rendering import source_of
from workers.engines import Stopped
from workers.handler import Done, Handler, Outcome, Task
from workers.media.audio.decoding import decode
from workers.media.audio.ffmpeg import Ffmpeg, find_ffmpeg, pcm_input
from workers.media.audio.loudness import loudness, profile
from workers.media.audio.track import BLOCK, Track
from workers.media.marks.marking import Made, stream_tags

#: Most books use 44.1 kHz, and so do shops that sell them.
SAMPLE_RATE = 44_100
#: Silence between passages and after the title of a chapter, and before and after a chapter (ACX asks for 0.5 to 1 s
#: at its head and 1 to 5 s at its tail).
PASSAGE_GAP, HEAD, TAIL = (timedelta(seconds=seconds) for seconds in (0.7, 0.7, 1.5))
PASSAGE_LIMIT, ENCODING_LIMIT = timedelta(minutes=30), timedelta(hours=3)
AAC = ("-c:a", "aac", "-b:a", "96k", "-brand", "M4B ", "-f", "ipod", "fd:")
MP3 = ("-c:a", "libmp3lame", "-b:a", "192k", "-f", "mp3", "fd:")


class BookFileHandler(Handler[BookFileInput, MadeBook]):
    """Joins one book at a time, beside the texts that its process speaks."""

    runs_apart = True

    def setup(self) -> None:
        """Find ffmpeg. Raises NotReady."""
        self._ffmpeg = find_ffmpeg(self.settings)

    def carry_out(self, task: Task[BookFileInput]) -> Outcome[MadeBook]:
        """Join the passages of a book, chapter by chapter; its sound is on the disk and never whole in memory."""
        given = task.input
        joiner = Joiner(self._ffmpeg, task)
        with tempfile.TemporaryFile(prefix="pressroom-") as file:
            (joiner.m4b if given.format == "m4b" else joiner.zip)(file)
            file.seek(0)
            made = Made(given.engine, source=source_of(given.engine))
            artifact = task.store(file, suffix=FORMS[given.format][1], made=made)
        book = MadeBook(artifact=artifact, seconds=sum(joiner.lengths), loudness=tuple(joiner.levels))
        return Done(book, engine=given.engine)


class Joiner:
    """Joins the passages of one book; `lengths` in seconds and `levels` in LUFS are those of its chapters."""

    def __init__(self, ffmpeg: Ffmpeg, task: Task[BookFileInput]) -> None:
        self._ffmpeg = ffmpeg
        self._task = task
        self._book = task.input
        self.lengths: list[float] = []
        self.levels: list[float] = []

    def m4b(self, file: IO[bytes]) -> None:
        """Write one M4B with chapters into a file. Raises FfmpegFailed, Stopped."""
        with Track(SAMPLE_RATE) as whole, tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as chapters:
            for chapter in self._chapters():
                for block in _blocks(chapter):
                    whole.append(block)
            chapters.write(chapter_list(self._book, self.lengths))
            chapters.flush()
            names = ["-protocol_whitelist", "file", "-f", "ffmetadata", "-i", chapters.name]
            taken = ["-map", "0:a", "-map_metadata", "1", "-map_chapters", "1"]
            arguments = [*pcm_input(SAMPLE_RATE), *names, *taken, *AAC]
            whole.file.seek(0)
            with self._ffmpeg.start(arguments, stdin=whole.file, stdout=file, time_limit=ENCODING_LIMIT) as run:
                run.check()

    def zip(self, file: IO[bytes]) -> None:
        """Write a zip with an MP3 a chapter into a file. Raises FfmpegFailed, Stopped."""
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for number, chapter in enumerate(self._chapters(), start=1):
                title = self._book.parts[number - 1].title or f"Chapter {number}"
                with tempfile.TemporaryFile(prefix="pressroom-") as mp3:
                    tags = {
                        "title": title,
                        "album": self._book.title,
                        "artist": self._book.author,
                        "track": str(number),
                    }
                    named = [part for name, value in tags.items() for part in ("-metadata", f"{name}={value}")]
                    chapter.file.seek(0)
                    arguments = [*pcm_input(SAMPLE_RATE), *stream_tags(source_of(self._book.engine)), *named, *MP3]
                    with self._ffmpeg.start(
                        arguments, stdin=chapter.file, stdout=mp3, time_limit=ENCODING_LIMIT
                    ) as run:
                        run.check()
                    mp3.seek(0)
                    with archive.open(f"{number:03} {safe_name(title)}.mp3", "w", force_zip64=True) as entry:
                        while piece := mp3.read(2**20):
                            entry.write(piece)

    def _chapters(self) -> Iterator[Track]:
        """Yield the sound of each chapter; the next one takes its place."""
        for number, part in enumerate(self._book.parts, start=1):
            with Track(SAMPLE_RATE) as chapter:
                chapter.append_silence(HEAD)
                for place, sound in enumerate(part.sounds):
                    if self._task.is_stopped():
                        raise Stopped
                    chapter.append_silence(PASSAGE_GAP if place else timedelta())
                    self._append(chapter, self._task.stored(sound))
                chapter.append_silence(TAIL)
                self.lengths.append(chapter.duration.total_seconds())
                self.levels.append(round(loudness(profile(chapter)), 1))
                self._task.progress(number, len(self._book.parts) + 1)
                yield chapter

    def _append(self, chapter: Track, data: bytes) -> None:
        with tempfile.TemporaryFile(prefix="pressroom-") as file:
            file.write(data)
            file.seek(0)
            decoded = decode(
                self._ffmpeg,
                file,
                sample_rate=SAMPLE_RATE,
                max_duration=PASSAGE_LIMIT,
                stop=self._task.is_stopped,
            )
            with decoded:
                for block in _blocks(decoded):
                    chapter.append(block)


def chapter_list(book: BookFileInput, lengths: Sequence[float]) -> str:
    """Return the names and times of a book's chapters in ffmpeg's own form."""
    lines = [";FFMETADATA1", f"title={_escaped(book.title)}", f"album={_escaped(book.title)}"]
    lines += [f"artist={_escaped(book.author)}", "genre=Audiobook"]
    start = 0.0
    for number, (part, length) in enumerate(zip(book.parts, lengths, strict=True), start=1):
        end = start + length
        title = part.title or f"Chapter {number}"
        lines += ["[CHAPTER]", "TIMEBASE=1/1000", f"START={start * 1000:.0f}", f"END={end * 1000:.0f}"]
        lines += [f"title={_escaped(title)}"]
        start = end
    return "\n".join(lines) + "\n"


def safe_name(title: str) -> str:
    """Return a title as part of a file's name on any system."""
    kept = "".join(character if character.isalnum() or character in " -_" else " " for character in title)
    return " ".join(kept.split())[:80] or "chapter"


def _escaped(text: str) -> str:
    plain = " ".join(text.split())
    return "".join(f"\\{character}" if character in "=;#\\" else character for character in plain)


def _blocks(track: Track) -> Iterator[bytes]:
    for start in range(0, len(track), BLOCK):
        yield track.read(start, min(BLOCK, len(track) - start)).tobytes()
