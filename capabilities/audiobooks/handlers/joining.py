"""Joining: the chapters of a book, each with its sound, the times of its sentences, and what was measured of it."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import IO

import numpy as np

from capabilities.audiobooks.kinds.book_file import BookFileInput, MeasuredChapter
from capabilities.speech.handlers.rendering import source_of
from pipeline.subtitles.segments import Segment
from workers.engines import Stopped
from workers.handler import Task
from workers.media.audio.decoding import decode
from workers.media.audio.ffmpeg import Ffmpeg, pcm_input
from workers.media.audio.loudness import loudness, profile
from workers.media.audio.track import BLOCK, Track
from workers.media.marks.marking import stream_tags

#: Most books use 44.1 kHz, and so do shops that sell them.
SAMPLE_RATE = 44_100
#: Silence between passages and after the title of a chapter, and before and after a chapter (ACX asks for 0.5 to 1 s
#: at its head and 1 to 5 s at its tail).
PASSAGE_GAP, HEAD, TAIL = (timedelta(seconds=seconds) for seconds in (0.7, 0.7, 1.5))
PASSAGE_LIMIT, ENCODING_LIMIT = timedelta(hours=2), timedelta(hours=3)
#: The factor for passages, which are at -16 LUFS with peaks at -1.5 dB.
GAINS = {"podcast": 1.0, "acx": 10 ** (-3 / 20)}
#: Half a second is measured in blocks of a tenth. Digital silence counts as the least that 16 bits tell.
BLOCKS_A_SECOND, QUIET_BLOCKS, SILENCE_DB = 10, 5, -96.0


@dataclass(slots=True)
class TimedPassage:
    """A passage: its text, and its sentences with their times in the chapter."""

    text: str
    sentences: Sequence[Segment]


@dataclass(slots=True)
class JoinedChapter:
    """A chapter of a book, while its sound exists."""

    number: int
    title: str
    sound: Track
    passages: list[TimedPassage] = field(default_factory=list)


class Joiner:
    """Joins the passages of one book; `measured` has its chapters so far."""

    def __init__(self, ffmpeg: Ffmpeg, task: Task[BookFileInput], cover: bytes | None) -> None:
        self.ffmpeg = ffmpeg
        self.book = task.input
        self.cover = cover
        self.measured: list[MeasuredChapter] = []
        self._task = task

    def chapters(self) -> Iterator[JoinedChapter]:
        """Yield the chapters; the sound of each is gone when the next is asked for. Raises FfmpegFailed, Stopped."""
        for number, part in enumerate(self.book.parts, start=1):
            with Track(SAMPLE_RATE) as sound:
                chapter = JoinedChapter(number, part.title or f"Chapter {number}", sound)
                sound.append_silence(HEAD)
                scripts = part.scripts or ("",) * len(part.sounds)
                for place, (key, script) in enumerate(zip(part.sounds, scripts, strict=True)):
                    if self._task.is_stopped():
                        raise Stopped
                    sound.append_silence(PASSAGE_GAP if place else timedelta())
                    begins = sound.duration.total_seconds()
                    self._append(sound, self._task.stored(key))
                    if script:
                        told = json.loads(self._task.stored(script))
                        chapter.passages.append(_timed(told, begins, sound.duration.total_seconds()))
                sound.append_silence(TAIL)
                self.measured.append(measured(sound, chapter.title))
                self._task.progress(number, len(self.book.parts) + 1)
                yield chapter

    def encode(self, sound: Track, to: IO[bytes], options: Sequence[str], tags: dict[str, str]) -> None:
        """Write a chapter's sound as a marked file, with the cover. Raises FfmpegFailed."""
        named = [part for name, value in tags.items() for part in ("-metadata", f"{name}={value}")]
        sound.file.seek(0)
        with self.cover_input() as cover:
            taken = ["-map", "0:a", *(["-map", "1:v", *COVER] if cover else [])]
            arguments = [*pcm_input(SAMPLE_RATE), *cover, *taken, *stream_tags(source_of(self.book.engine)), *named]
            with self.ffmpeg.start(
                [*arguments, *options], stdin=sound.file, stdout=to, time_limit=ENCODING_LIMIT
            ) as run:
                run.check()

    @contextmanager
    def cover_input(self) -> Iterator[list[str]]:
        """Yield ffmpeg's options that read the cover; none without one."""
        if self.cover is None:
            yield []
            return
        with tempfile.NamedTemporaryFile(prefix="pressroom-", suffix=".jpg") as file:
            file.write(self.cover)
            file.flush()
            yield ["-protocol_whitelist", "file", "-f", "mjpeg", "-i", file.name]

    def _append(self, chapter: Track, data: bytes) -> None:
        gain = GAINS[self.book.loudness]
        with tempfile.TemporaryFile(prefix="pressroom-") as file:
            file.write(data)
            file.seek(0)
            decoded = decode(
                self.ffmpeg, file, sample_rate=SAMPLE_RATE, max_duration=PASSAGE_LIMIT, stop=self._task.is_stopped
            )
            with decoded:
                for block in blocks(decoded):
                    quieter = block if gain == 1.0 else np.rint(block * np.float32(gain)).astype("<i2")
                    chapter.append(quieter.tobytes())


#: The cover's stream, as players expect it.
COVER = ("-c:v", "copy", "-disposition:v", "attached_pic", "-metadata:s:v", "comment=Cover (front)")


def blocks(track: Track) -> Iterator["np.ndarray[tuple[int], np.dtype[np.int16]]"]:
    """Yield the samples of a track, some at a time."""
    for start in range(0, len(track), BLOCK):
        yield track.read(start, min(BLOCK, len(track) - start))


def measured(sound: Track, title: str) -> MeasuredChapter:
    """Return what is measured of a chapter."""
    found = profile(sound)
    length = sound.sample_rate // BLOCKS_A_SECOND
    powers = np.array(
        [
            np.square(sound.read(start, length).astype(np.float32) / 32_768).mean()
            for start in range(0, max(length, len(sound) - length + 1), length)
        ]
    )
    quiet = np.convolve(powers, np.ones(QUIET_BLOCKS) / QUIET_BLOCKS, mode="valid") if powers.size > 5 else powers
    return MeasuredChapter(
        title=title,
        seconds=round(sound.duration.total_seconds(), 2),
        loudness_lufs=max(SILENCE_DB, round(loudness(found), 1)),
        peak_db=_decibels(float(found.peaks.max(initial=0)) ** 2),
        rms_db=_decibels(float(powers.mean())),
        noise_floor_db=_decibels(float(quiet.min())),
    )


def _decibels(power: float) -> float:
    return round(max(SILENCE_DB, 10 * float(np.log10(power))), 1) if power > 0 else SILENCE_DB


def _timed(script: dict[str, object], begins: float, ends: float) -> TimedPassage:
    told = script["sentences"]
    assert isinstance(told, list)  # noqa: S101 - a passage wrote it
    sentences = [Segment(start=start, end=end, text=text).moved(begins, latest=ends) for start, end, text in told]
    return TimedPassage(str(script["text"]), sentences)
