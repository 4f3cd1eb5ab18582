"""Blog: a post's texts and three covers without any weights, beside the bare engines in this process."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.client import load, request
from benchmarks.report import Table
from benchmarks.systems import Running, pressroom
from capabilities.blog.engines.metadata.plain import read_post
from capabilities.blog.engines.pictures import Brief
from pipeline.settings import Settings
from workers.engines.family import Family

#: Longest median of a request, in ms.
TARGET_MS = 300
#: Most growth of a worker over the requests of the last table, in MB: caches that fill.
GROWTH_MB = 16
TITLE = "How to Grow Tomatoes on a Small Balcony"
PARAGRAPH = (
    "Tomatoes need sun, water and a pot that is deep enough. Choose a cherry variety, which forgives more than the big "
    "ones. Water the plants in the morning, and feed them every second week once they flower. Tie them up early. "
)
POSTS = (("a title alone", ""), ("6,000 characters", PARAGRAPH * 25), ("200,000 characters", PARAGRAPH * 840))
STYLES = ("illustration", "abstract", "minimalist")
#: The engines that need nothing but the packages that come along.
LIGHT = {"PRESSROOM_METADATA__ENGINES": "extractive", "PRESSROOM_PICTURES__ENGINES": "drawn"}


def measure(*, quick: bool) -> Iterator[Table]:
    """Alternate between a request and the engines; then many requests, and what the worker has grown by."""
    rounds = 3 if quick else 7
    table = Table(
        "Blog metadata",
        "POST /blog/generate with three covers, one at a time, each of another title; raw: the two engines alone.",
    )
    with pressroom(**LIGHT) as running:
        for what, content in POSTS:
            ours, raw = [], []
            for number in range(rounds):
                ours.append(_ours(running, content, number))
                raw.append(_bare(content, number))
            table.bound(what, ours, unit="ms", raw=raw, most=TARGET_MS)
        yield table
        yield _memory(running, requests=60 if quick else 400)


def _body(content: str, number: int) -> dict[str, str]:
    return {"title": f"{TITLE}, part {number}", "content": content, "image_style": STYLES[number % len(STYLES)]}


def _ours(running: Running, content: str, number: int, *, count: int = 3) -> float:
    sent = json.dumps(_body(content, number)).encode()
    whole = request(running.address, "/blog/generate", sent, {"X-API-Key": running.key})
    return load(running.address, whole, connections=1, count=count).expect(200).percentile(50)


def _bare(content: str, number: int) -> float:
    """Return the ms that the engines take for the same, set up before."""
    settings = Settings(metadata={"engines": "extractive"}, pictures={"engines": "drawn"})
    writers, painters = Family(settings, "metadata"), Family(settings, "pictures")
    writers.setup()
    painters.setup()
    body = _body(content, number)
    took = []
    for _ in range(3):
        began = time.perf_counter()
        post = read_post(body["title"], content, "en")
        found = writers.engines[0].write(post)
        brief = Brief(post.title, found.excerpt, found.category, found.tags, body["image_style"], "en")
        painters.engines[0].paint(brief, count=3)
        took.append((time.perf_counter() - began) * 1_000)
    return sorted(took)[1]


def _memory(running: Running, *, requests: int) -> Table:
    """Return how a worker has grown over many posts, each of another title and content."""
    table = Table("Memory of a worker", f"Resident MB of the vision process after each tenth of {requests} posts.")
    (pid,) = running.pids("vision")
    sizes = []
    for tenth in range(10):
        for number in range(requests // 10):
            _ours(running, PARAGRAPH * (1 + number % 30), 1_000 * tenth + number, count=1)
        sizes.append(_resident_mb(pid))
    grown = sizes[-1] - sizes[1]
    table.say("resident", " ".join(f"{size:.0f}" for size in sizes))
    table.say("grown since the second", f"{grown:.1f} MB", target=f"≤ {GROWTH_MB} MB", is_met=grown <= GROWTH_MB)
    return table


def _resident_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1_024
