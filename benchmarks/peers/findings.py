"""Findings: what a run has found, kept as JSON too, so that the page can be written again without another run."""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

#: The name under which ours stands in tables and plots.
OURS = "Pressroom"
#: The measures.
SUBMISSIONS = "Submissions"
ROUND_TRIPS = "Round trips"
ONE_AT_A_TIME = "Round trip of a client that is alone, median"

#: Ours and theirs of two rounds that followed each other.
Pair = tuple[float, float]


@dataclass(frozen=True)
class Spread:
    """The figures of some rounds: their median, lowest and highest."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> "Spread":
        return cls(statistics.median(figures), min(figures), max(figures))


@dataclass(frozen=True)
class Speed:
    """One measurement with so many clients; `unit` is /s, where more is better, or ms, where less is."""

    what: str
    clients: int
    unit: str
    pairs: Mapping[str, Sequence[Pair]]
    #: Rounds of a peer in which requests failed; they have no pair.
    failed: Mapping[str, int] = field(default_factory=dict)

    def ratio(self, peer: str) -> float | None:
        """Return the median of ours / theirs of neighbouring rounds; None: the peer had no whole round."""
        pairs = self.pairs.get(peer, ())
        return statistics.median(ours / theirs for ours, theirs in pairs) if pairs else None

    def spread(self, name: str) -> Spread | None:
        """Return the figures of a peer, or of ours beside all of them."""
        if name == OURS:
            return Spread.of([ours for pairs in self.pairs.values() for ours, _ in pairs])
        pairs = self.pairs.get(name, ())
        return Spread.of([theirs for _, theirs in pairs]) if pairs else None


@dataclass(frozen=True)
class Loss:
    """The jobs of one system whose worker was killed repeatedly."""

    name: str
    kills: int
    submitted: int
    results: int
    #: Ended without a result, and told so to who asks.
    failed: int
    done_twice: int
    begun_again: int
    #: From the last kill until the last result, or until nobody waited any longer.
    seconds: float
    by_default: bool = False

    @property
    def lost(self) -> int:
        """Jobs that were accepted and had not ended when nobody waited any longer."""
        return self.submitted - self.results - self.failed


@dataclass(frozen=True)
class Findings:
    """All of one run."""

    machine: str
    versions: Mapping[str, str]
    rounds: int
    #: Seconds after the last kill within which a job had to end.
    patience: float
    speeds: Sequence[Speed]
    losses: Sequence[Loss]

    def write(self, file: Path) -> None:
        file.write_text(json.dumps(asdict(self), indent=1) + "\n")

    @classmethod
    def read(cls, file: Path) -> "Findings":
        read = json.loads(file.read_text())
        speeds = [Speed(**one) for one in read.pop("speeds")]
        losses = [Loss(**one) for one in read.pop("losses")]
        return cls(**read, speeds=speeds, losses=losses)
