"""Long texts and streams: the whole route beside its raw pieces, first bytes, memory, and many streams at once."""

import asyncio
import json
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import edge_tts
import edge_tts.communicate
import imageio_ffmpeg

from benchmarks.client import load, request
from benchmarks.report import Table
from benchmarks.systems import pressroom, process_tree
from capabilities.speech.engines import Synthesizer
from capabilities.speech.handlers.script import write_script
from capabilities.speech.kinds.stream import SpeechStreamRequest
from capabilities.speech.normalization.sentences import split_text
from capabilities.speech.voices.voices import pick_voice
from pipeline.settings import Settings
from scripts.system.programs import ROOT, environment
from workers.engines.registry import load_engines

sys.path.insert(0, str(ROOT / "tests"))

from systems import Running

SENTENCE = "The quick brown fox jumps over the lazy dog, and then it runs back home again. "
#: The most seconds of /tts/batch for 20,000 characters, and milliseconds to the first byte of a stream, on two cores.
LIMITS = {"espeak": (4.0, 60.0), "hibari": (15.0, 250.0)}
EDGE_VOICE = "en-US-EmmaMultilingualNeural"


def measure(*, quick: bool) -> Iterator[Table]:
    """Measure the engines of this machine, then the edge engine against a fake service in a process of its own."""
    rounds = 3 if quick else 7
    for engine in LIMITS:
        with pressroom(PRESSROOM_SYNTHESIS__ENGINES=engine) as running:
            yield _batch(running, engine, rounds)
            yield _first_byte(running, engine, rounds * 5)
            yield _memory(running, engine)
            yield _at_once(running, engine)
    with (
        edge_process() as (url, voices_url),
        pressroom(
            PRESSROOM_SYNTHESIS__ENGINES="edge,espeak",
            PRESSROOM_SYNTHESIS__EDGE__URL=url,
            PRESSROOM_SYNTHESIS__EDGE__VOICES_URL=voices_url,
            PRESSROOM_SYNTHESIS__SLOTS="20",
        ) as running,
    ):
        _wait_for_edge(running)
        yield _edge_first_byte(running, url, rounds * 3)
        yield _at_once(running, "edge")


