"""The table of lexicons: the one place that reads and writes it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.database import Row, Statement


@dataclass(frozen=True, slots=True)
class StoredLexicon:
    """An account's lexicon as it is stored; `entries` is None where the reader has this version already."""

    version: int
    updated_at: datetime
    entries: list[dict[str, Any]] | None


def find_lexicon(account_id: UUID, *, known: int = 0) -> Statement[StoredLexicon | None]:
    """Read an account's lexicon, without its entries if it is still the `known` version; None: it has none."""
    return Statement(
        "SELECT version, updated_at, CASE WHEN version <> %(known)s THEN entries END AS entries FROM lexicon"
        " WHERE account_id = %(account)s",
        {"account": account_id, "known": known},
        _read,
    )


def replace_lexicon(account_id: UUID, entries: list[dict[str, Any]]) -> Statement[StoredLexicon | None]:
    """Give an account another lexicon in place of the one that it has. Done twice, it counts two versions."""
    return Statement(
        "INSERT INTO lexicon AS l (account_id, entries) VALUES (%(account)s, %(entries)s)"
        " ON CONFLICT (account_id) DO UPDATE SET entries = excluded.entries, version = l.version + 1,"
        " updated_at = now() RETURNING version, updated_at, entries",
        {"account": account_id, "entries": Jsonb(entries)},
        _read,
    )


def _read(rows: list[Row]) -> StoredLexicon | None:
    return StoredLexicon(**rows[0]) if rows else None
