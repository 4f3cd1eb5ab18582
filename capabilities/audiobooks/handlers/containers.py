"""Containers: a joined book as an M4B with chapters, as a zip of MP3s, or as a transcript."""

import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from typing import IO

from capabilities.audiobooks.handlers.joining import COVER, ENCODING_LIMIT, Joiner
from capabilities.audiobooks.kinds.book_file import BookFileInput
from pipeline.subtitles.segments import Segment
from pipeline.subtitles.subtitles import subtitles, vtt

#: A chapter's frames of AAC, each with a header, so that chapters can be put together.
#: The default coder takes 2.6 times as long.
AAC = ("-c:a", "aac", "-aac_coder", "fast", "-b:a", "96k", "-f", "adts", "fd:")
#: AAC's clock has 28,224,000 ticks a second, by which a chapter's length of 32 bits would end at 152 s.
M4B = ("-c:a", "copy", "-movie_timescale", "1000", "-brand", "M4B ", "-f", "ipod", "fd:")
MP3 = ("-c:a", "libmp3lame", "-b:a", "192k", "-f", "mp3", "fd:")


def write_m4b(joiner: Joiner, file: IO[bytes]) -> None:
    """Write one M4B with chapters into a file. Raises FfmpegFailed, Stopped."""
    lengths: list[tuple[str, float]] = []
    with (
        tempfile.TemporaryFile(prefix="pressroom-") as frames,
        tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as names,
    ):
        for chapter in joiner.chapters(AAC, has_tags=False):
            if lengths:
                # Skip the encoder's priming frame: the last frame of the chapter before is silence and takes its place.
                skip_frame(chapter.file)
            shutil.copyfileobj(chapter.file, frames)
            lengths.append((chapter.title, chapter.seconds))
        names.write(chapter_list(joiner.book, lengths))
        names.flush()
        frames.seek(0)
        listed = ["-protocol_whitelist", "file", "-f", "ffmetadata", "-i", names.name]
        with joiner.cover_input() as cover:
            taken = ["-map", "0:a", *(["-map", "2:v", *COVER] if cover else [])]
            taken += ["-map_metadata", "1", "-map_chapters", "1"]
            sound = ["-protocol_whitelist", "fd", "-f", "aac", "-i", "fd:"]
            with joiner.ffmpeg.start(
                [*sound, *listed, *cover, *taken, *M4B], stdin=frames, stdout=file, time_limit=ENCODING_LIMIT
            ) as run:
                run.check()


def write_mp3s(joiner: Joiner, file: IO[bytes]) -> None:
    """Write a zip with an MP3 a chapter into a file. Raises FfmpegFailed, Stopped."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for chapter in joiner.chapters(MP3, has_cover=True):
            add_file(archive, f"{chapter.number:03} {safe_name(chapter.title)}.mp3", chapter.file)


def write_vtt(joiner: Joiner, file: IO[bytes]) -> None:
    """Write the book's sentences with their times in its M4B into a file. Raises FfmpegFailed, Stopped."""
    cues: list[Segment] = []
    begins = 0.0
    for chapter in joiner.chapters(has_tags=False):
        ends = begins + chapter.seconds
        said = [sentence for passage in chapter.passages for sentence in passage.sentences]
        cues += [sentence.moved(begins, latest=ends) for sentence in said]
        begins = ends
    file.write(vtt(subtitles(cues, language=joiner.book.language.partition("-")[0], latest=begins)).encode())


def skip_frame(file: IO[bytes]) -> None:
    """Go past the first frame of AAC in a file with headers (ISO/IEC 13818-7, 6.2)."""
    header = file.read(6)
    file.seek((header[3] & 3) << 11 | header[4] << 3 | header[5] >> 5)


def add_file(archive: zipfile.ZipFile, name: str, file: IO[bytes]) -> None:
    """Add a file of any size to an archive, from its start."""
    file.seek(0)
    with archive.open(name, "w", force_zip64=True) as entry:
        shutil.copyfileobj(file, entry)


def chapter_list(book: BookFileInput, chapters: Sequence[tuple[str, float]]) -> str:
    """Return the names of a book's chapters and their times, from their seconds, in ffmpeg's own form."""
    lines = [";FFMETADATA1", f"title={_escaped(book.title)}", f"album={_escaped(book.title)}"]
    lines += [f"artist={_escaped(book.author)}", "genre=Audiobook"]
    start = 0.0
    for title, seconds in chapters:
        end = start + seconds
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
