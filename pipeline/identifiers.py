"""Identifiers in the order of time: an index of them grows at its end; random ones each touch a page of their own."""

import hashlib
import os
import socket
import time
from datetime import datetime
from functools import cache
from pathlib import Path
from uuid import UUID

#: Changes when the machine starts anew; its containers share it. Only Linux has it.
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def uuid7(tail: str = "") -> UUID:
    """Return a new UUID of version 7: milliseconds since 1970, then 74 random bits (RFC 9562, section 5.7).

    `tail`: its last hexadecimal digits instead of random ones; at most 15."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10))
    if tail:
        random = random >> 4 * len(tail) << 4 * len(tail) | int(tail, 16)
    version_and_12_bits = 0x7000 | (random >> 68)
    variant_and_62_bits = 1 << 63 | random & (1 << 62) - 1
    return UUID(int=milliseconds << 80 | version_and_12_bits << 64 | variant_and_62_bits)


@cache
def machine() -> str:
    """Return eight hexadecimal digits that name this machine since its start; without a boot id, its host name's."""
    try:
        source = BOOT_ID.read_text()
    except OSError:
        source = socket.gethostname()
    return hashlib.sha256(source.encode()).hexdigest()[:8]


def first_uuid7(at: datetime) -> UUID:
    """Return the first UUID of version 7 of a moment, since 1970: those of later moments are greater."""
    return UUID(int=max(0, int(at.timestamp() * 1_000)) << 80 | 0x7000 << 64 | 1 << 63)
