"""Forks: processes that are forked from one that has imported all they need.

`multiprocessing`'s fork server is that one: a process is ready in a tenth of the time that Python takes.
"""

import faulthandler
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import forkserver
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any
from unittest.mock import patch

#: Modules that the processes need, imported once.
WARM = (
    "api.server",
    "bs4",
    "capabilities.index_check.handlers.check",
    "capabilities.speech.handlers.speech",
    "crash_api",
    "crash_worker",
    "dramatiq",
    "gunicorn.app.wsgiapp",
    "lxml.html",
    "scripts.commands.sweep",
    "warm_api",
    "workers.main",
    "workers.webhooks.sending",
)
#: Needed by the crash points of all kinds as well.
WARM_FOR_ALL = (
    "capabilities.alt_text.handlers.alt_text",
    "capabilities.blog.handlers.blog",
    "capabilities.index_check.handlers.submit",
    "capabilities.speech.handlers.batch",
    "capabilities.speech.handlers.music",
    "capabilities.speech.handlers.stream",
    "capabilities.transcription.handlers.stream",
    "capabilities.transcription.handlers.transcription",
    "faster_whisper",
    "imageio_ffmpeg",
    "rapidocr",
)

#: Held while a process is asked for its exit code, or one is started, which asks all others. CPython reads the code
#: from a pipe: of two threads that read at once, the second finds the pipe at its end, and keeps 255.
_ASKING = threading.Lock()


@cache
def _server() -> Any:
    """Return the context whose processes are forked from a warm one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*WARM, *(WARM_FOR_ALL if os.environ.get("CRASH_POINTS") == "all" else ())])
    # Until Python 3.12.8 the server does not know our path, and passes over what it does not find (gh-117378).
    with patch.dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)):
        forkserver.ensure_running()
    return context


@contextmanager
def forked(target: Callable[..., None], *arguments: Any) -> Iterator[Any]:
    """Run a process until the block ends."""
    process = _server().Process(target=target, args=arguments, daemon=True)
    with _ASKING:
        process.start()
    try:
        yield process
    finally:
        if ended(process) is None:
            with suppress(ProcessLookupError):  # it may end in between
                os.kill(process.pid, signal.SIGQUIT)  # gunicorn then waits for nobody
        ended(process, 60)
        with _ASKING:
            process.close()


def become(environment: Mapping[str, str], log: Path) -> None:
    """Take on an environment and a log of its own."""
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    tempfile.gettempdir()  # Python tries it once, by a file of four bytes; before the calls that count
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    faulthandler.enable()  # one that dies of itself says where
    faulthandler.register(signal.SIGUSR1)


def ended(process: Any, seconds: float = 0) -> int | None:
    """Wait so long for a process to end; return its exit code, None where it has not ended."""
    wait([process.sentinel], seconds)
    with _ASKING:
        status: int | None = process.exitcode
    return status


def join(process: Any, seconds: float) -> int | None:
    """Return a process's exit code; one that does not end says in its log where each of its threads is."""
    status = ended(process, seconds)
    if status is None:
        os.kill(process.pid, signal.SIGUSR1)
        status = ended(process, 1)
    return status
