"""Ran: the result of a command."""

from dataclasses import dataclass


@dataclass
class Ran:
    """A command's output and exit code."""

    out: str
    err: str
    code: int
