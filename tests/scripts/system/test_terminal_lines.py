"""The lines that a person at a terminal sees, and those that are kept."""

import io
import json
import re
from pathlib import Path

import pytest

from scripts.console import Console
from scripts.system.terminal_lines import MAX_BYTES, KeptLog, readable

GUNICORN_ERROR = "[2026-11-23 08:25:59 +0000] [10703] [ERROR] Worker exiting"
REDIS_ERROR = "10631:M 23 Nov 2026 08:25:50.382 # Fatal error loading the DB"


def record(event: str, level: str = "info", **fields: object) -> str:
    return json.dumps({"event": event, "level": level, "logger": "x", "timestamp": "2026-11-23T08:00:00Z", **fields})


def plain(line: str | None) -> str | None:
    return None if line is None else re.sub(r"\x1b\[\d+m", "", line)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            record("request answered", method="POST", path="/tts", status=200, seconds=0.4321, account_id=None),
            "POST /tts 200 0.43 s",
        ),
        (record("request answered", method="GET", path="/healthz", status=200, seconds=0.001), None),
        (
            record("request answered", method="GET", path="/readyz", status=503, seconds=0.001),
            "GET /readyz 503 0.00 s",
        ),
        (record("pool process ready", queue="vision"), None),
        (record("engine not ready", engine="vlm", needs="a model"), None),
        (record("model fetched", model="piper-x", gives="a voice"), "piper-x is here: a voice"),
        (record("model loaded", model="tiny"), "tiny is loaded (? s)"),
        (record("lease lost", "warning", job_id="7", request_id="a"), "warning lease lost job_id=7"),
        (
            record(
                "it broke",
                "error",
                exception=[
                    {"exc_type": "ValueError", "exc_value": "no", "frames": [{"filename": "a.py", "lineno": 7}]}
                ],
            ),
            "error it broke (ValueError: no, a.py:7)",
        ),
        ("[2026-11-23 08:25:59 +0000] [10703] [INFO] Starting gunicorn 27.0.1", None),
        (GUNICORN_ERROR, GUNICORN_ERROR),
        ("10631:M 23 Nov 2026 08:25:50.382 # Server initialized", None),
        ("10631:signal-handler (1795522578) Received SIGTERM scheduling shutdown...", None),
        (REDIS_ERROR, REDIS_ERROR),
        ("LOG:  database system is ready to accept connections", None),
        ("PANIC:  could not write to file", "PANIC:  could not write to file"),
        ("Traceback (most recent call last):", "Traceback (most recent call last):"),
        ('{"half a line', '{"half a line'),
        ("\x1b[2Jcleared", " [2Jcleared"),
        ("", None),
    ],
)
def test_a_person_sees_requests_models_and_what_is_wrong(line: str, shown: str | None) -> None:
    assert plain(readable(line)) == shown


def test_a_path_cannot_command_the_terminal() -> None:
    line = readable(record("request answered", method="GET", path="/\x1b[2J", status=404, seconds=0))
    assert line is not None
    assert "\x1b[2J" not in line


def test_what_is_not_shown_is_kept(tmp_path: Path) -> None:
    kept, stream = KeptLog(tmp_path), io.BytesIO()
    console = Console(stream, colour=False, readable=readable, keep=kept.write)
    console._put("api.1", [record("engine ready now", engine="llama").encode(), record("item reported").encode()])
    console.say("ready")
    console.show("the key")
    console.close()
    kept.close()

    shown, written = stream.getvalue().decode(), (tmp_path / "up.log").read_text()
    assert "llama is ready now" in shown
    assert "item reported" not in shown
    assert "item reported" in written
    assert "the key" in shown
    assert "the key" not in written
    assert [line.partition(" ")[0] for line in written.splitlines()] == ["api.1", "api.1", "pressroom"]
    assert (tmp_path / "up.log").stat().st_mode & 0o777 == 0o600


def test_a_kept_log_begins_anew_before_it_is_too_large(tmp_path: Path) -> None:
    kept = KeptLog(tmp_path)
    line = b"x" * (MAX_BYTES // 2) + b"\n"
    for _ in range(3):
        kept.write(line)
    kept.close()
    assert (tmp_path / "up.log").stat().st_size <= MAX_BYTES
    assert (tmp_path / "up.log.1").exists()
