"""Word times: where Whisper's differ from what is loud."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from capabilities.transcription.engines.whisper.word_times import corrected, loud_runs

RATE = 16_000


@dataclass
class Word:
    word: str
    start: float
    end: float


@dataclass
class Heard:
    words: list[Word]
    start: float = 0.0
    end: float = 0.0
    others: dict[str, Any] = field(default_factory=dict)


def sound(*loud: tuple[float, float], seconds: float) -> Any:
    """Return noise in the loud stretches, and a hiss elsewhere."""
    random = np.random.default_rng(1)
    samples = random.normal(0, 0.001, round(seconds * RATE))
    for start, end in loud:
        samples[round(start * RATE) : round(end * RATE)] += random.normal(0, 0.2, round((end - start) * RATE))
    return samples.astype(np.float32)


def test_words_begin_and_end_where_something_is_heard_and_none_lasts_no_time() -> None:
    noise = sound((0.5, 1.4), (2.5, 3.0), seconds=4)
    # The pause counts as the third word, the fourth has no length, and the first begins too early.
    words = [Word("a", 0.3, 0.8), Word("b", 0.8, 1.2), Word("c", 1.2, 2.9), Word("d", 2.9, 2.9)]

    [found] = corrected([Heard(words)], loud_runs(noise, 0, len(noise)))

    starts, ends = [word.start for word in found.words], [word.end for word in found.words]
    assert starts == pytest.approx([0.5, 0.8, 2.5, 2.9], abs=0.02)
    assert ends[:3] == pytest.approx([0.8, 1.4, 2.9], abs=0.02)
    assert all(end - start >= 0.039 for start, end in zip(starts, ends, strict=True))
    assert (found.start, found.end) == (starts[0], ends[-1])
