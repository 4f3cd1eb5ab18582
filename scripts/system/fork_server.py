"""Fork server: a process that has imported what a system's programs share, and forks them (docs/decisions/0056).

A fork copies one thread, and the locks that others hold for ever. So `pressroom up` forks this process before it has a
thread or a loop of its own, and here there never is one. Where it can't run, programs start by exec."""

import asyncio
import atexit
import ctypes
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fcntl import F_DUPFD, fcntl
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from pipeline.operations.child_processes import adopt, die_with_parent, shimmed
from scripts.system.programs import ROOT, Program

#: Modules of forked programs. None starts a thread, or belongs to an engine.
SHARED_MODULES = (
    "api.server",
    "gunicorn.app.wsgiapp",
    "scripts.commands.sweep",
    "scripts.commands.system",
    "workers.main",
)
#: A request holds an environment; Linux has no larger messages by default.
MOST_REQUEST_BYTES = 2**18
MOST_DESCRIPTORS = 8
#: <linux/prctl.h>
PR_SET_NAME = 15


class Forked:
    """A forked program, with what the supervisor needs of an `asyncio.subprocess.Process`."""

    def __init__(self, pid: int, reports: asyncio.StreamReader) -> None:
        self.pid = pid
        self._reports = reports

    async def wait(self) -> int:
        """Return the exit status, once. If the fork server dies, the kernel sends its children SIGTERM, and each drains
        beside the program that takes its place."""
        return int(await self._reports.readline() or -signal.SIGTERM)

    def send_signal(self, sent: int, /) -> None:
        """Send a signal. Raises ProcessLookupError."""
        os.kill(self.pid, sent)


Process = asyncio.subprocess.Process | Forked
#: Starts a program, given its replica's name and the descriptor of its output. Raises OSError.
Start = Callable[[Program, str, int], Awaitable[Process]]


async def execute(program: Program, _: str, output: int) -> Process:
    """Start a program by exec, through the shim."""
    return await asyncio.create_subprocess_exec(
        *shimmed(program.argv, sent=program.stopped_by),
        env=program.environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=program.descriptors,
        cwd=program.folder,
    )


@contextmanager
def forking() -> Iterator[Start]:
    """Yield what starts programs; call it before the process has threads."""
    if sys.platform != "linux":  # elsewhere, system libraries have threads
        yield execute
        return
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    gc.freeze()
    sys.stdout.flush()  # or the child would write it again
    supervisor, pid = os.getpid(), os.fork()
    if pid == 0:
        _end_after(lambda: _serve(theirs.detach(), supervisor))
    theirs.close()
    ours.setblocking(False)
    try:
        yield ForkServer(ours).start
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


