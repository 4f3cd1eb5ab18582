"""Small files that would be large: read in a process of their own, whose memory is watched."""

import json
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from image_files import chunk, claiming, gif, many_scans, png, tiff, webp

from pipeline.downloads.images import ImageUndecodable
from scripts.system.programs import ROOT
from workers.media.images.reading import read_picture

MIB = 2**20


#: Files, what becomes of them, and the memory in MiB that reading them may take for a moment.
BOMBS: dict[str, tuple[Callable[[], bytes], str, int]] = {
    "177 megapixels in 21 kB of PNG": (lambda: png(13_300, 13_300), "image_too_large", 16),
    "one long row": (lambda: png(16_001, 1), "image_too_large", 16),
    "1,600 megapixels in frames of a GIF": (lambda: gif(1_000, 1_000, 1_600), "GIF", 48),
    "a GIF of 65,535 pixels a side": (
        lambda: b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + gif(9, 9, 1)[10:], "image_too_large", 16,
    ),
    "60 MB of text in a PNG": (
        lambda: png(10, 10, extra=chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(60 * MIB)))), "image_undecodable", 48,
    ),
    "400 texts of 1 MB in a PNG": (
        lambda: png(10, 10, extra=chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(10**6))) * 400),
        "image_undecodable", 120,
    ),
    "60 MB of colour profile": (
        lambda: png(10, 10, extra=chunk(b"iCCP", b"k\0\0" + zlib.compress(bytes(60 * MIB)))), "image_undecodable", 48,
    ),
    "60,000 EXIF tags of 4 MB": (lambda: png(10, 10, extra=chunk(b"eXIf", exif_tags(60_000, 4 * 10**6))), "PNG", 64),
    "a TIFF of 10 gigapixels": (lambda: tiff((256, 4, 1, 100_000), (257, 4, 1, 100_000)), "image_too_large", 16),
    "a TIFF with a tile of 900 megapixels": (
        lambda: tiff((273, 0, 0, 0), (278, 0, 0, 0), (279, 0, 0, 0), (259, 3, 1, 8), (322, 4, 1, 30_000),
                     (323, 4, 1, 30_000), (324, 4, 1, -1), (325, 4, 1, 100)),
        "image_undecodable", 16,
    ),
    "a TIFF with a strip of two gigabytes": (
        lambda: tiff((259, 3, 1, 8), (278, 4, 1, 2**31), pixels=zlib.compress(bytes(10**6))), "image_undecodable", 16,
    ),
    "a WebP of 16,383 pixels a side": (lambda: webp(16_383, 16_383), "image_too_large", 16),
    "a WebP of 36 megapixels": (lambda: webp(6_000, 6_000), "image_undecodable", 16),
    "an AVIF of 3.6 gigapixels": (lambda: claiming("AVIF", (64, 64), (60_000, 60_000)), "image_undecodable", 16),
    "an AVIF of 4 megapixels that says 10,000": (lambda: claiming("AVIF", (2_000, 2_000), (100, 100)), "AVIF", 48),
    "a HEIC file of 900 megapixels": (lambda: claiming("HEIF", (64, 64), (30_000, 30_000)), "image_too_large", 16),
    "a HEIC file of 1 megapixel that says 10,000": (
        lambda: claiming("HEIF", (1_000, 1_000), (100, 100)), "image_undecodable", 48,
    ),
    "a JPEG of 700 scans": (lambda: many_scans(700), "image_undecodable", 16),
    "as large as is taken": (lambda: png(8_000, 5_000, colour=6, depth=8), "PNG", 280),
    "24 megapixels, four at once": (lambda: png(6_000, 4_000, colour=6, depth=8), "PNG", 220),
}  # fmt: skip

#: Reads the files that it is told, and says what they became and the most memory they took meanwhile.
CHILD = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from pipeline.downloads.images import ImageFailure
from workers.media.images.reading import read_picture

def read(body):
    try:
        return read_picture(body, max_pixels=40_000_000, max_side=16_000).format
    except ImageFailure as failure:
        return failure.code

def memory(name):
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith(name))

folder = Path(sys.argv[1])
for warm_up in sorted(folder.glob("warm*")):
    read(warm_up.read_bytes())
for name, file in json.loads(sys.stdin.read()).items():
    body = (folder / file).read_bytes()
    Path("/proc/self/clear_refs").write_text("5")  # the most so far is forgotten
    before = memory("VmRSS")
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(read, [body] * (4 if "at once" in name else 1)))
    print(json.dumps([name, *found, memory("VmHWM") - before]), flush=True)
"""


def exif_tags(count: int, size: int) -> bytes:
    """Return EXIF whose tags all have the same long text for their value."""
    tags = b"".join(struct.pack("<HHII", number, 2, size, 10) for number in range(count))
    return b"II*\0" + struct.pack("<IH", 8, count) + tags + bytes(4 + size)


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, float]]:
    """The results of all files, and the MiB of each."""
    folder = tmp_path_factory.mktemp("bombs")
    for number, (make, *_) in enumerate(BOMBS.values()):
        (folder / str(number)).write_bytes(make())
    for form in ("AVIF", "HEIF"):
        (folder / f"warm{form}").write_bytes(claiming(form, (64, 64), (64, 64)))
    (folder / "warm").write_bytes(tiff())
    child = subprocess.run(
        [sys.executable, "-c", CHILD, folder],
        input=json.dumps({name: str(number) for number, name in enumerate(BOMBS)}),
        cwd=Path(ROOT), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    found = [json.loads(line) for line in child.stdout.splitlines() if line.startswith('["')]
    assert child.returncode == 0, f"it died after {found[-1:]}: {child.stderr[-2_000:]}"
    return {name: (outcome, mib) for name, outcome, mib in found}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_or_read_in_little_memory(findings: dict[str, tuple[str, float]], name: str) -> None:
    _, outcome, most = BOMBS[name]
    assert findings[name][0] == outcome
    assert findings[name][1] <= most


def test_a_jpeg_of_many_scans_costs_no_time() -> None:
    body = many_scans(2_000)
    began = time.process_time()
    with pytest.raises(ImageUndecodable, match="scans"):
        read_picture(body, max_pixels=40_000_000, max_side=16_000)
    assert time.process_time() - began < 0.5
