"""Machine: the memory, cores and GPUs of this computer or container, for running models."""

import ctypes
import importlib.util
import os
import platform
from ctypes.util import find_library
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from workers.models.catalogue import CatalogueModel, Needs
from workers.models.cgroup import MemoryGroup

#: A container's processor time: microseconds, or "max", in each period of so many microseconds.
CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")
MEMINFO, CPUINFO = Path("/proc/meminfo"), Path("/proc/cpuinfo")
#: As /proc/cpuinfo names them.
INSTRUCTIONS = ("avx2", "fma", "f16c", "bmi2")


@dataclass(frozen=True, slots=True)
class Machine:
    """Memory in bytes; `gpu_bytes` is that of the largest CUDA device, 0 where there is none."""

    memory_bytes: int
    cores: int
    gpu_bytes: int = 0
    #: True if cuBLAS and cuDNN are where the linker finds them.
    has_cuda: bool = True
    #: Memory that nothing takes at the moment; None: it does not matter.
    free_bytes: int | None = None
    #: True if llama.cpp can be imported without ending the process.
    has_instructions: bool = True

    def lacks(self, needs: Needs) -> str | None:
        """Return why the machine is too small, in words; None: it isn't."""
        if needs.gpu and self.gpu_bytes < needs.memory_bytes:
            return f"a GPU with {gigabytes(needs.memory_bytes)}"
        if needs.cuda and not self.has_cuda:
            return "cuBLAS of CUDA 12 and cuDNN 9"
        if not needs.gpu and self.memory_bytes < needs.memory_bytes:
            return f"{gigabytes(needs.memory_bytes)} of memory"
        if self.free_bytes is not None and self.free_bytes < needs.free_bytes:
            return f"{gigabytes(needs.free_bytes)} of free memory"
        if needs.instructions and not self.has_instructions:
            return f"a processor with {', '.join(INSTRUCTIONS).upper()}"
        return f"{needs.cores} cores" if self.cores < needs.cores else None

    def suits(self, model: CatalogueModel) -> bool:
        """Return whether a model can be run here, with the packages that are installed."""
        packages = model.needs.packages
        return self.lacks(model.needs) is None and all(importlib.util.find_spec(package) for package in packages)


def this_machine() -> Machine:
    """Return this machine with its current free memory, without imports: torch alone would take a second."""
    return replace(_fixed(), free_bytes=free_memory())


@cache
def _fixed() -> Machine:
    gpu_bytes = _gpu_bytes()
    return Machine(
        _memory_bytes(),
        count_cores(),
        gpu_bytes,
        has_cuda=bool(gpu_bytes) and _has_cuda(),
        has_instructions=not missing_instructions(),
    )


def count_cores(quota: Path = CGROUP_QUOTA) -> int:
    """Return how many cores this process may use, those that a container's quota pays for in full; at least one.

    `docker run --cpus` and limits of Kubernetes are quotas: all cores are seen, and each may be used now and then."""
    seen = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        paid, period = (int(value) for value in quota.read_text().split())
        return max(1, min(seen, paid // period))
    except (OSError, ValueError, ZeroDivisionError):  # no container, or "max"
        return seen


def missing_instructions(cpuinfo: Path = CPUINFO) -> list[str]:
    """Return which of the instructions that llama.cpp's wheels are built with an x86-64 processor lacks.

    Without them its import ends the process (SIGILL)."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return []
    try:
        flags = next(line for line in cpuinfo.read_text().splitlines() if line.startswith("flags")).split()
    except (OSError, StopIteration):
        return []
    return [name.upper() for name in INSTRUCTIONS if name not in flags]


def free_memory(meminfo: Path = MEMINFO) -> int:
    """Return how many bytes can be taken now, within the limits of a container or systemd unit."""
    left = MemoryGroup().left()
    free = _available(meminfo)
    return free if left is None else min(free, left)


def gigabytes(size: int) -> str:
    """Return a size for people."""
    return f"{size / 10**9:.1f} GB" if size >= 10**9 else f"{max(1, round(size / 10**6))} MB"


def _memory_bytes() -> int:
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = MemoryGroup().limit()
    return installed if limit is None else min(installed, limit)


def _available(meminfo: Path) -> int:
    try:
        sizes = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
        return int(sizes["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):  # macOS: what it caches is not told apart
        return _memory_bytes() // 2


def _has_cuda() -> bool:
    folders = [Path(folder) for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    return all(
        any(any(folder.glob(f"lib{name}.so*")) for folder in folders) or find_library(name) is not None
        for name in ("cublas", "cudnn")
    )


def _gpu_bytes() -> int:
    """Return the memory of the largest NVIDIA GPU, as its driver's library says."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return 0
    count, largest = ctypes.c_uint(), 0
    if nvml.nvmlInit_v2() or nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)):
        return 0
    for index in range(count.value):
        device, memory = ctypes.c_void_p(), (ctypes.c_ulonglong * 3)()  # total, free and used
        if not nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)):
            nvml.nvmlDeviceGetMemoryInfo(device, memory)
            largest = max(largest, memory[0])
    nvml.nvmlShutdown()
    return largest