def text_of(characters: int) -> str:
    """Return a text of exactly so many characters."""
    return (SENTENCE * (characters // len(SENTENCE) + 1))[:characters]


def _batch(running: Running, name: str, rounds: int) -> Table:
    table = Table(
        f"Batch by {name}",
        "POST /tts/batch, 20,000 characters to the last byte; raw: the engine alone speaks the same chunks one by one, "
        "one ffmpeg encodes them, and nothing measures or levels their loudness.",
    )
    engine = load_engine(name)
    text = text_of(20_000)
    voice = pick_voice(engine.voices(), voice_name=None, language=None)
    rate = str(voice.natural_sample_rate_hertz)
    ours, raw = [], []
    body = json.dumps({"text": text, "pause_duration": 0}).encode()
    sent = request(running.address, "/tts/batch", body, {"X-API-Key": running.key})
    for _ in range(rounds):
        ours.append(load(running.address, sent, connections=1, count=1).expect(200).percentile(50) / 1_000)
        began = time.perf_counter()
        chunks = split_text(text, limit=250, language="en")
        pcm = b"".join(bytes(engine.speak(chunk.strip(), voice=voice.id).samples) for chunk in chunks)
        encode = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-f", "s16le", "-ar", rate, "-ac", "1"]
        subprocess.run(
            [*encode, "-i", "pipe:0", "-b:a", "192k", "-ar", "44100", "-f", "mp3", "pipe:1"],
            input=pcm,
            capture_output=True,
            check=True,
        )
        raw.append(time.perf_counter() - began)
    table.bound("20,000 characters", ours, unit="s", most=LIMITS[name][0], raw=raw)
    return table


def load_engine(name: str) -> Synthesizer:
    """Return an engine of this process, set up."""
    engine: Synthesizer
    (engine,) = load_engines(Settings(synthesis={"engines": name}), "synthesis")
    engine.setup()  # type: ignore[attr-defined]  each engine has it, by the registry's protocol
    return engine


def first_byte(running: Running, body: dict[str, object]) -> float:
    """Return the milliseconds from a request for a stream to the first byte of its MP3; the client then leaves."""
    content = json.dumps(body).encode()
    head = (
        f"POST /tts/stream HTTP/1.1\r\nHost: x\r\nX-API-Key: {running.key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    )
    url = urlsplit(running.address)
    with socket.create_connection((url.hostname or "", url.port or 80)) as connection:
        began = time.perf_counter()
        connection.sendall(head.encode() + content)
        received = b""
        while len(received.partition(b"\r\n\r\n")[2]) < 10:
            received += connection.recv(65_536)
        took = (time.perf_counter() - began) * 1_000
        status = received.partition(b"\r\n")[0]
        assert b" 200 " in status, received
        while connection.recv(65_536):  # to the end, so that rounds don't overlap
            pass
        return took


def _first_byte(running: Running, engine: str, rounds: int) -> Table:
    table = Table(f"First byte by {engine}", "POST /tts/stream, chunks of 200 characters, one stream at a time.")
    body = {"text": text_of(600)}
    first_byte(running, body)
    table.bound(
        "a stream's first byte", [first_byte(running, body) for _ in range(rounds)], unit="ms", most=LIMITS[engine][1]
    )
    return table


class _Watch(threading.Thread):
    """Samples the memory of a process and its children: the most that they had together, in MiB."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self.most = 0.0
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.02):
            self.most = max(self.most, sum(map(_resident, process_tree(self._pid))))

    def end(self) -> float:
        self._ended.set()
        self.join()
        return self.most


def _resident(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) / 1_024 for line in lines if line.startswith("VmRSS:")), 0)


def _memory(running: Running, engine: str) -> Table:
    table = Table(
        f"Memory by {engine}", "The pool's process and its ffmpeg, the most they had above what they had idle, in MiB."
    )
    (worker,) = running.pids("synthesis")
    idle = sum(map(_resident, process_tree(worker)))
    for what, path, characters in (
        ("batch of 20,000 characters", "/tts/batch", 20_000),
        ("stream of 20,000 characters", "/tts/stream", 20_000),
        ("stream of 50,000 characters", "/tts/stream", 50_000),
    ):
        watch = _Watch(worker)
        watch.start()
        answer = running.ask(path, {"text": text_of(characters)}, timeout=120)
        assert answer.status == 200
        table.bound(what, [watch.end() - idle], unit="MiB", most=150)
    return table


def _at_once(running: Running, engine: str) -> Table:
    table = Table(f"Twenty streams at once by {engine}", "3,000 characters each, one pool process.")
    firsts: list[float] = []
    ended: list[float] = []
    began = time.perf_counter()

    def stream() -> None:
        firsts.append(first_byte(running, {"text": text_of(3_000)}))
        ended.append(time.perf_counter() - began)

    threads = [threading.Thread(target=stream) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ended) == len(threads), "a stream failed"
    for what, found, unit, digits in (("first byte", firsts, "ms", ".0f"), ("last byte", ended, "s", ".1f")):
        told = (format(value, digits) for value in (min(found), statistics.median(found), max(found)))
        table.say(f"{what}: lowest / median / highest", f"{' / '.join(told)} {unit}")
    return table


@contextmanager
def edge_process() -> Iterator[tuple[str, str]]:
    """Run the fake edge service in a process of its own; give back its addresses."""
    code = (
        "import sys\nfrom edge_service import edge_service\n"
        "with edge_service() as s:\n    print(s.url, s.voices_url, flush=True)\n    sys.stdin.read()\n"
    )
    found = environment()
    found["PYTHONPATH"] = f"{ROOT}:{ROOT / 'tests'}"
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=found, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        url, voices_url = process.stdout.readline().split()
        yield url, voices_url
    finally:
        process.stdin.close()
        process.wait(timeout=30)


def _wait_for_edge(running: Running) -> None:
    """Return once every API process knows the voice: each hears of it by itself."""
    until = time.monotonic() + 30
    known = 0
    while known < 20:
        assert time.monotonic() < until, "the edge engine was never ready"
        known = known + 1 if EDGE_VOICE in {voice["id"] for voice in running.ask("/tts/voices").json["voices"]} else 0
        time.sleep(0.05)


def _edge_first_byte(running: Running, url: str, rounds: int) -> Table:
    table = Table(
        "First byte by edge",
        "POST /tts/stream; raw: the library edge-tts gets what is spoken first, whole, from the same service.",
    )
    text = text_of(600)
    chunk = write_script(SpeechStreamRequest(text=text), limit=200, language="en", starts_short=True)[0].text.strip()
    edge_tts.communicate.WSS_URL = f"{url}?"

    async def whole_chunk() -> None:
        async for _ in edge_tts.Communicate(chunk, EDGE_VOICE).stream():
            pass

    body = {"text": text, "voice_name": EDGE_VOICE}
    ours, raw = [], []
    first_byte(running, body)
    asyncio.run(whole_chunk())
    for _ in range(rounds):
        ours.append(first_byte(running, body))
        began = time.perf_counter()
        asyncio.run(whole_chunk())
        raw.append((time.perf_counter() - began) * 1_000)
    table.bound("a stream's first byte", ours, unit="ms", raw=raw)
    over = statistics.median(mine - other for mine, other in zip(ours, raw, strict=True))
    table.say("above the service's own first chunk", f"{over:.0f} ms", target="≤ 30 ms", is_met=over <= 30)
    return table
