"""Mutated files: whatever is sent as a picture or a sound has a result or a clear refusal, and no worker dies of it.

`make security IMAGES=10000 SOUNDS=10000 SEED=1` is the long form."""

import os
import sys
from pathlib import Path

import pytest
from hostile_runs import KEPT, MOST_BYTES, MOST_FFMPEG_BYTES, OUT, Findings, run, trials
from revision import measured
from security_report import write_report
from seeds import image_seeds, sound_seeds

pytestmark = [
    pytest.mark.timeout(7_200),
    pytest.mark.skipif(sys.platform != "linux", reason="limits and memory of processes are Linux's"),
]

#: How many of each, and what the chances come from.
IMAGES = int(os.environ.get("IMAGES", "40"))
SOUNDS = int(os.environ.get("SOUNDS", "12"))
SEED = os.environ.get("SEED", "1")
#: Before anything is written.
MEASURED = measured()
#: Where the figures of the long form go.
REPORTS = OUT if "IMAGES" in os.environ else None

#: The refusals that a file may get.
IMAGE_CODES = frozenset(("image_undecodable", "image_too_large"))
SOUND_CODES = frozenset(("audio_undecodable", "audio_too_long"))
#: How many good files there are of each kind. Of the pictures SVG alone is no format that is taken.
IMAGE_SEEDS, SOUND_SEEDS = 33, 41
UNTAKEN = {"SVG": "image_undecodable"}
#: Seconds of processor time that a file may take, on the slowest machine.
MOST_IMAGE_SECONDS, MOST_SOUND_SECONDS = 30, 120


def test_mutated_pictures_end_clearly_and_no_worker_dies(tmp_path: Path) -> None:
    seeds = image_seeds()
    # Every twentieth is described by a real engine, and not only looked at.
    files = trials(seeds, IMAGES, seed=f"image {SEED}", handler=lambda number: "image" if number % 20 else "read image")
    found = run("pictures", "vision", tmp_path, IMAGE_CODES, files)
    found.seeds = len(seeds)
    write_report(found, REPORTS or tmp_path, seed=SEED, measured=MEASURED)
    assert len(seeds) == IMAGE_SEEDS
    assert found.unmutated == dict.fromkeys(seeds, "result") | UNTAKEN
    _check(found, len(seeds) + IMAGES, most_seconds=MOST_IMAGE_SECONDS)


def test_mutated_sounds_end_clearly_and_no_worker_dies(tmp_path: Path) -> None:
    seeds = sound_seeds()
    # Every tenth is also mixed, with itself for its music.
    files = trials(seeds, SOUNDS, seed=f"sound {SEED}", handler=lambda number: "sound" if number % 10 else "music")
    found = run("sounds", "synthesis", tmp_path, SOUND_CODES, files)
    found.seeds = len(seeds)
    write_report(found, REPORTS or tmp_path, seed=SEED, measured=MEASURED)
    assert len(seeds) == SOUND_SEEDS
    assert found.unmutated == dict.fromkeys(seeds, "result")
    _check(found, len(seeds) + SOUNDS, most_seconds=MOST_SOUND_SECONDS)


def _check(found: Findings, files: int, *, most_seconds: float) -> None:
    assert found.files == files
    assert not found.failures, "\n".join([f"{len(found.failures)} files, kept in {KEPT}:", *found.failures[:20]])
    assert found.deaths == found.hangs == 0
    assert found.peak_bytes <= MOST_BYTES
    assert found.ffmpeg_peak_bytes <= MOST_FFMPEG_BYTES
    assert found.slowest <= most_seconds, found.slowest_file
