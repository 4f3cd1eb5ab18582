"""POST /tts/stt as its users have it: real speech in, text and subtitles out, and whatever else people upload."""

import io
import json
import signal
import subprocess
import tempfile
import time
import wave
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
import srt
import webvtt
from http_service import form
from ran import Ran
from spoken import RATE, encoded, ffmpeg, samples_of
from systems import FAST, Answer, Running, clean_environment, command, kill, system
from waiting import wait_for, wait_for_no_uploads
from web_server import web_server

from pipeline.accounts.accounts import open_account
from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Statement
from workers.media.audio.track import Samples

pytestmark = pytest.mark.system

SENTENCE = samples_of("library")[: 3 * RATE]
SAID = "The public library opens at 9 in the morning."
#: More than a few windows.
LONG = np.concatenate([samples_of("market"), np.zeros(RATE // 2, np.int16), SENTENCE])
MIB = 2**20

SETTINGS = FAST | {
    "PRESSROOM_WORK__LEASE_SECONDS": "6",
    "PRESSROOM_API__OFFERS_MAX_AGE_SECONDS": "0.1",
    "PRESSROOM_TRANSCRIPTION__WHISPER__MODEL": "tiny.en",  # half the work of the one that is installed
    "PRESSROOM_TRANSCRIPTION__MAX_HOURS": "0.1",
    "PRESSROOM_TRANSCRIPTION__WINDOW_SECONDS": "4",
    "PRESSROOM_FETCH__ALLOW_NETWORKS": "127.0.0.0/8",
}
IDLE = [argument for pool in ("synthesis", "vision", "search_check", "made_up") for argument in ("--pool", f"{pool}=0")]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with system(tmp_path_factory.mktemp("transcription") / "data", *IDLE, extra=SETTINGS) as running:
        running.wait_for_line("pool process ready")  # or an API process may not know yet what is offered
        yield running
        with Database(running.database_url) as database:
            assert database.run(discrepancies()) == []


def upload(
    audio: bytes | None, fields: Mapping[str, str], *, last: Mapping[str, str] | None = None
) -> tuple[bytes, str]:
    """Return a form as a browser sends it, with fields before and behind the file."""
    before = [(name, value.encode(), None) for name, value in fields.items()]
    behind = [(name, value.encode(), None) for name, value in (last or {}).items()]
    return form(*before, *([] if audio is None else [("audio", audio, "recording.wav")]), *behind)


def send(service: Running, audio: bytes | None, fields: Mapping[str, str] | None = None, **headers: str) -> Answer:
    body, content_type = upload(audio, fields or {})
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return service._send("/tts/stt", body, content_type, method="POST", timeout=170, **named)


def wav(samples: Samples, *, claimed: int | None = None) -> bytes:
    """Return samples as a WAV file; `claimed` is the size that its header tells."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(RATE)
        writer.writeframes(samples.astype("<i2").tobytes())
    whole = bytearray(file.getvalue())
    if claimed is not None:
        whole[40:44] = claimed.to_bytes(4, "little")
    return bytes(whole)


def balance(service: Running) -> tuple[int, int]:
    usage = service.ask("/usage").json
    return usage["credits_remaining"], usage["credits_held"]


def clock(text: str) -> float:
    hours, minutes, rest = text.split(":")
    return int(hours) * 3_600 + int(minutes) * 60 + float(rest)


def test_a_recording_comes_back_in_each_form_with_the_same_times(service: Running) -> None:
    answers = {
        wanted: send(service, wav(SENTENCE), {"response_format": wanted})
        for wanted in ("json", "verbose_json", "text", "srt", "vtt")
    }

    assert {answer.status for answer in answers.values()} == {200}
    assert {answer.headers["X-Engine"] for answer in answers.values()} == {"whisper"}
    brief, verbose = answers["json"].json, answers["verbose_json"].json
    assert (brief["text"], brief["language"], brief["credits_used"], brief["draft"]) == (SAID, "en", 5, False)
    assert brief["duration"] == pytest.approx(3.0)
    assert "segments" not in brief
    assert answers["text"].body.decode() == SAID
    assert answers["text"].headers["Content-Type"] == "text/plain; charset=utf-8"
    subtitles = [
        (cue.start.total_seconds(), cue.end.total_seconds(), cue.content)
        for cue in srt.parse(answers["srt"].body.decode())
    ]
    captions = [
        (clock(cue.start), clock(cue.end), cue.text)
        for cue in webvtt.from_string(answers["vtt"].body.decode()).captions
    ]
    for cues in (subtitles, captions):
        assert len(cues) == len(verbose["segments"]) == 1
        for (start, end, text), segment in zip(cues, verbose["segments"], strict=True):
            assert start == pytest.approx(segment["start"], abs=0.05)
            assert end == pytest.approx(segment["end"], abs=0.05)
            assert text.split("\n") == ["The public library opens", "at 9 in the morning."]
            assert text.replace("\n", " ") == segment["text"]
    assert answers["srt"].headers["Content-Type"] == "application/x-subrip; charset=utf-8"
    assert answers["vtt"].headers["Content-Type"] == "text/vtt; charset=utf-8"
    again = service.ask(f"/jobs/{answers['vtt'].headers['X-Job-Id']}/result")
    assert (again.body, again.headers["Content-Type"]) == (answers["vtt"].body, "text/vtt; charset=utf-8")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"language": "xx"}, "language_unknown"),
        ({"language": ""}, "language_unknown"),
        ({"language": "ga-IE"}, "language_not_supported"),
        ({"response_format": "docx"}, "invalid_request"),
        ({"prompt": "x" * 1_001}, "invalid_request"),
    ],
)
def test_fields_that_make_no_sense_are_refused_at_once(service: Running, fields: dict[str, str], code: str) -> None:
    answer = send(service, wav(SENTENCE), fields)

    assert (answer.status, answer.json["code"]) == (400, code)
    assert "X-Job-Id" not in answer.headers


def test_the_key_may_come_behind_the_file_and_a_wrong_one_in_a_header_is_seen_before_it(service: Running) -> None:
    body, content_type = upload(
        wav(SENTENCE), {"language": "en-GB"}, last={"response_format": "text", "api_key": service.key}
    )
    answer = service._send("/tts/stt", body, content_type, method="POST", timeout=60, **{"X-API-Key": ""})
    assert (answer.status, answer.body.decode()) == (200, SAID)

    with service.connect() as connection:
        head = f"POST /tts/stt HTTP/1.1\r\nHost: x\r\nX-API-Key: wrong\r\nContent-Type: {content_type}\r\n"
        connection.sendall(f"{head}Content-Length: {20 * MIB}\r\nExpect: 100-continue\r\n\r\n".encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 401")


# Long recordings.


def heavy(samples: Samples, size: int) -> bytes:
    """Return samples as a WAV file that has so many bytes more, in a chunk that nobody reads."""
    plain = wav(samples)
    return plain[:12] + b"junk" + size.to_bytes(4, "little") + bytes(size) + plain[12:]


def test_a_recording_behind_a_url_is_downloaded_and_transcribed(service: Running) -> None:
    with web_server() as web:
        episode = web.redirect("/episode", web.serve("/episode.wav", wav(SENTENCE), "audio/wav"))
        answer = service.ask("/transcriptions", {"url": episode, "response_format": "text"})

    assert (answer.status, answer.body.decode(), answer.headers["X-Credits-Used"]) == (200, SAID, "5")
    wait_for_no_uploads(service.data)


def test_a_url_that_gives_no_recording_costs_nothing(service: Running) -> None:
    with web_server() as web:
        urls = {
            web.redirect(
                "/old.mp3", web.serve("/page", b"<html>Hello</html>", "text/html; charset=utf-8")
            ): "recording_url_no_audio",
            web.serve("/feed", b"<rss></rss>", "application/rss+xml"): "recording_url_no_audio",
            web.fail("/gone", 404): "recording_url_failed",
            web.serve("/text.mp3", b"no sound at all", "audio/mpeg"): "audio_undecodable",
        }
        answers = {url: service.ask("/transcriptions", {"url": url}) for url in urls}

    assert {url: (answer.status, answer.json["code"]) for url, answer in answers.items()} == {
        url: (400, code) for url, code in urls.items()
    }
    assert {answer.headers["X-Credits-Used"] for answer in answers.values()} == {"0"}
    wait_for_no_uploads(service.data)


# Whatever people upload.


def memory(pid: int) -> int:
    """Return the most that a process has ever had in memory, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1_024 for line in lines if line.startswith("VmHWM"))


def test_what_is_no_recording_is_refused_and_costs_nothing(service: Running, tmp_path: Path) -> None:
    film = ["-f", "lavfi", "-i", "testsrc=d=1:s=64x64", "-map", "1:v", "-c:v", "mpeg4"]
    m4a = encoded(SENTENCE, tmp_path, "m4a")
    files = {
        "bomb of silence": encoded(np.zeros(20 * 60 * RATE, np.int16), tmp_path, "flac", "-ar", "8000"),
        "sizes that lie": wav(SENTENCE[:0], claimed=0xFFFFFFF0),
        "film without its index": m4a[: m4a.rindex(b"moov") - 4],
        "empty": b"",
        "picture": ffmpeg("-f", "lavfi", "-i", "testsrc=d=1:s=64x64", "-frames:v", "1", "-f", "apng", "pipe:1"),
        "film without sound": encoded(SENTENCE, tmp_path, "mp4", *film),
        "too large": b"\0" * (25 * MIB + 1),
    }
    send(service, wav(SENTENCE))
    before, workers = balance(service), service.pids("transcription")
    needed = memory(workers[0])

    answers = {name: send(service, file) for name, file in files.items()}

    codes = {name: (answer.status, answer.json["code"]) for name, answer in answers.items()}
    assert codes == dict.fromkeys(files, (400, "audio_undecodable")) | {
        "bomb of silence": (400, "audio_too_long"),
        "empty": (400, "file_empty"),
        "too large": (413, "payload_too_large"),
    }
    assert balance(service) == before
    wait_for_no_uploads(service.data)
    assert service.pids("transcription") == workers
    assert memory(workers[0]) - needed < 100 * MIB


# The audio lives only until its job ends.


def holders(service: Running, mark: bytes) -> list[str]:
    """Return every file, deleted ones that are open included, that holds the mark."""
    folders = [service.data, Path(tempfile.gettempdir()), Path("/dev/shm")]
    # Folders of that name are those of sockets, and other tests' databases.
    mine = [path for folder in folders[1:] for path in folder.glob("pressroom-*") if path.is_file()]
    found = subprocess.run(
        ["grep", "-rlaF", mark.decode(), str(folders[0]), *map(str, mine)], capture_output=True, text=True, check=False
    ).stdout.splitlines()
    for pid in service.processes():
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                if "(deleted)" in str(link.readlink()) and mark in link.read_bytes():
                    found.append(f"{link} -> {link.readlink()}")
            except OSError:
                continue
    return found


@pytest.mark.parametrize("end", ["succeeded", "failed", "cancelled", "expired"])
def test_nothing_of_a_recording_is_left_when_its_job_has_ended(service: Running, end: str) -> None:
    mark = f"mark{uuid4().hex}".encode()  # 36 bytes, and so 18 samples
    # So long that it can't end by itself before it is looked for.
    marked = np.concatenate([*[LONG] * 20, np.frombuffer(mark, "<i2"), np.zeros(RATE, np.int16)])
    audio = b"junk" + mark * 10_000 if end == "failed" else wav(SENTENCE if end == "succeeded" else marked) + mark
    answer = send(service, audio, Prefer="respond-async")
    job_id = answer.json["id"]
    if end in ("cancelled", "expired"):
        wait_for_progress(service, job_id, seconds=0)
        assert holders(service, mark)
    if end == "cancelled":
        service.ask(f"/jobs/{job_id}/cancel", {}, method="POST")
    if end == "expired":
        with Database(service.database_url) as database:
            database.run(Statement("UPDATE job SET deadline = now() WHERE id = %(id)s RETURNING 1", {"id": job_id}))

    job = service.wait_for_state(job_id)

    assert job["state"] == end
    assert job["credits"]["captured"] == (5 if end == "succeeded" else 0)
    wait_for(lambda: not holders(service, mark), about=lambda: holders(service, mark))
    wait_for_no_uploads(service.data)


def wait_for_progress(service: Running, job_id: str, *, seconds: float) -> None:
    """Return once more than so many seconds of a recording have been heard."""
    until = time.monotonic() + 120
    while True:
        job = service.ask(f"/jobs/{job_id}").json
        assert job["progress"]["unit"] == "seconds"
        if job["state"] == "running" and job["progress"]["done"] > seconds and job["progress"]["total"] > 1:
            return
        assert time.monotonic() < until, job
        time.sleep(0.02)


@pytest.mark.storm  # test_transcription.py has a short one: another attempt goes on behind the last whole window
def test_a_worker_that_is_killed_costs_a_window_and_neither_a_word_nor_a_credit(service: Running) -> None:
    recording = wav(LONG)
    whole = send(service, recording, {"response_format": "verbose_json"}).json
    [worker] = service.pids("transcription")
    job_id = send(service, recording, {"response_format": "verbose_json"}, Prefer="respond-async").json["id"]
    wait_for_progress(service, job_id, seconds=1)
    assert kill(worker)

    job = service.wait_for_state(job_id)

    with Database(service.database_url) as database:
        [item] = database.run(Statement("SELECT crashes FROM item WHERE job_id = %(id)s", {"id": job_id}))
    assert item["crashes"] == 0  # it got further in its next attempt, so the crash is forgotten
    assert (job["state"], job["credits"]) == ("succeeded", {"held": 5, "captured": 5, "released": 0})
    assert service.ask(f"/jobs/{job_id}/result").json == whole
    starts = [segment["start"] for segment in whole["segments"]]
    assert starts == sorted(set(starts))


# The command.


def test_transcribe_writes_subtitles_beside_recordings_or_into_a_folder(
    service: Running, command_here: Callable[..., Ran], tmp_path: Path
) -> None:
    first, second = tmp_path / "first.wav", tmp_path / "second [take].mp3"
    first.write_bytes(wav(SENTENCE))
    second.write_bytes(encoded(SENTENCE, tmp_path, "mp3"))
    (tmp_path / "large.wav").write_bytes(heavy(SENTENCE, 30_000_000))

    def transcribe(*arguments: str) -> Ran:
        return command_here("transcribe", *arguments, "--data", str(service.data), PRESSROOM_API_KEY=service.key)

    done = transcribe(str(first), str(second), str(tmp_path / "large.wav"), "--format", "srt", "--language", "en")
    assert done.code == 0, done.err
    assert [cue.content.split() for cue in srt.parse((tmp_path / "first.srt").read_text())] == [SAID.split()]
    assert (tmp_path / "second [take].srt").exists()
    assert SAID in " ".join((tmp_path / "large.srt").read_text().split())
    assert "second [take].mp3" in done.err

    (tmp_path / "bad.wav").write_bytes(b"not a recording")
    out = tmp_path / "out"
    failed = transcribe(str(tmp_path / "bad.wav"), str(first), "--format", "json", "--out", str(out))
    assert failed.code == 1
    assert "bad.wav" in failed.err
    assert "Traceback" not in failed.err
    assert json.loads((out / "first.json").read_text())["text"] == SAID
    assert not (out / "bad.json").exists()

    assert transcribe(str(tmp_path / "nowhere.wav")).code == 1


def test_who_interrupts_transcribe_has_its_jobs_cancelled_and_pays_nothing(service: Running, tmp_path: Path) -> None:
    with Database(service.database_url) as database:
        key = open_account(database, name="hasty", tier="enterprise", credits=1_000).key.secret
    (tmp_path / "hours.wav").write_bytes(wav(np.concatenate([LONG] * 20)))
    with subprocess.Popen(
        command("transcribe", str(tmp_path / "hours.wav"), "--data", str(service.data)),
        env=clean_environment(extra={"PRESSROOM_API_KEY": key}),
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background jobs, such as this run of the tests may be, ignore it, and so do their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as transcribing:
        jobs = wait_for(lambda: service.ask("/jobs", X_API_Key=key).json)
        # By then the command knows its job.
        wait_for(lambda: service.ask(f"/jobs/{jobs[0]['id']}", X_API_Key=key).json["progress"]["done"])
        transcribing.send_signal(signal.SIGINT)
        said = transcribing.communicate(timeout=60)[1]

    job = service.ask(f"/jobs/{jobs[0]['id']}", X_API_Key=key).json
    assert (job["state"], job["credits"]["captured"]) == ("cancelled", 0)
    assert transcribing.returncode == 130
    assert "hours.wav: The job was cancelled; nothing was charged." in said
