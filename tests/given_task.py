"""Given task: an item for a handler, without a database."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from pydantic import BaseModel

from pipeline.storage.streams import Parts
from workers.engines.tokens import Tokens


class GivenTask:
    """A task with an input; it is never stopped, and keeps what is stored in `kept`."""

    def __init__(self, given: BaseModel, *, price: int = 1) -> None:
        self.input = given
        self.price = price
        self.job_id: UUID = uuid4()
        self.account_id: UUID = uuid4()
        self.lane = ""
        self.index = 0
        self.attempts = 0
        self.checkpoint: Mapping[str, Any] | None = None
        self.tokens = Tokens()
        self.kept: dict[str, bytes] = {}
        self.steps: list[tuple[float, float]] = []

    def is_stopped(self) -> bool:
        return False

    def progress(self, done: float, total: float, *, checkpoint: Mapping[str, Any] | None = None, **_: Any) -> None:
        self.steps.append((done, total))
        self.checkpoint = checkpoint or self.checkpoint

    def add_part(self, data: bytes, **about: Any) -> Parts:
        self.store(data)
        return Parts(count=len(self.kept), voice=about.get("voice", ""))

    def store(self, data: Any, *, suffix: str = "", **_: Any) -> str:
        key = f"kept{suffix}" if suffix[1:2].isdigit() else f"kept-{len(self.kept)}{suffix}"
        self.kept[key] = data if isinstance(data, bytes) else data.read()
        return key

    def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            del self.kept[key]
