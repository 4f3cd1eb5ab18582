"""Vision: batches of pictures through the whole system beside the bare engine, and what a worker grows by."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from capabilities.alt_text.engines.blip import Blip

from benchmarks.blip_model import build
from benchmarks.pictures import TOLD, picture_server
from benchmarks.report import Table
from benchmarks.systems import Running, pressroom
from capabilities.alt_text.engines import CaptionRequest
from capabilities.alt_text.handlers.alt_text import WAITING_SIDE
from pipeline.settings import Settings
from workers.engines import malloc
from workers.media.images.picture import Picture
from workers.media.images.reading import read_picture

#: Batch sizes among which the bare engine has its best, and rounds; one takes five minutes on two cores.
SIZES, ROUNDS = (1, 4, 8), 1
#: The same on a GPU.
CUDA_SIZES, CUDA_ROUNDS = (8, 16, 32, 64), 7
#: The most that one request may have.
BATCH = 100
#: Most growth of a worker over the pictures of the second table, in MB.
GROWTH_MB = 24
LOOPBACK = {"PRESSROOM_FETCH__ALLOW_NETWORKS": "127.0.0.0/8", "PRESSROOM_CAPTIONING__CACHE_HOURS": "0"}
PATIENCE_SECONDS = 3_000


def measure(*, quick: bool) -> Iterator[Table]:
    """Describe many pictures without a model, then some with one."""
    malloc.use_one_arena()  # as a worker's: the bare engine is to be as quick as it can be
    with picture_server() as address:
        yield _memory(address, 1_000)
        with TemporaryDirectory(prefix="pressroom-blip-") as folder:
            model = build(Path(folder))
            sizes, rounds = _extent()
            if quick:
                sizes, rounds = sizes[-1:], 1
            yield _describing(address, model, sizes, rounds, count=16 if quick else BATCH)


def _extent() -> tuple[Sequence[int], int]:
    """Return the batch sizes to try, and how many rounds to measure."""
    import torch

    return (CUDA_SIZES, CUDA_ROUNDS) if torch.cuda.is_available() else (SIZES, ROUNDS)


def _describing(address: str, model: Path, sizes: Sequence[int], rounds: int, *, count: int) -> Table:
    settings = Settings(captioning={"engines": "blip", "blip": {"model": str(model)}})
    engine = Blip.from_settings(settings)
    engine.setup()
    wishes = [CaptionRequest(picture, ("short",), "en") for picture in _pictures(address, count)]
    engine.caption(wishes[:1])
    rates = {size: _bare(engine, wishes[: max(sizes)], size) for size in sizes}
    best = max(rates, key=lambda size: rates[size])
    table = Table(
        "Alt text",
        f"POST /batch of {count} photos of 300 kB, from a web server on this machine, BLIP base with random weights; "
        f"raw: the engine alone, its pictures decoded before, {best} at a time.",
    )
    blip = {"PRESSROOM_CAPTIONING__ENGINES": "blip", "PRESSROOM_CAPTIONING__BLIP__MODEL": str(model)}
    with pressroom(**LOOPBACK, **blip, PRESSROOM_CAPTIONING__BATCH=str(best)) as running:
        _describe(running, address, [10**6])
        ours, raw = [], []
        for round_number in range(rounds):
            numbers = range(count * round_number, count * (round_number + 1))
            ours.append(_describe(running, address, numbers))
            raw.append(_bare(engine, wishes, best))
        table.compare("whole system", ours, raw, unit="images/s", least=0.9)
    for size, rate in rates.items():
        table.say(f"engine alone, {size} at a time", f"{rate:.2f} images/s")
    return table


def _pictures(address: str, count: int) -> list[Picture]:
    """Return photos as they wait for an engine."""
    found = []
    for number in range(count):
        with urlopen(f"{address}/{number}.jpg", timeout=30) as answer:
            picture = read_picture(answer.read(), max_pixels=40_000_000, max_side=16_000, shrink_to=WAITING_SIDE)
        found.append(picture)
    return found


def _bare(engine: Blip, wishes: Sequence[CaptionRequest], size: int) -> float:
    """Return the images a second of the engine in a loop."""
    engine.batch = size
    began = time.perf_counter()
    for first in range(0, len(wishes), size):
        engine.caption(wishes[first : first + size])
    return len(wishes) / (time.perf_counter() - began)


def _describe(running: Running, address: str, numbers: Sequence[int]) -> float:
    """Return the images a second of a batch."""
    images = [{"image_url": f"{address}/{number}.jpg"} for number in numbers]
    began = time.perf_counter()
    answer = running.ask("/batch", {"images": images}, timeout=PATIENCE_SECONDS)
    took = time.perf_counter() - began
    assert answer.status == 200, answer.body
    # Random weights may say nothing that is a text; what matters here is that it was said.
    codes = {result.get("code") for result in answer.json["results"]}
    assert not {code for code in codes if code and code.startswith(("image", "internal"))}, codes
    return len(images) / took


def _memory(address: str, count: int) -> Table:
    table = Table("Memory of a vision worker", f"Resident MB after each tenth of {count:,} photos of 1.7 megapixels.")
    sizes = []
    with pressroom(**LOOPBACK, PRESSROOM_CAPTIONING__ENGINES="basic") as running:
        for tenth in range(10):
            numbers = range(tenth * count // 10, (tenth + 1) * count // 10)
            images = [{"image_url": f"{address}/{number}.jpg"} for number in numbers]
            answer = running.ask("/batch", {"images": images}, timeout=PATIENCE_SECONDS).json
            assert [result["alt_text"] for result in answer["results"]] == [TOLD] * len(images)
            sizes.append(_status_mb(running, "VmRSS"))
        peak = _status_mb(running, "VmHWM")
    grown = sizes[-1] - sizes[1]
    table.say("resident", " ".join(f"{size:.0f}" for size in sizes))
    table.say("at most", f"{peak:.0f} MB")
    table.say("grown since the second", f"{grown:.1f} MB", target=f"≤ {GROWTH_MB} MB", is_met=grown <= GROWTH_MB)
    return table


def _status_mb(running: Running, field: str) -> float:
    (pid,) = running.workers("vision")
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1_024
