"""Terminal lines: the part of the log that a person sees: requests, models and problems, a short line each."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

#: Events for people, with their text; others are shown from `warning` on.
SHOWN = {
    "model being fetched": "{model} ({size}) is downloading in the background; it adds {gives}",
    "model fetched": "{model} is here: {gives}",
    "model loaded": "{model} is loaded ({seconds} s)",
    "more models suit this machine": "{fetch} downloads more models for {family} ({size})",
    "engine ready now": "{engine} is ready now",
}
REQUEST = "request answered"
#: Paths that machines ask for: a browser's page, a probe.
QUIET_PATHS = re.compile(r"/(healthz|readyz|metrics|favicon\.ico|dashboard/static/.*)")
#: Fields that say nothing more than the event.
KNOWN_FIELDS = frozenset({"event", "level", "logger", "timestamp", "exception", "request_id"})
#: Informational lines of programs that write no JSON.
CHATTER = re.compile(
    r"\[\d{4}-[^\]]*\] .*\[INFO\]"  # gunicorn, dramatiq
    r"|\d+:[A-Z] \d\d \w{3} \d{4} .* [*#.-] (?!.*(?:rror|FAIL|atal|Can't|can't|MISCONF))"  # Redis
    r"|\d+:signal-handler \(\d+\) Received SIG"  # and as it is told to stop
    r"|(?:LOG|HINT|DETAIL|STATEMENT|NOTICE):  |\t"  # PostgreSQL
    r"|FATAL:  (?:the database system is (?:starting up|shutting down|in recovery mode)"
    r"|terminating connection due to administrator command)"
)
PALE, YELLOW, RED, GREEN, PLAIN = "\x1b[2m", "\x1b[33m", "\x1b[31m", "\x1b[32m", "\x1b[0m"
LEVEL_COLOURS = {"warning": YELLOW, "error": RED, "critical": RED}
NAME = "up.log"
#: A larger file replaces its predecessor, and a new one begins.
MAX_BYTES = 20 * 2**20


def readable(line: str) -> str | None:
    """Return a log line as text for people, or None to hide it."""
    try:
        record = json.loads(line) if line.startswith("{") else None
    except ValueError:
        record = None
    if not isinstance(record, dict) or "event" not in record:
        return None if not line.strip() or CHATTER.match(line) else _clean(line)
    event, level = str(record["event"]), str(record.get("level", ""))
    if event == REQUEST:
        return _request(record)
    if event in SHOWN:
        return _clean(SHOWN[event].format_map(_Fields(record)))
    if level not in LEVEL_COLOURS:
        return None
    said = _clean(" ".join([event, *(f"{name}={record[name]}" for name in record if name not in KNOWN_FIELDS)]))
    return f"{LEVEL_COLOURS[level]}{level}{PLAIN} {said}{_traceback(record)}"


class _Fields(dict[str, Any]):
    def __missing__(self, name: str) -> str:
        return "?"


def _request(record: Mapping[str, Any]) -> str | None:
    path, status = str(record.get("path", "")), int(record.get("status", 0))
    if QUIET_PATHS.fullmatch(path) and status < 500:
        return None
    colour = GREEN if status < 400 else YELLOW if status < 500 else RED
    seconds = float(record.get("seconds", 0))
    return f"{record.get('method', '')} {_clean(path)} {colour}{status}{PLAIN} {PALE}{seconds:.2f} s{PLAIN}"


def _traceback(record: Mapping[str, Any]) -> str:
    """Return an exception's error and last frame; the file has the whole traceback."""
    try:
        last = record["exception"][-1]
        frame = last["frames"][-1]
        return _clean(f" ({last['exc_type']}: {last['exc_value']}, {frame['filename']}:{frame['lineno']})")
    except (KeyError, IndexError, TypeError):
        return ""


def _clean(text: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text)


class KeptLog:
    """Appends lines to DATA/up.log; DATA/up.log.1 is its predecessor."""

    def __init__(self, data: Path) -> None:
        self.path = data / NAME
        self._file: BinaryIO | None = None
        self._size = 0

    def write(self, lines: bytes) -> None:
        """Write whole lines. A full disk stops nothing; the lines are lost."""
        with suppress(OSError):
            if self._file is None or self._size + len(lines) > MAX_BYTES:
                self._begin()
            if self._file is not None:
                self._file.write(lines)
                self._size += len(lines)

    def close(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()

    def _begin(self) -> None:
        self.close()
        self._file = None
        if self.path.exists():
            self.path.replace(self.path.with_name(f"{NAME}.1"))
        self._file = self.path.open("wb", buffering=0)
        self.path.chmod(0o600)
        self._size = 0
