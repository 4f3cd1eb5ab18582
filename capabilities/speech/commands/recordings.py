"""Recordings: the MP3s of a text's parts, as one file of the format that its suffix names."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from shutil import copyfileobj
from subprocess import DEVNULL
from tempfile import TemporaryFile
from typing import IO

from pipeline.errors import InvalidRequest
from pipeline.settings import Settings
from pressroom.files import whole_file

#: ffmpeg's options for each format. MP3 is what comes, at 192 kbit/s; the others are made of it.
FORMATS: Mapping[str, Sequence[str]] = {
    ".mp3": ("-c:a", "copy", "-f", "mp3"),
    ".wav": ("-c:a", "pcm_s16le", "-f", "wav"),
    ".flac": ("-c:a", "flac", "-sample_fmt", "s16", "-f", "flac"),
    ".ogg": ("-c:a", "libopus", "-b:a", "96k", "-f", "ogg"),
    ".opus": ("-c:a", "libopus", "-b:a", "96k", "-f", "opus"),
    ".m4a": ("-c:a", "aac", "-b:a", "160k", "-f", "ipod"),
    ".aac": ("-c:a", "aac", "-b:a", "160k", "-f", "adts"),
}
#: A day of speech is converted in minutes.
TIME_LIMIT = timedelta(hours=1)


def check_format(output: Path) -> None:
    """Refuse a suffix that is no format. Raises InvalidRequest."""
    if output.suffix.lower() not in FORMATS:
        raise InvalidRequest(f"{output} has no suffix of a format: use {', '.join(FORMATS)}.")


def write_recording(parts: Sequence[Path], output: Path) -> int:
    """Join MP3s, and write them in the format of the suffix, whole or not at all; returns the size in bytes."""
    with whole_file(output) as finished, TemporaryFile() as joined:
        for part in parts:
            with part.open("rb") as sound:
                copyfileobj(sound, joined)
        joined.seek(0)
        if len(parts) == 1 and output.suffix.lower() == ".mp3":
            copyfileobj(joined, finished)
        else:
            _convert(joined, Path(finished.name), FORMATS[output.suffix.lower()])
    return output.stat().st_size


def _convert(joined: IO[bytes], output: Path, options: Sequence[str]) -> None:
    from workers.media.audio.ffmpeg import find_ffmpeg  # the engines' packages, which other commands don't need

    arguments = ["-f", "mp3", "-i", "fd:", "-map_metadata", "-1", *options, "-y", f"file:{output.absolute()}"]
    with find_ffmpeg(Settings()).start(arguments, stdin=joined, stdout=DEVNULL, time_limit=TIME_LIMIT) as run:
        run.check()
