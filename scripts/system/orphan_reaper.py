"""Orphan reaper: a small process that outlives a killed supervisor and kills the process groups that it left.

Children ask the kernel for a signal at their parent's death (pipeline/operations/child_processes.py) and drain. A hung
one would stay for ever, and macOS has no such signal. So the supervisor writes its process groups into a pipe. If the
pipe ends with groups left, the reaper waits for their drains and kills them.

It runs with the interpreter's -I and -S, on the standard library alone."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import timedelta


class OrphanReaper:
    """The supervisor's side of the pipe."""

    def __init__(self) -> None:
        self._groups: dict[int, str] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, group: int, *, drain: timedelta, stopped_by: signal.Signals) -> None:
        """Add a process group, to be killed after its drain if the supervisor dies."""
        self._groups[group] = f"{group} {drain.total_seconds()} {stopped_by.value}"
        self._send(self._groups[group])

    def forget(self, group: int) -> None:
        del self._groups[group]
        self._send(str(group))

    def close(self) -> None:
        """End the reaper; call it when no group is left."""
        if self._process and self._process.stdin:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process.wait()

    def _send(self, line: str) -> None:
        if self._process is None or self._process.poll() is not None:
            self._start()
            line = "\n".join(self._groups.values()) or line
        if self._process and self._process.stdin:
            # It may be killed at this moment: then the next line starts another.
            with suppress(BrokenPipeError):
                self._process.stdin.write(f"{line}\n".encode())
                self._process.stdin.flush()

    def _start(self) -> None:
        command = [sys.executable, "-I", "-S", __file__]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )


def main() -> None:
    """Keep the list of groups; when the pipe ends, wait for the drains and kill the rest."""
    groups: dict[int, tuple[float, int]] = {}
    for line in sys.stdin:
        match line.split():
            case [group, drain, stopped_by]:
                groups[int(group)] = (float(drain), int(stopped_by))
            case [group]:
                groups.pop(int(group), None)
    if sys.platform != "linux":
        for group, (_, stopped_by) in groups.items():
            with suppress(OSError):
                os.kill(group, stopped_by)
    ended = time.monotonic()
    for group, (drain, _) in sorted(groups.items(), key=lambda item: item[1][0]):
        while time.monotonic() < ended + drain and group_lives(group):
            time.sleep(0.1)
        kill_group(group)


def group_lives(group: int) -> bool:
    """Return whether a process group has processes. The kernel reuses the numbers of empty groups alone."""
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def kill_group(group: int) -> None:
    """Kill the processes of a group, if there are any."""
    with suppress(OSError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
