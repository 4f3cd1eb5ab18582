"""Streams: what arrives bit by bit, for `for` and `async for`, or into a file."""

from collections.abc import AsyncIterator, Iterator
from os import PathLike
from types import TracebackType
from typing import Generic, Self, TypeVar

from pressroom.saving import whole_file

T = TypeVar("T")


class Stream(Generic[T]):
    """Values as they arrive. Leaving the loop early leaves the connection open until `close`, or the end of `with`."""

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
        """End the connection: a text that is being spoken is not spoken further, nor charged."""
        close = getattr(self._values, "close", None)
        if close is not None:
            close()

    def save(self: "Stream[bytes]", to: str | PathLike[str]) -> int:
        """Write all of it into a file, whole or not at all; returns its size in bytes."""
        with self, whole_file(to) as output:
            return sum(output.write(piece) for piece in self)


class AsyncStream(Generic[T]):
    """The same for asyncio."""

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
        """End the connection: a text that is being spoken is not spoken further, nor charged."""
        close = getattr(self._values, "aclose", None)
        if close is not None:
            await close()

    async def save(self: "AsyncStream[bytes]", to: str | PathLike[str]) -> int:
        """Write all of it into a file, whole or not at all; returns its size in bytes."""
        async with self:
            with whole_file(to) as output:
                return sum([output.write(piece) async for piece in self])
