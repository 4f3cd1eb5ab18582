"""What a command has printed."""

from dataclasses import dataclass


@dataclass
class Ran:
    """What a command printed, and its exit code."""

    out: str
    err: str
    code: int
