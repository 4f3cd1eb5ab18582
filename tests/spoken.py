"""Spoken texts: recordings of known texts, as samples or as files of any format, and the error rate of a transcript."""

import json
import subprocess
from functools import cache
from pathlib import Path

import jiwer
import numpy as np

from pipeline.settings import Settings
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.audio.track import Samples

FOLDER = Path(__file__).parent / "recordings"
TEXTS: dict[str, str] = {name: entry["text"] for name, entry in json.loads((FOLDER / "texts.json").read_text()).items()}
RATE = 16_000


def ffmpeg(*arguments: str, given: bytes = b"") -> bytes:
    """Return what ffmpeg writes to its standard output."""
    command = [find_ffmpeg(Settings()).path, "-hide_banner", "-loglevel", "error", *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


@cache
def samples_of(name: str) -> Samples:
    """Return a recording as samples at 16 kHz."""
    raw = ffmpeg("-i", str(FOLDER / f"{name}.flac"), "-f", "s16le", "-ac", "1", "-ar", str(RATE), "pipe:1")
    return np.frombuffer(raw, "<i2")


def encoded(samples: Samples, folder: Path, ending: str, *options: str) -> bytes:
    """Return samples at 16 kHz as a file of a format."""
    file = folder / f"sound.{ending}"
    raw = ["-f", "s16le", "-ar", str(RATE), "-ac", "1", "-i", "pipe:0"]
    ffmpeg(*raw, *options, "-y", str(file), given=samples.astype("<i2").tobytes())
    return file.read_bytes()


def word_error_rate(said: str, heard: str) -> float:
    """Return how many of a hundred words are wrong, as a share, whatever their case and punctuation."""
    return float(jiwer.wer(_plain(said), _plain(heard)))


def _plain(text: str) -> str:
    return " ".join("".join(sign for sign in text.lower() if sign.isalnum() or sign in " '").split())
