"""Long recordings: three hours in an upload that breaks three times, by a pool that is killed twice; beside Whisper."""

import io
import os
import signal
import socket
import time
import wave
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from benchmarks.quality.listening import installed
from benchmarks.report import Table
from benchmarks.systems import Running, pressroom, process_tree
from benchmarks.transcription import MIB, highest
from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database

import spoken  # isort: skip  the tests' folder is on the path by benchmarks.systems

#: Minutes of speech; with --quick, and for the comparison with Whisper alone, which each takes minutes.
MINUTES, QUICK_MINUTES, COMPARED_MINUTES = 180, 30, 3
#: Shares of the upload at which its connection breaks, and of the work at which the pool is killed.
BREAKS, KILLS = (0.2, 0.5, 0.8), (0.25, 0.6)
LEAST_RATIO = 0.95
#: Credits of a minute.
PRICE = 5
MODEL = "whisper-base"


def measure(*, quick: bool) -> Iterator[Table]:
    """Measure the journey of one long recording, then the speed beside Whisper alone."""
    minutes = QUICK_MINUTES if quick else MINUTES
    idle = [argument for pool in ("synthesis", "vision", "search_check") for argument in ("--pool", f"{pool}=0")]
    with TemporaryDirectory(prefix="pressroom-benchmark-") as name, pressroom(*idle) as running:
        running.wait_for_line("pool process ready")
        yield _measure_speed(running, Path(name))
        yield _measure_journey(running, minutes)


def recording(minutes: float) -> bytes:
    """Return speech as WAV, 16 kHz and mono: 1.9 MB a minute."""
    pause = np.zeros(spoken.RATE, np.int16)
    said = np.concatenate([part for name in spoken.TEXTS for part in (spoken.samples_of(name), pause)])
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(spoken.RATE)
        written.writeframes(np.resize(said, round(minutes * 60 * spoken.RATE)).tobytes())
    return file.getvalue()


def _measure_journey(running: Running, minutes: float) -> Table:
    table = Table(
        "A long recording",
        f"{minutes:g} minutes of speech, uploaded over {len(BREAKS)} connections that break and one that does not; the"
        f" pool is killed {len(KILLS)} times while it transcribes.",
    )
    sound = recording(minutes)
    before = running.ask("/usage").json["credits_remaining"]
    processes = process_tree(running.pids("api")[0])[1:]
    resting = [Path(f"/proc/{pid}/statm") for pid in processes]
    started = [_mib(path) for path in resting]
    with highest(processes) as most:
        upload = _upload(running, sound)
    added = max(top - start for top, start in zip(most, started, strict=True))
    table.say("size of the recording", f"{len(sound) / MIB:.0f} MiB")
    table.say(
        "memory that its upload adds to an API process", f"{added:.0f} MiB", target="≤ 20 MiB", is_met=added <= 20
    )
    began = time.monotonic()
    sent = {"upload": upload, "response_format": "text", "language": "en"}
    job_id = running.ask("/transcriptions", sent, Prefer="respond-async").json["id"]
    top = _work_through_kills(running, job_id, minutes)
    took = time.monotonic() - began
    job = running.ask(f"/jobs/{job_id}").json
    text = running.ask(f"/jobs/{job_id}/result").body.decode()
    times = round(minutes * 60 / (sum(len(spoken.samples_of(one)) / spoken.RATE + 1 for one in spoken.TEXTS)))
    expected = " ".join([*spoken.TEXTS.values()] * times)
    paid = before - running.ask("/usage").json["credits_remaining"]
    table.say("state", job["state"], target="succeeded", is_met=job["state"] == "succeeded")
    table.say("charged", f"{paid} credits", target=f"{PRICE * minutes:.0f}", is_met=paid == PRICE * minutes)
    with Database(running.database_url) as database:
        wrong = len(database.run(discrepancies()))
    table.say("contradictions in the ledger", str(wrong), target="0", is_met=not wrong)
    rate = spoken.word_error_rate(expected, text)
    table.say("words wrong, the last cut-off text included", f"{rate:.1%}", target="≤ 10 %", is_met=rate <= 0.1)
    table.say("most memory of the pool's process", f"{top:.0f} MiB")
    table.say("from the request to the transcript, kills included", f"{took:.0f} s")
    return table


def _upload(running: Running, sound: bytes) -> str:
    """Upload a recording whose connections break; return its id."""
    upload = running.ask("/uploads", {}, Upload_Length=str(len(sound))).json["id"]
    shares = [*BREAKS]
    while (offset := int(running.ask(f"/uploads/{upload}").json["offset"])) < len(sound):
        share = shares.pop(0) if shares else 1.0
        # A client that goes on too soon is refused, as the last piece may just be written; it asks again.
        with suppress(ConnectionError):
            _send(running, upload, offset, sound[offset : round(share * len(sound))], claimed=len(sound) - offset)
    return str(upload)


def _send(running: Running, upload: str, offset: int, body: bytes, *, claimed: int) -> None:
    """Send the first bytes of a body that is longer, and leave; or all of it."""
    url = urlsplit(running.address)
    head = (
        f"PATCH /uploads/{upload} HTTP/1.1\r\nHost: x\r\nX-API-Key: {running.key}\r\nUpload-Offset: {offset}\r\n"
        f"Content-Type: application/offset+octet-stream\r\nContent-Length: {claimed}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection((url.hostname or "", url.port or 80), timeout=300) as connection:
        connection.sendall(head.encode())
        connection.sendall(body)
        if len(body) < claimed:
            connection.shutdown(socket.SHUT_WR)
        while connection.recv(65_536):
            pass


def _work_through_kills(running: Running, job_id: str, minutes: float) -> float:
    """Wait for a job, and kill its pool's processes on the way; return the most memory of one, in MiB."""
    most, kills = 0.0, [share * minutes * 60 for share in KILLS]
    while True:
        job: dict[str, Any] = running.ask(f"/jobs/{job_id}").json
        if job["finished_at"]:
            return most
        workers = running.pids("transcription")
        most = max([most, *(_mib(Path(f"/proc/{pid}/statm")) for pid in workers)])
        if kills and job["progress"]["total"] > 1 and job["progress"]["done"] > kills[0]:
            kills.pop(0)
            for pid in workers:
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.5)


def _mib(statm: Path) -> float:
    try:
        return int(statm.read_text().split()[1]) * 4_096 / MIB
    except OSError:  # it has just ended
        return 0.0


def _measure_speed(running: Running, folder: Path) -> Table:
    """Alternate between the route and the library, on the same sound with the same model."""
    from faster_whisper import WhisperModel

    table = Table("Beside Whisper", f"{COMPARED_MINUTES} minutes of speech; raw: faster-whisper, decoding included.")
    sound = recording(COMPARED_MINUTES)
    bare = WhisperModel(str(installed(MODEL, folder)), device="cpu", compute_type="int8", local_files_only=True)
    ours, raw = [], []
    for _ in range(2):
        upload = _upload(running, sound)
        began = time.perf_counter()
        answer = running.ask("/transcriptions", {"upload": upload, "language": "en"}, timeout=600)
        ours.append(COMPARED_MINUTES * 60 / (time.perf_counter() - began))
        assert answer.status == 200, answer.body
        began = time.perf_counter()
        how = {"language": "en", "vad_filter": True, "condition_on_previous_text": False}
        assert list(bare.transcribe(io.BytesIO(sound), **how)[0])
        raw.append(COMPARED_MINUTES * 60 / (time.perf_counter() - began))
    table.compare("times real time", ours, raw, unit="x", least=LEAST_RATIO)
    return table
