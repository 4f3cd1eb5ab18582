"""Joining: the chapters of a book, each with its sound, the times of its sentences, and what was measured of it.

Joining, measuring and encoding a chapter take one core each, so several chapters are made at once."""

import json
import os
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from itertools import islice
from typing import IO

import numpy as np
from numpy.typing import NDArray

from capabilities.audiobooks.handlers.kept_chapters import JoinedChapter, KeptChapters, TimedPassage
from capabilities.audiobooks.kinds.book_file import BookFileInput, BookPart, MeasuredChapter
from capabilities.speech.handlers.rendering import source_of
from pipeline.errors import Gone
from pipeline.subtitles.segments import Segment
from workers.engines import Stopped
from workers.handler import Task
from workers.media.audio.ffmpeg import Ffmpeg, pcm_input
from workers.media.audio.flac import read_flac
from workers.media.audio.loudness import loudness, profile
from workers.media.audio.pcm import SAMPLE_BYTES
from workers.media.audio.track import Track
from workers.media.marks.marking import stream_tags

#: Most books use 44.1 kHz, and so do shops that sell them.
SAMPLE_RATE = 44_100
#: Silence between passages and after the title of a chapter, and before and after a chapter (ACX asks for 0.5 to 1 s
#: at its head and 1 to 5 s at its tail).
PASSAGE_GAP, HEAD, TAIL = (timedelta(seconds=seconds) for seconds in (0.7, 0.7, 1.2))
ENCODING_LIMIT = timedelta(hours=3)
#: ACX's gain in decibels of passages, which have -16 LUFS and peaks of -1.5 dB; and the most, for a chapter that is
#: mostly silence, to reach an RMS. libmp3lame takes 0.26 dB.
ACX_GAIN, ACX_MOST_GAIN, ACX_RMS = -3.0, -1.7, -22.5
#: Samples of an AAC frame: a chapter has whole ones, so that chapters encoded apart can be put together.
FRAME = 1_024
#: The most chapters that are made at once.
MOST_CHAPTERS = 4
#: Half a second is measured in blocks of a tenth. Digital silence counts as the least that 16 bits tell.
BLOCKS_A_SECOND, QUIET_BLOCKS, SILENCE_DB = 10, 5, -96.0


