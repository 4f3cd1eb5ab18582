"""ffmpeg: the program, run with limits and with access only to the files that it is given."""

import contextlib
import resource
import shutil
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import IO

from pipeline.errors import NotReady, PressroomError
from pipeline.log import get_logger
from pipeline.settings import Settings
from workers.engines import Stopped, never

log = get_logger(__name__)

#: For every run: no questions, no progress, only errors.
QUIET = ("-nostdin", "-hide_banner", "-nostats", "-loglevel", "error")
#: Limits of a run: 2 GiB of address space (a long video needs 300 MB), and open files.
MAX_ADDRESS_BYTES = 2 * 2**30
MAX_OPEN_FILES = 16
#: util-linux's program that makes the kernel kill ffmpeg when the thread that started it dies, even by SIGKILL. It
#: takes a millisecond. subprocess's `preexec_fn` is not safe in a process with threads.
TETHER = ("setpriv", "--pdeathsig", "KILL", "--")
#: Kept of ffmpeg's messages, which can be megabytes for a broken file.
KEPT_LINES = 5
KEPT_CHARACTERS = 300
#: Seconds between two calls of `stop` while a thread waits for a run.
STOP_CHECK_SECONDS = 0.2


class FfmpegFailed(PressroomError):
    """ffmpeg ended with an error, or took too long: on sound that we made, as when its disk is full."""

    code = "ffmpeg_failed"
    passes = True


class FfmpegUnfit(FfmpegFailed):
    """This ffmpeg can't do what is wanted, now or later."""

    passes = False


def find_ffmpeg(settings: Settings) -> "Ffmpeg":
    """Return the ffmpeg that PRESSROOM_FFMPEG names, else the one of the package imageio-ffmpeg. Raises NotReady."""
    if settings.ffmpeg is not None:
        path = shutil.which(settings.ffmpeg)
        if path is None:
            raise NotReady(f"PRESSROOM_FFMPEG is {settings.ffmpeg!r}, which is not a program. Unset it to use our own.")
        if not _has_fd_protocol(path):
            raise NotReady(
                f"PRESSROOM_FFMPEG is {settings.ffmpeg!r}, which is not ffmpeg, version 6 or newer. "
                "Unset it to use our own."
            )
        return Ffmpeg(path, _tether())
    try:
        import imageio_ffmpeg

        return Ffmpeg(imageio_ffmpeg.get_ffmpeg_exe(), _tether())
    except (ImportError, RuntimeError) as error:
        raise NotReady(f"There is no ffmpeg: {error} Reinstall imageio-ffmpeg, or set PRESSROOM_FFMPEG.") from error


def pcm_input(sample_rate: int) -> list[str]:
    """Return the options to read raw samples from standard input as soon as they come."""
    # Without the probe sizes ffmpeg waits for 5 MB to detect the format.
    probe = ["-probesize", "32", "-analyzeduration", "0"]
    return [*probe, "-f", "s16le", "-ar", str(sample_rate), "-ac", "1", "-protocol_whitelist", "fd,pipe", "-i", "fd:"]


@dataclass(frozen=True, slots=True)
class Ffmpeg:
    """An ffmpeg, version 6 or newer, with libmp3lame. The `tether` command, if any, ends it with our process."""

    path: str
    tether: tuple[str, ...] = ()

    def start(
        self,
        arguments: Sequence[str],
        *,
        stdin: IO[bytes] | int,
        stdout: IO[bytes] | int,
        time_limit: timedelta,
        max_output_bytes: int | None = None,
        refuse: Callable[[str], bool] = lambda line: False,
    ) -> "FfmpegRun":
        """Start a run that is killed after `time_limit`, if it writes more than `max_output_bytes`, or if it prints a
        line that `refuse` is true for.

        `stdin` and `stdout` are files, read from their position, or PIPE. The calling thread must outlive the run."""
        command = [*self.tether, self.path, *QUIET, *arguments]
        process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env={}, cwd="/")
        _confine(process.pid, time_limit, max_output_bytes)
        return FfmpegRun(process, time_limit, refuse)


