"""The undertaker: a small process that outlives the supervisor by one drain and ends whatever is left of it.

Every child asks the kernel for a signal at its parent's death (pipeline.processes), and drains; a child that hangs
would stay for ever, and on macOS there is no such signal. The supervisor tells the undertaker of each process group
over a pipe; when the pipe ends and groups are left, the supervisor was killed.

Run with the interpreter's -I and -S: the standard library alone.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import timedelta


class Undertaker:
    """The supervisor's side of the pipe."""

    def __init__(self) -> None:
        self._groups: dict[int, str] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, group: int, *, drain: timedelta, stopped_by: signal.Signals) -> None:
        """End this process group, too, should the supervisor die."""
        self._groups[group] = f"{group} {drain.total_seconds()} {stopped_by.value}"
        self._tell(self._groups[group])

    def forget(self, group: int) -> None:
        """The group is gone."""
        del self._groups[group]
        self._tell(str(group))

    def close(self) -> None:
        """Let the undertaker go, after everything else."""
        if self._process and self._process.stdin:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process.wait()

    def _tell(self, line: str) -> None:
        if self._process is None or self._process.poll() is not None:
            self._hire()
            line = "\n".join(self._groups.values()) or line
        if self._process and self._process.stdin:
            # Killed this moment: the next line finds out, and hires another.
            with suppress(BrokenPipeError):
                self._process.stdin.write(f"{line}\n".encode())
                self._process.stdin.flush()

    def _hire(self) -> None:
        command = [sys.executable, "-I", "-S", __file__]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def main() -> None:
    """Keep the list; at the end of the pipe, wait for the drains and kill what is left."""
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
    """Say whether a process group has processes; its number is not given to another while it has."""
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def kill_group(group: int) -> None:
    """Kill every process of a group, if there are any."""
    with suppress(OSError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
