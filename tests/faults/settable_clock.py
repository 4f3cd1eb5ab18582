"""A clock that a test steps: a library of few lines, preloaded into the processes, adds seconds to the time of day.

Nothing else on the machine sees another time."""

import os
import shutil
import struct
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import tools

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long long *offset;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("STEPPED_CLOCK");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *found = mmap(0, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) offset = found;
    close(file);
}

int clock_gettime(clockid_t which, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(which, now);
    if (!result && offset && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) now->tv_sec += *offset;
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec found;
    if (clock_gettime(CLOCK_REALTIME, &found)) return -1;
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (result) *result = found.tv_sec;
    return found.tv_sec;
}
"""


@dataclass
class SettableClock:
    """A clock that is shared by the processes that have its environment. Without a compiler it can't be stepped."""

    environment: Mapping[str, str]
    file: Path
    can_step: bool

    def step(self, seconds: int) -> None:
        """Set it so many seconds off the machine's, at once."""
        with self.file.open("r+b") as opened:
            opened.write(struct.pack("q", seconds))


@contextmanager
def settable_clock(folder: Path) -> Iterator[SettableClock]:
    """Make a clock in a folder that everybody may read."""
    file, source, library = folder / "clock", folder / "clock.c", folder / "clock.so"
    file.write_bytes(struct.pack("q", 0))
    source.write_text(SOURCE)
    compiler = shutil.which("cc")
    command = [compiler or "cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
    can_step = bool(compiler) and os.uname().sysname == "Linux" and not subprocess.call(command)
    if not can_step:
        tools.do_without("cc", "no C compiler makes the clock's library here")
    found = {"LD_PRELOAD": str(library), "STEPPED_CLOCK": str(file)} if can_step else {}
    yield SettableClock(found, file, can_step)
