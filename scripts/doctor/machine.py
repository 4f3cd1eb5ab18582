"""Machine: the memory and the room on disk that a system needs, and that there are here."""

import shutil
from pathlib import Path

from pipeline.errors import PressroomError
from scripts.system.sizing.small import LITTLE_BYTES
from workers.models.catalogue import read_catalogue
from workers.models.machine import Machine, gigabytes

#: Memory of a small system that speaks English.
SMALL_BYTES = 900_000_000
#: Room for results of some days; a full disk stops everything.
ROOM_BYTES = 1_000_000_000


def check_memory(machine: Machine) -> str:
    """Return how much memory there is, and for which models it is enough. Raises PressroomError."""
    here = gigabytes(machine.memory_bytes)
    if machine.memory_bytes < SMALL_BYTES:
        raise PressroomError(f"{here} here; a small system (`pressroom up --small`) needs {gigabytes(SMALL_BYTES)}.")
    size = "an ordinary system" if machine.memory_bytes >= LITTLE_BYTES else "a small system"
    suited = sorted({model.engine for model in read_catalogue().values() if machine.lacks(model.needs) is None})
    return f"{here}, enough for {size}, and for models of {', '.join(suited)}"


def check_disk(data: Path) -> str:
    """Return how much room there is for a system's data. Raises PressroomError."""
    folder = next(parent for parent in (data.absolute(), *data.absolute().parents) if parent.is_dir())
    free = shutil.disk_usage(folder).free
    if free < ROOM_BYTES:
        raise PressroomError(f"{gigabytes(free)} free on the disk of {data}; keep {gigabytes(ROOM_BYTES)} free.")
    return f"{gigabytes(free)} free on the disk of {data}"