class Joiner:
    """Joins the passages of one book; `seconds` is its length so far, and `measured` has its chapters for a report."""

    def __init__(self, ffmpeg: Ffmpeg, task: Task[BookFileInput], cover: bytes | None) -> None:
        self.ffmpeg = ffmpeg
        self.book = task.input
        self.cover = cover
        self.seconds = 0.0
        self.measured: list[MeasuredChapter] = []
        self.kept = KeptChapters(task)
        self._task = task
        self._is_left = False

    def chapters(
        self, options: Sequence[str] = (), *, has_tags: bool = True, has_cover: bool = False
    ) -> Iterator[JoinedChapter]:
        """Yield the chapters, each with a file by ffmpeg's options; without any, the file is empty.

        Finished chapters are kept until the whole file is stored. Raises FfmpegFailed, Stopped, ServiceUnavailable."""
        waiting: deque[Future[JoinedChapter]] = deque()
        left = iter(enumerate(self.book.parts, start=1))
        at_once = min(MOST_CHAPTERS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
        with ThreadPoolExecutor(at_once, "chapter") as threads:
            try:
                while True:
                    # One more than there are threads, so that none waits for the reader.
                    for number, part in islice(left, at_once + 1 - len(waiting)):
                        tags = self._tags(number, part) if has_tags else ()
                        waiting.append(threads.submit(self._found, number, part, (*tags, *options), has_cover))
                    if not waiting:
                        return
                    chapter = waiting.popleft().result()
                    with chapter.file:
                        self.seconds += chapter.seconds
                        self.measured += [chapter.measured] if chapter.measured else []
                        if options and chapter.number > self.kept.last:  # without a sound there is little to repeat
                            self.kept.add(chapter)
                        self._task.progress(chapter.number, len(self.book.parts) + 1, checkpoint=self.kept.checkpoint())
                        yield chapter
            finally:
                self._is_left = True
                threads.shutdown(cancel_futures=True)
                for left_over in waiting:
                    if not left_over.cancelled() and not left_over.exception():
                        left_over.result().file.close()

    def _found(self, number: int, part: BookPart, options: Sequence[str], has_cover: bool) -> JoinedChapter:
        if number <= self.kept.last:
            with suppress(Gone):
                return self.kept.read(number)
        return self._chapter(number, part, options, has_cover)

    def _chapter(self, number: int, part: BookPart, options: Sequence[str], has_cover: bool) -> JoinedChapter:
        title = part.title or f"Chapter {number}"
        passages: list[TimedPassage] = []
        with ExitStack() as undone, Track(SAMPLE_RATE) as sound:
            file = undone.enter_context(tempfile.TemporaryFile(prefix="pressroom-"))
            sound.append_silence(HEAD)
            scripts = part.scripts or ("",) * len(part.sounds)
            for place, (key, script) in enumerate(zip(part.sounds, scripts, strict=True)):
                sound.append_silence(PASSAGE_GAP if place else timedelta())
                begins = sound.duration.total_seconds()
                self._append(sound, self._task.stored(key))
                if script:
                    passages.append(
                        _timed(json.loads(self._task.stored(script)), begins, sound.duration.total_seconds())
                    )
            sound.append_silence(TAIL)
            sound.append(bytes(-len(sound) % FRAME * SAMPLE_BYTES))
            seconds = sound.duration.total_seconds()
            gain = acx_gain(block_powers(sound)) if self.book.loudness == "acx" else 0.0
            told = measured(sound, gain, title) if self.book.report else None
            if options:
                volume = ["-af", f"volume={gain:.2f}dB"] if gain else []
                self._encode(sound, file, [*volume, *options], has_cover=has_cover)
                file.seek(0)
            undone.pop_all()
        return JoinedChapter(number=number, title=title, seconds=seconds, passages=passages, measured=told, file=file)

    def _tags(self, number: int, part: BookPart) -> list[str]:
        tags = {"title": part.title, "album": self.book.title, "artist": self.book.author, "track": str(number)}
        named = [one for name, value in tags.items() for one in ("-metadata", f"{name}={value}")]
        return [*stream_tags(source_of(*part.engines)), *named]

    def _encode(self, sound: Track, to: IO[bytes], options: Sequence[str], *, has_cover: bool) -> None:
        sound.file.seek(0)
        with self.cover_input(is_wanted=has_cover) as cover:
            taken = ["-map", "0:a", *(["-map", "1:v", *COVER] if cover else [])]
            arguments = [*pcm_input(SAMPLE_RATE), *cover, *taken, *options]
            with self.ffmpeg.start(arguments, stdin=sound.file, stdout=to, time_limit=ENCODING_LIMIT) as run:
                run.check(self._is_over)

    def _is_over(self) -> bool:
        return self._is_left or self._task.is_stopped()

    @contextmanager
    def cover_input(self, *, is_wanted: bool = True) -> Iterator[list[str]]:
        """Yield ffmpeg's options that read the cover; none without one, or if it is not wanted."""
        if self.cover is None or not is_wanted:
            yield []
            return
        with tempfile.NamedTemporaryFile(prefix="pressroom-", suffix=".jpg") as file:
            file.write(self.cover)
            file.flush()
            yield ["-protocol_whitelist", "file", "-f", "mjpeg", "-i", file.name]

    def _append(self, chapter: Track, data: bytes) -> None:
        if self._is_over():
            raise Stopped
        for block in read_flac(data, sample_rate=SAMPLE_RATE):
            chapter.append(block.tobytes())


#: The cover's stream, as players expect it.
COVER = ("-c:v", "copy", "-disposition:v", "attached_pic", "-metadata:s:v", "comment=Cover (front)")


def block_powers(sound: Track) -> NDArray[np.float32]:
    """Return the mean square of each tenth of a second; full scale is 1."""
    length = sound.sample_rate // BLOCKS_A_SECOND
    starts = range(0, max(length, len(sound) - length + 1), length)
    return np.array([np.square(sound.read(start, length) / np.float32(32_768)).mean() for start in starts])


def acx_gain(powers: NDArray[np.float32]) -> float:
    """Return the gain in decibels that brings a chapter within ACX's table, or close to it."""
    return min(max(ACX_GAIN, ACX_RMS - _decibels(float(powers.mean()))), ACX_MOST_GAIN)


def measured(sound: Track, gain: float, title: str) -> MeasuredChapter:
    """Return a chapter's measurements with a gain in decibels."""
    found, powers = profile(sound), block_powers(sound)
    quiet = np.convolve(powers, np.ones(QUIET_BLOCKS) / QUIET_BLOCKS, mode="valid") if powers.size > 5 else powers
    return MeasuredChapter(
        title=title,
        seconds=round(sound.duration.total_seconds(), 2),
        loudness_lufs=max(SILENCE_DB, round(loudness(found) + gain, 1)),
        peak_db=_decibels(float(found.peaks.max(initial=0)) ** 2, gain),
        rms_db=_decibels(float(powers.mean()), gain),
        noise_floor_db=_decibels(float(quiet.min()), gain),
    )


def _decibels(power: float, gain: float = 0.0) -> float:
    return round(max(SILENCE_DB, 10 * float(np.log10(power)) + gain), 1) if power > 0 else SILENCE_DB


def _timed(script: dict[str, object], begins: float, ends: float) -> TimedPassage:
    told = script["sentences"]
    assert isinstance(told, list)  # noqa: S101 - a passage wrote it
    sentences = [Segment(start=start, end=end, text=text).moved(begins, latest=ends) for start, end, text in told]
    return TimedPassage(text=str(script["text"]), sentences=sentences)
