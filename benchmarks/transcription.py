"""Transcription: two minutes of speech through the whole route, beside bare faster-whisper; and large uploads."""

import io
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.client import load, request
from benchmarks.report import Table
from benchmarks.systems import Running, pressroom, process_tree

import spoken  # isort: skip  the tests' folder is on the path by benchmarks.systems
import tiny_whisper  # isort: skip

SECONDS = 120
#: Tokens that the model says of every 30 s, about as many as people do.
WORDS = 80
THREADS = 2
MOST_OVERHEAD = 1.10
UPLOAD_BYTES = 25 * 2**20
MOST_UPLOAD_MS = 500
AT_ONCE = 8
#: Most memory of an upload in an API process, as a share of its size.
MOST_MIB = 3
MIB = 2**20
BOUNDARY = "benchmark"
SENT_AS = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


def measure(*, quick: bool) -> Iterator[Table]:
    """Alternate between the route and the library, on the same bytes with the same model."""
    rounds = 5 if quick else 7
    with TemporaryDirectory(prefix="pressroom-benchmark-") as name:
        folder = Path(name)
        # The size of OpenAI's tiny, with random weights that say so many words and no others.
        model = tiny_whisper.build(folder, width=384, layers=4, heads=6, words=[f" w{n}" for n in range(WORDS)])
        recording = _recording(folder)
        settings = {
            "PRESSROOM_TRANSCRIPTION__ENGINES": "whisper",
            "PRESSROOM_TRANSCRIPTION__WHISPER__MODEL": str(model),
            "PRESSROOM_TRANSCRIPTION__WHISPER__CPU_THREADS": str(THREADS),
        }
        idle = [argument for pool in ("synthesis", "vision", "search_check") for argument in ("--pool", f"{pool}=0")]
        with pressroom(*idle, **settings) as running:
            yield _measure_route(running, model, recording, rounds)
            yield _measure_uploads(running, rounds)


def _recording(folder: Path) -> bytes:
    spoken_once = np.concatenate([spoken.samples_of(name) for name in spoken.TEXTS])
    return spoken.encoded(np.resize(spoken_once, SECONDS * spoken.RATE), folder, "mp3")


def _measure_route(running: Running, model: Path, recording: bytes, rounds: int) -> Table:
    from faster_whisper import WhisperModel

    table = Table(
        "Transcription",
        f"{SECONDS} s of speech as MP3, from the upload's first byte to the text's last; raw: faster-whisper on the"
        " same bytes, with the same model and settings, decoding included.",
    )
    bare = WhisperModel(str(model), device="cpu", compute_type="int8", cpu_threads=THREADS, local_files_only=True)
    sent = request(running.address, "/tts/stt", form(recording), SENT_AS | {"X-API-Key": running.key})
    load(running.address, sent, connections=1, count=1).expect(200)
    _listen(bare, recording)
    ours, raw = [], []
    for _ in range(rounds):
        ours.append(load(running.address, sent, connections=1, count=1).expect(200).percentile(50) / 1_000)
        raw.append(_listen(bare, recording))
    table.bound(f"{SECONDS} s of audio", ours, unit="s", raw=raw)
    overhead = float(np.median(ours) / np.median(raw))
    table.say("overhead of the route", f"{overhead - 1:+.1%}", target="≤ +10 %", is_met=overhead <= MOST_OVERHEAD)
    return table


def form(content: bytes) -> bytes:
    """Return a form with a file."""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="audio"; filename="a"\r\n\r\n'
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


def _listen(bare: Any, recording: bytes) -> float:
    began = time.perf_counter()
    how = {"beam_size": 5, "vad_filter": True, "condition_on_previous_text": False}
    assert list(bare.transcribe(io.BytesIO(recording), **how)[0])
    return time.perf_counter() - began


def _measure_uploads(running: Running, rounds: int) -> Table:
    table = Table("Uploads", f"{UPLOAD_BYTES // MIB} MiB to /tts/stt, answered with the job at once.")
    headers = SENT_AS | {"X-API-Key": running.key, "Prefer": "respond-async"}
    largest = form(b"\0" * UPLOAD_BYTES)
    sent = request(running.address, "/tts/stt", largest, headers)
    load(running.address, sent, connections=1, count=1).expect(202)
    alone = [load(running.address, sent, connections=1, count=1).expect(202).percentile(50) for _ in range(rounds)]
    table.bound("one upload", alone, unit="ms", most=MOST_UPLOAD_MS)
    processes = process_tree(running.pids("api")[0])[1:]
    before = [_rss(pid) for pid in processes]
    with highest(processes) as most:
        load(running.address, sent, connections=AT_ONCE, count=2 * AT_ONCE).expect(202)
    added = max(top - start for top, start in zip(most, before, strict=True))
    table.say(f"memory that {AT_ONCE} uploads at once add to an API process", f"{added:.0f} MiB")
    of_each = added / AT_ONCE
    table.say("of that, for each upload", f"{of_each:.1f} MiB", target=f"≤ {MOST_MIB} MiB", is_met=of_each <= MOST_MIB)
    return table


@contextmanager
def highest(processes: list[int]) -> Iterator[list[float]]:
    """Yield the most memory of each process, in MiB, which is looked at until the block ends."""
    most = [0.0] * len(processes)
    has_ended = threading.Event()

    def look() -> None:
        while not has_ended.wait(0.005):
            most[:] = [max(known, _rss(pid)) for known, pid in zip(most, processes, strict=True)]

    looking = threading.Thread(target=look)
    looking.start()
    yield most
    has_ended.set()
    looking.join()


def _rss(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4_096 / MIB
