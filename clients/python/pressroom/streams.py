"""Streams: values that arrive bit by bit, for `for` and `async for`, or for a file."""

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from os import PathLike
from types import TracebackType
from typing import Generic, Self, TypeVar

from pressroom.files import whole_file

T = TypeVar("T")


class Stream(Generic[T]):
    """Values as they arrive. After leaving the loop early, `close` the connection or end its `with` block."""

    def __init__(self, values: Iterator[T]) -> None:
        self._values = values

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        return next(self._values)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the rest of a text is neither spoken nor charged."""
        if isinstance(self._values, Generator):
            self._values.close()

    def save(self: "Stream[bytes]", to: str | PathLike[str]) -> int:
        """Write everything to a file, whole or not at all; return its size in bytes."""
        with self, whole_file(to) as output:
            return sum(output.write(piece) for piece in self)


class AsyncStream(Generic[T]):
    """A Stream for asyncio."""

    def __init__(self, values: AsyncIterator[T]) -> None:
        self._values = values

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        return await anext(self._values)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connection; the rest of a text is neither spoken nor charged."""
        if isinstance(self._values, AsyncGenerator):
            await self._values.aclose()

    async def save(self: "AsyncStream[bytes]", to: str | PathLike[str]) -> int:
        """Write everything to a file, whole or not at all; return its size in bytes."""
        async with self:
            with whole_file(to) as output:
                return sum([output.write(piece) async for piece in self])
