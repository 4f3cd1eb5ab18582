"""Identifiers in the order of time: an index of them grows at its end; random ones each touch a page of their own."""

import os
import time
from datetime import datetime
from uuid import UUID


def uuid7() -> UUID:
    """Return a new UUID of version 7: milliseconds since 1970, then 74 random bits (RFC 9562, section 5.7)."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10))
    version_and_12_bits = 0x7000 | (random >> 68)
    variant_and_62_bits = 1 << 63 | random & (1 << 62) - 1
    return UUID(int=milliseconds << 80 | version_and_12_bits << 64 | variant_and_62_bits)


def first_uuid7(at: datetime) -> UUID:
    """Return the first UUID of version 7 of a moment: those of later moments are greater."""
    return UUID(int=int(at.timestamp() * 1_000) << 80 | 0x7000 << 64 | 1 << 63)
