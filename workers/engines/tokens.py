"""Tokens: what models read and write for an item, by engine, as their servers count them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pipeline.marks.receipts import TokenCount


class Tokens(dict[str, TokenCount]):
    """The tokens of one item, by the name of the engine."""

    def add(self, engine: str, answer: Mapping[str, Any]) -> None:
        """Add the `usage` of an answer in OpenAI's form; one without it changes nothing."""
        usage = answer.get("usage")
        if not isinstance(usage, Mapping):
            return
        count = self.setdefault(engine, TokenCount())
        # Pictures and transcripts name them otherwise than chats.
        count.prompt += _number(usage.get("prompt_tokens", usage.get("input_tokens")))
        count.completion += _number(usage.get("completion_tokens", usage.get("output_tokens")))


_counting: ContextVar[Tokens] = ContextVar("tokens")


@contextmanager
def counting(tokens: Tokens) -> Iterator[None]:
    """Count the answers that this thread reads in the `with` block."""
    before = _counting.set(tokens)
    try:
        yield
    finally:
        _counting.reset(before)


def current() -> Tokens:
    """Return the tokens that are counted now; without `counting`, ones that nobody reads."""
    return _counting.get(Tokens())


def _number(told: Any) -> int:
    return told if isinstance(told, int) and 0 <= told < 2**31 else 0
