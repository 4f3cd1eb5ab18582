"""Usage documents: usage, reports and ledger entries, as JSON and CSV."""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from pipeline.csv_cells import defused
from pipeline.timestamps import timestamp
from pipeline.usage.usage_report import COLUMNS, By, DaySpan, LedgerEntry, Used, summed

LEDGER_COLUMNS = ("id", "created_at", "entry", "credits", "held", "route", "key_id", "key_name", "job_id", "note")
NUMBERS = ("requests", "credits")
#: A field named date would hide its own type.
Day = date


class KeyUsage(BaseModel):
    """Usage of a key."""

    key_id: UUID
    name: str | None
    requests: NonNegativeInt
    credits: NonNegativeInt


class DayUsage(BaseModel):
    """Usage on a day (UTC)."""

    date: Day
    requests: NonNegativeInt
    credits: NonNegativeInt


class Usage(BaseModel):
    """Total usage of an account."""

    total_requests: NonNegativeInt
    total_credits_used: NonNegativeInt
    requests_this_month: NonNegativeInt
    credits_used_this_month: NonNegativeInt
    subscription_tier: Literal["free", "pro", "enterprise"]
    credits_remaining: NonNegativeInt
    credits_held: NonNegativeInt
    usage_by_endpoint: dict[str, NonNegativeInt]
    credits_by_endpoint: dict[str, NonNegativeInt]
    by_key: list[KeyUsage]
    by_day: list[DayUsage]


class UsageRow(BaseModel):
    """Usage on a day, at a route or by a key."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    date: Day | None = Field(None, description="By day.")
    route: str | None = Field(None, description="By route.")
    key_id: UUID | None = Field(None, description="By key.")
    name: str | None = Field(None, description="By key: its name.")
    requests: int = Field(description="Requests made.")
    credits: int = Field(description="Credits captured.")


class UsageReport(BaseModel):
    """Usage of an account in a span of days (UTC)."""

    model_config = ConfigDict(populate_by_name=True)

    first: date = Field(alias="from")
    last: date = Field(alias="to")
    by: By
    requests: int
    credits: int
    rows: list[UsageRow]

    @classmethod
    def of(cls, used: list[Used], span: DaySpan, by: By) -> Self:
        rows = [UsageRow(**row) for row in summed(used, span, by)]
        requests, credited = (sum(getattr(row, name) for row in rows) for name in NUMBERS)
        return cls(first=span.first, last=span.last, by=by, requests=requests, credits=credited, rows=rows)

    def csv(self) -> bytes:
        """Return the report's rows as CSV, with a heading."""
        columns = (*COLUMNS[self.by], *NUMBERS)
        return csv_lines([columns]) + csv_lines([getattr(row, name) for name in columns] for row in self.rows)


def ledger_cells(entry: LedgerEntry) -> list[Any]:
    """Return an entry's cells, as in LEDGER_COLUMNS."""
    cells = {**entry.model_dump(), "created_at": timestamp(entry.created_at)}
    return [cells[name] for name in LEDGER_COLUMNS]


def csv_lines(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return rows as CSV, with formulas in texts defused."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return text.getvalue().encode()


def _cell(cell: object) -> str | int:
    if cell is None:
        return ""
    return cell if isinstance(cell, int) else defused(str(cell))