class FfmpegRun(contextlib.AbstractContextManager["FfmpegRun"]):
    """A running ffmpeg; leaving its `with` block ends it."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", time_limit: timedelta, refuse: Callable[[str], bool]
    ) -> None:
        self._process = process
        self._refuse = refuse
        self._is_refused = False
        self._time_limit = time_limit
        self._said: deque[str] = deque(maxlen=KEPT_LINES)
        self._timed_out = False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._timer = threading.Timer(time_limit.total_seconds(), self._end_late)
        self._timer.daemon = True
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def output(self) -> IO[bytes]:
        """The pipe of its output, if its `stdout` is PIPE."""
        return _piped(self._process.stdout)

    def write(self, data: bytes) -> None:
        """Send bytes to its standard input, and wait until they are read. Raises FfmpegFailed."""
        pipe = _piped(self._process.stdin)
        try:
            pipe.write(data)
            pipe.flush()
        except (OSError, ValueError) as error:
            raise self._failure() from error

    def end_input(self) -> None:
        """Close its standard input."""
        with contextlib.suppress(OSError):
            _piped(self._process.stdin).close()

    def wait(self, stop: Callable[[], bool] = never) -> bool:
        """Wait for its end; return whether it succeeded. Raises FfmpegFailed if it was too slow, Stopped."""
        # The thread that reads its messages ends with ffmpeg.
        while self._listener.is_alive():
            if stop():
                self._process.kill()
                raise Stopped
            self._listener.join(STOP_CHECK_SECONDS)
        succeeded = self._process.wait() == 0 and not self._is_refused
        if self._timed_out:
            raise self._failure()
        return succeeded

    def check(self, stop: Callable[[], bool] = never) -> None:
        """Close its standard input, and wait for its end. Raises FfmpegFailed, Stopped."""
        if self._process.stdin is not None:
            self.end_input()
        if not self.wait(stop):
            raise self._failure()

    def said(self) -> str:
        """Return its last messages, for a log only: a hostile file can decide what they say."""
        self._listener.join(timeout=1)
        return " | ".join(self._said)

    def kill(self) -> None:
        """End it; its output ends too."""
        self._process.kill()

    def close(self) -> None:
        """End it if it still runs, and close its pipes, which no thread may be reading."""
        self._timer.cancel()
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process.wait()
        self._listener.join(timeout=1)

    def _listen(self) -> None:
        with _piped(self._process.stderr) as lines:
            while line := lines.readline(KEPT_CHARACTERS):
                self._said.append(line.decode("ascii", "backslashreplace").strip())
                if self._refuse(self._said[-1]):
                    self._is_refused = True
                    self._process.kill()

    def _end_late(self) -> None:
        self._timed_out = True
        self._process.kill()

    def _failure(self) -> FfmpegFailed:
        if self._timed_out:
            return FfmpegFailed(f"ffmpeg was stopped after {self._time_limit.total_seconds():.0f} s.")
        log.warning("ffmpeg failed", status=self._process.wait(), said=self.said())
        return FfmpegFailed(f"ffmpeg ended with status {self._process.wait()}; the log says why.")


def _has_fd_protocol(path: str) -> bool:
    """Return whether a program is an ffmpeg with the protocol `fd`, which reads uploads."""
    try:
        told = subprocess.run(
            [path, "-hide_banner", "-protocols"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return b"fd" in told.stdout.split()


def _tether() -> tuple[str, ...]:
    """Return the command that ends a program with our process; empty if it is missing (macOS, BusyBox)."""
    program = shutil.which(TETHER[0])
    if sys.platform != "linux" or program is None:
        return ()
    tether = (program, *TETHER[1:])
    tried = subprocess.run([*tether, program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return tether if tried.returncode == 0 else ()


def _piped(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ValueError("This end of ffmpeg is a file and not a pipe.")
    return pipe


def _confine(pid: int, time_limit: timedelta, max_output_bytes: int | None) -> None:
    """Limit a process that has just started and read no input."""
    if not hasattr(resource, "prlimit"):  # macOS
        return
    seconds = int(time_limit.total_seconds()) + 1
    limits = {
        resource.RLIMIT_AS: MAX_ADDRESS_BYTES,
        resource.RLIMIT_NOFILE: MAX_OPEN_FILES,
        resource.RLIMIT_CPU: seconds * 4,  # of all its threads
        resource.RLIMIT_CORE: 0,
    }
    if max_output_bytes is not None:
        limits[resource.RLIMIT_FSIZE] = max_output_bytes
    # It may have ended already.
    with contextlib.suppress(ProcessLookupError):
        for limit, value in limits.items():
            resource.prlimit(pid, limit, (value, value))
