"""Processes: children that end when their parent dies, so that nothing is left running after a SIGKILL.

Run as a file, with the interpreter's -I and -S, it is the shim between the supervisor and a program that is not ours:
it asks the kernel for a signal at the supervisor's death, and becomes the program. The request survives exec (prctl(2);
not for set-user-ID programs) but not fork, so each program's own children ask again, by `die_with_parent()` in their
main module."""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence

#: The pid of the supervisor, or of its fork server, in the environment of its children and of theirs.
SUPERVISOR = "PRESSROOM_SUPERVISED_BY"
#: The pid of the supervisor's own child, in its environment and in its children's.
MASTER = "PRESSROOM_MASTER"
#: <linux/prctl.h>
PR_SET_PDEATHSIG = 1
#: Interval at which a process looks for its parent if the kernel sends no signal (macOS).
WATCH_SECONDS = 0.5


def die_with_parent(parent: int | None = None, *, sent: signal.Signals = signal.SIGTERM) -> None:
    """Have `sent` delivered to this process when its parent dies, and stop now if it is dead already.

    Call it from the main thread, early in a process's main module. `parent` is the pid that the parent must have; by
    default it is taken from the environment that the shim sets."""
    expected = _expected_parent() if parent is None else parent
    if sys.platform == "linux":
        _set_parent_death_signal(sent)
    else:
        threading.Thread(target=_watch, args=(os.getppid(), sent), name="parent", daemon=True).start()
    # The parent may have died before the kernel was asked; getppid then returns another process's pid.
    if os.getppid() != expected:
        os.kill(os.getpid(), sent)


def shimmed(argv: Sequence[str], *, sent: signal.Signals = signal.SIGTERM) -> list[str]:
    """Return a command that runs `argv` in its own session and sends it `sent` when this process dies."""
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(sent.value), *argv]


def _expected_parent() -> int:
    master = os.environ.get(MASTER)
    if master is None:
        return os.getppid()
    return int(os.environ[SUPERVISOR] if int(master) == os.getpid() else master)


def _set_parent_death_signal(sent: signal.Signals) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, sent.value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")


def _watch(parent: int, sent: signal.Signals) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os.kill(os.getpid(), sent)


def adopt(parent: int, sent: signal.Signals) -> None:
    """Make this process a supervised one: its parent's death is signalled, and its own children know both."""
    os.setsid()  # a session of its own: the terminal's Ctrl-C reaches the supervisor alone
    os.environ[SUPERVISOR] = str(parent)
    os.environ[MASTER] = str(os.getpid())
    if sys.platform == "linux":
        die_with_parent(parent, sent=sent)


def _shim(supervisor: int, sent: signal.Signals, argv: list[str]) -> None:
    adopt(supervisor, sent)
    try:
        os.execvp(argv[0], argv)  # noqa: S606  # no shell is wanted
    except OSError as error:
        sys.exit(f"{argv[0]} can't be run: {error.strerror}")


if __name__ == "__main__":
    _shim(int(sys.argv[1]), signal.Signals(int(sys.argv[2])), sys.argv[3:])
