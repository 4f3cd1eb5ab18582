"""Containers: a joined book as an M4B with chapters, as a zip of MP3s, or as a transcript."""

import tempfile
import zipfile
from collections.abc import Sequence
from typing import IO

from capabilities.audiobooks.handlers.joining import COVER, ENCODING_LIMIT, SAMPLE_RATE, Joiner, blocks
from capabilities.audiobooks.kinds.book_file import BookFileInput, MeasuredChapter
from pipeline.subtitles.segments import Segment
from pipeline.subtitles.subtitles import subtitles, vtt
from workers.media.audio.ffmpeg import pcm_input
from workers.media.audio.track import Track

AAC = ("-c:a", "aac", "-b:a", "96k", "-brand", "M4B ", "-f", "ipod", "fd:")
MP3 = ("-c:a", "libmp3lame", "-b:a", "192k", "-f", "mp3", "fd:")


def write_m4b(joiner: Joiner, file: IO[bytes]) -> None:
    """Write one M4B with chapters into a file. Raises FfmpegFailed, Stopped."""
    with Track(SAMPLE_RATE) as whole, tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as chapters:
        for chapter in joiner.chapters():
            for block in blocks(chapter.sound):
                whole.append(block.tobytes())
        chapters.write(chapter_list(joiner.book, joiner.measured))
        chapters.flush()
        names = ["-protocol_whitelist", "file", "-f", "ffmetadata", "-i", chapters.name]
        with joiner.cover_input() as cover:
            taken = ["-map", "0:a", *(["-map", "2:v", *COVER] if cover else [])]
            taken += ["-map_metadata", "1", "-map_chapters", "1"]
            whole.file.seek(0)
            with joiner.ffmpeg.start(
                [*pcm_input(SAMPLE_RATE), *names, *cover, *taken, *AAC],
                stdin=whole.file,
                stdout=file,
                time_limit=ENCODING_LIMIT,
            ) as run:
                run.check()


def write_mp3s(joiner: Joiner, file: IO[bytes]) -> None:
    """Write a zip with an MP3 a chapter into a file. Raises FfmpegFailed, Stopped."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for chapter in joiner.chapters():
            tags = {"title": chapter.title, "album": joiner.book.title, "artist": joiner.book.author}
            with tempfile.TemporaryFile(prefix="pressroom-") as mp3:
                joiner.encode(chapter.sound, mp3, MP3, {**tags, "track": str(chapter.number)})
                add_file(archive, f"{chapter.number:03} {safe_name(chapter.title)}.mp3", mp3)


def write_vtt(joiner: Joiner, file: IO[bytes]) -> None:
    """Write the book's sentences with their times in its M4B into a file. Raises FfmpegFailed, Stopped."""
    cues: list[Segment] = []
    begins = 0.0
    for chapter in joiner.chapters():
        ends = begins + chapter.sound.duration.total_seconds()
        said = [sentence for passage in chapter.passages for sentence in passage.sentences]
        cues += [sentence.moved(begins, latest=ends) for sentence in said]
        begins = ends
    file.write(vtt(subtitles(cues, language=joiner.book.language.partition("-")[0], latest=begins)).encode())


def add_file(archive: zipfile.ZipFile, name: str, file: IO[bytes]) -> None:
    """Add a file of any size to an archive, from its start."""
    file.seek(0)
    with archive.open(name, "w", force_zip64=True) as entry:
        while piece := file.read(2**20):
            entry.write(piece)


def chapter_list(book: BookFileInput, chapters: Sequence[MeasuredChapter]) -> str:
    """Return the names and times of a book's chapters in ffmpeg's own form."""
    lines = [";FFMETADATA1", f"title={_escaped(book.title)}", f"album={_escaped(book.title)}"]
    lines += [f"artist={_escaped(book.author)}", "genre=Audiobook"]
    start = 0.0
    for chapter in chapters:
        end = start + chapter.seconds
        lines += ["[CHAPTER]", "TIMEBASE=1/1000", f"START={start * 1000:.0f}", f"END={end * 1000:.0f}"]
        lines += [f"title={_escaped(chapter.title)}"]
        start = end
    return "\n".join(lines) + "\n"


def safe_name(title: str) -> str:
    """Return a title as part of a file's name on any system."""
    kept = "".join(character if character.isalnum() or character in " -_" else " " for character in title)
    return " ".join(kept.split())[:80] or "chapter"


def _escaped(text: str) -> str:
    plain = " ".join(text.split())
    return "".join(f"\\{character}" if character in "=;#\\" else character for character in plain)