class ForkServer:
    """The supervisor's side."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests

    async def start(self, program: Program, name: str, output: int) -> Process:
        """Have a program forked if it may be and the fork server lives; otherwise, start it by exec."""
        forked = await self._fork(program, name, output) if program.forked else None
        return forked or await execute(program, name, output)

    async def _fork(self, program: Program, name: str, output: int) -> Forked | None:
        ours, theirs = os.pipe()
        reports = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reports), os.fdopen(ours, "rb")
        )
        wanted = {
            "name": name,
            "module": program.argv[program.argv.index("-m") + 1 :],
            "environment": dict(program.environment),
            "folder": str(program.folder or Path.cwd()),
            "sent": program.stopped_by,
            "descriptors": program.descriptors,
        }
        try:
            socket.send_fds(self._requests, [json.dumps(wanted).encode()], [output, theirs, *program.descriptors])
        except OSError:  # it has died, has many requests, or the environment is too large
            return None
        finally:
            os.close(theirs)
        pid = await reports.readline()
        return Forked(int(pid), reports) if pid else None


def import_shared() -> None:
    """Import what programs share, which the collector then leaves alone: it would write to each object."""
    gc.disable()
    for module in SHARED_MODULES:
        importlib.import_module(module)
    importlib.import_module("api.app").import_parts()
    gc.freeze()
    gc.enable()


def _serve(number: int, supervisor: int) -> NoReturn:
    """Fork a program at each request that comes by the socket of that number."""
    _close_all_but(number)  # the data folder's lock and the API's socket end with the supervisor
    os.setsid()
    die_with_parent(supervisor)
    _name("fork server")
    os.chdir(ROOT)  # gunicorn takes code from the folder in which it is imported
    import_shared()
    if len([*Path("/proc/self/task").iterdir()]) > 1:
        sys.exit("No program is forked: a plug-in has started a thread.")
    requests = socket.socket(fileno=number)
    watched = selectors.DefaultSelector()
    watched.register(requests, selectors.EVENT_READ)
    while True:
        for ready, _ in watched.select():
            if ready.data is not None:
                watched.unregister(ready.fd)
                _report_end(ready.fd, *ready.data)
                continue
            content, passed, *_ = socket.recv_fds(requests, MOST_REQUEST_BYTES, MOST_DESCRIPTORS)
            if not content:
                sys.exit()
            try:
                _serve_one(watched, json.loads(content), passed)
            except OSError:  # no process or descriptor is left: the supervisor reads no id, and starts it by exec
                traceback.print_exc()


def _serve_one(watched: selectors.BaseSelector, wanted: dict[str, Any], passed: Sequence[int]) -> None:
    """Fork a program, and watch it. Raises OSError, with nothing left of it."""
    output, reports, *descriptors = passed
    try:
        pid = _fork(wanted, output, descriptors)
    except OSError:
        for descriptor in passed:
            os.close(descriptor)
        raise
    try:
        watched.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, reports))
    except OSError:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reports)
        raise
    with suppress(BrokenPipeError):  # the supervisor has died, and the program is about to
        os.write(reports, b"%d\n" % pid)


def _report_end(watched: int, pid: int, reports: int) -> None:
    """Write a child's exit status to the pipe of its request."""
    _, status = os.waitpid(pid, 0)
    with suppress(BrokenPipeError):
        os.write(reports, b"%d\n" % os.waitstatus_to_exitcode(status))
    os.close(reports)
    os.close(watched)


def _fork(wanted: dict[str, Any], output: int, descriptors: Sequence[int]) -> int:
    server, pid = os.getpid(), os.fork()
    if pid == 0:
        _end_after(lambda: _become(wanted, server, output, descriptors))
    for descriptor in (output, *descriptors):
        os.close(descriptor)
    return pid


def _become(wanted: dict[str, Any], server: int, output: int, descriptors: Sequence[int]) -> None:
    """Run a program as `python -m` would."""
    numbers = (0, 1, 2, *wanted["descriptors"])
    above = max(numbers) + 1  # a number that is wanted may be another's that is still to be moved
    held = [fcntl(one, F_DUPFD, above) for one in (os.open(os.devnull, os.O_RDONLY), output, output, *descriptors)]
    for one, number in zip(held, numbers, strict=True):
        os.dup2(one, number)
    _close_all_but(*wanted["descriptors"])  # other programs' pipes too: each ends with its last holder
    os.environ.clear()
    os.environ.update(wanted["environment"])
    adopt(server, signal.Signals(wanted["sent"]))
    _name(wanted["name"])
    os.chdir(wanted["folder"])
    sys.argv = wanted["module"]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _end_after(work: Callable[[], object]) -> NoReturn:
    """End a forked process after its work as an interpreter does, without what its parent had begun."""
    code = 1
    try:
        try:
            work()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
            if isinstance(ended.code, str):
                sys.stderr.write(f"{ended.code}\n")
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
    finally:  # whatever can't be written any more
        os._exit(code)


def _close_all_but(*numbers: int) -> None:
    for below, above in pairwise([2, *sorted(numbers), os.sysconf("SC_OPEN_MAX")]):
        os.closerange(below + 1, above)


def _name(name: str) -> None:
    """Name this process for `ps` and `top`, which otherwise show the supervisor's command."""
    ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode()[:15], 0, 0, 0)
