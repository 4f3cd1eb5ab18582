"""The ledger's audit: every account, job and item whose numbers contradict each other. There should be none."""

from dataclasses import dataclass
from importlib.resources import files

from pipeline.database import Statement, rows_of


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """Something that must never be: the rule, the row that breaks it, and the two numbers that differ."""

    rule: str
    row: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.row} has {self.found}, expected {self.expected}"


_DISCREPANCIES = files("pipeline.accounts").joinpath("ledger.sql").read_text("utf-8")


def discrepancies() -> Statement[list[Discrepancy]]:
    """Return the first 100 contradictions of the ledger. Reads every row: for a person, never for a sweep."""
    return Statement(_DISCREPANCIES, {}, rows_of(Discrepancy))
