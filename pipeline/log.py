"""Logs: one JSON line an event, with job and request ids bound; text for a terminal. No line holds an API key."""

import asyncio
import atexit
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import structlog
from pydantic_core import to_json
from structlog.typing import FilteringBoundLogger, Processor

from pipeline.accounts.keys import redact
from pipeline.job_log import remember
from pipeline.settings import Settings

SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
    remember,
]

# Without the frames' variables: they hold requests, and requests hold keys.
TRACEBACKS = structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))


def _write(text: str) -> None:
    """Write to standard error. Never raises: a heartbeat must go on even if nobody reads the log."""
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


#: Longest time for which a line waits for others.
HOLD_SECONDS = 0.1


class Held:
    """Lines of level info and below, which wait to be written together. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: list[str] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0

    def begin(self) -> None:
        """Hold lines from now on, and have this event loop write them."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        atexit.register(self.end)

    def end(self) -> None:
        """Write the held lines, and each line at once from now on."""
        self._loop = None
        self.write()

    def add(self, line: str) -> None:
        """Write a line soon; at once where no loop does it."""
        with self._lock:
            is_first = not self._lines
            self._lines.append(line)
        if self._loop is None:
            self.write()
        elif is_first:
            self._write_later(self._loop)

    def write(self, *lines: str) -> None:
        """Write the held lines, and lines after them."""
        with self._lock:
            held, self._lines = [*self._lines, *lines], []
            if held:
                _write("\n".join((*held, "")))

    def _write_later(self, loop: asyncio.AbstractEventLoop) -> None:
        if threading.get_ident() == self._thread:
            loop.call_later(HOLD_SECONDS, self.write)
        else:
            loop.call_soon_threadsafe(loop.call_later, HOLD_SECONDS, self.write)


#: This process's lines. One write a request took a twentieth of the API's time.
held = Held()


class Lines:
    """Writes lines to standard error, which processes share; `name` is the module that logs.

    A package that asks structlog for a logger gives none: that must not raise where it logs."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def msg(self, line: str) -> None:
        """Write a line at once, behind those that are held."""
        held.write(line)

    def info(self, line: str) -> None:
        """Write a line, with others where the process holds them."""
        held.add(line)

    debug = info
    log = warn = warning = fatal = failure = err = error = critical = exception = msg


def configure(settings: Settings) -> None:
    """Send every log record of this process, ours and the libraries', to standard error.

    Ours bypass the logging module, which would take a tenth of the API's time: one record is written a request."""
    as_json = not sys.stderr.isatty() if settings.log_format == "auto" else settings.log_format == "json"
    renderer = _json_renderer() if as_json else _text_renderer()
    _configure_libraries(settings, renderer)
    structlog.configure(
        processors=[*SHARED, *renderer],
        logger_factory=Lines,
        wrapper_class=structlog.make_filtering_bound_logger(settings.log_level.lower()),
        cache_logger_on_first_use=True,
    )


def get_logger(name: str, **fields: Any) -> FilteringBoundLogger:
    """Return a logger named after its module, with fields bound to every event."""
    logger: FilteringBoundLogger = structlog.get_logger(name, **fields)
    return logger


@contextmanager
def errors_logged(log: FilteringBoundLogger, event: str, **fields: Any) -> Iterator[list[Exception]]:
    """Log any exception of the block, and go on: for threads that must not end, and for code of plug-ins.

    The list that it yields has the exception afterwards."""
    caught: list[Exception] = []
    try:
        yield caught
    except Exception as error:  # nobody would notice the end of a thread, or do its work
        log.exception(event, **fields)
        caught.append(error)


def _configure_libraries(settings: Settings, renderer: list[Processor]) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=SHARED, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer]
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())


def _json_renderer() -> list[Processor]:
    return [TRACEBACKS, structlog.processors.JSONRenderer(serializer=_to_json), _redacted]


def _text_renderer() -> list[Processor]:
    return [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback), _redacted]


def _to_json(event: Any, **_: Any) -> str:
    return to_json(event, fallback=str, inf_nan_mode="constants").decode()


def _redacted(logger: Any, method: str, line: Any) -> str:
    return redact(str(line))
