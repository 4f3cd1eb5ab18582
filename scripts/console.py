"""Console: one log of many processes, in whole lines that begin with the process's name."""

import asyncio
import os
import queue
import sys
import threading
import zlib
from collections.abc import Callable, Sequence
from typing import BinaryIO

#: Chunks of lines that wait for a slow terminal. Further ones are dropped and counted, so that no program waits.
MAX_WAITING = 10_000
#: Longer lines are broken, so that a program without line ends can't fill the memory.
MAX_LINE_BYTES = 2**16
NAME_WIDTH = 16
COLOURS = (32, 33, 34, 35, 36, 92, 93, 94, 95, 96)  # ANSI foregrounds without red, which looks like an error


class Console:
    """Collects the output of processes. A thread writes it, because writing to a stopped terminal blocks.

    `readable` turns a line into text for people, or None to hide it; `keep` gets all lines unchanged."""

    def __init__(
        self,
        stream: BinaryIO | None = None,
        *,
        colour: bool | None = None,
        readable: Callable[[str], str | None] | None = None,
        keep: Callable[[bytes], None] | None = None,
    ) -> None:
        self._stream = stream or sys.stdout.buffer
        self._colour = self._stream.isatty() if colour is None else colour
        self._readable = readable
        self._keep = keep
        self._lines: queue.Queue[tuple[bytes, bytes] | None] = queue.Queue(MAX_WAITING)  # shown, and kept
        self._dropped = 0
        self._writer = threading.Thread(target=self._write, name="console", daemon=True)
        self._writer.start()

    def say(self, text: str, *, name: str = "pressroom") -> None:
        self._put(name, text.encode().split(b"\n"), is_ours=True)

    def show(self, text: str) -> None:
        self._offer(text.encode() + b"\n", b"")

    def follow(self, descriptor: int, name: str) -> None:
        """Copy the lines of a pipe until it ends; then close it."""
        os.set_blocking(descriptor, False)
        asyncio.get_running_loop().add_reader(descriptor, self._read, descriptor, name, bytearray())

    def close(self) -> None:
        """Write the waiting lines, for at most three seconds."""
        try:
            self._lines.put(None, timeout=1)
        except queue.Full:
            return
        self._writer.join(timeout=2)

    def _read(self, descriptor: int, name: str, unfinished: bytearray) -> None:
        try:
            chunk = os.read(descriptor, MAX_LINE_BYTES)
        except BlockingIOError:
            return
        unfinished += chunk
        *lines, rest = unfinished.split(b"\n")
        if rest and (not chunk or len(rest) >= MAX_LINE_BYTES):
            lines.append(rest)
            rest = bytearray()
        self._put(name, lines)
        unfinished[:] = rest
        if not chunk:
            asyncio.get_running_loop().remove_reader(descriptor)
            os.close(descriptor)

    def _put(self, name: str, lines: Sequence[bytes | bytearray], *, is_ours: bool = False) -> None:
        """Queue lines that came together as one chunk."""
        prefix = f"{name:{NAME_WIDTH}} | "
        plain = _joined(prefix, lines) if self._keep is not None else b""
        if self._readable is not None and not is_ours:
            read = (self._readable(line.decode(errors="replace").rstrip("\r")) for line in lines)
            lines = [line.encode() for line in read if line is not None]
        if self._colour:
            prefix = f"\x1b[{COLOURS[zlib.crc32(name.encode()) % len(COLOURS)]}m{prefix}\x1b[0m"
        if lines or plain:
            self._offer(_joined(prefix, lines), plain, count=len(lines))

    def _offer(self, text: bytes, plain: bytes, *, count: int = 1) -> None:
        try:
            if self._dropped:
                dropped = f"[{self._dropped:,} lines dropped: the terminal stood still]\n".encode()
                self._lines.put_nowait((dropped, dropped))
                self._dropped = 0
            self._lines.put_nowait((text, plain))
        except queue.Full:
            self._dropped += count

    def _write(self) -> None:
        while (chunk := self._lines.get()) is not None:
            text, plain = chunk
            if plain and self._keep is not None:
                self._keep(plain)
            try:
                self._stream.write(text)
                if self._lines.empty():
                    self._stream.flush()
            except (OSError, ValueError):  # the terminal is closed; the processes go on
                continue


def _joined(prefix: str, lines: Sequence[bytes | bytearray]) -> bytes:
    start = prefix.encode()
    return b"".join(start + line.rstrip(b"\r") + b"\n" for line in lines)
