"""Tables: large dictionaries in a file, of which memory holds only what was looked up last."""

import json
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

#: Entries of each table that are remembered.
REMEMBERED = 1_024

_written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Table:
    """A dictionary from strings to JSON values; it takes about 4 microseconds to look up an entry."""

    def __init__(self, connection: sqlite3.Connection, lock: threading.Lock, name: str) -> None:
        self._connection, self._lock = connection, lock
        self._query = f'SELECT value FROM "{name}" WHERE key = ?'  # noqa: S608  names are ours
        self.get = lru_cache(REMEMBERED)(self._get)

    def _get(self, key: str) -> Any:
        """Return the value of a key, which the caller does not change, or None."""
        try:
            with self._lock:  # threads that share a statement would get each other's rows
                found = self._connection.execute(self._query, (key,)).fetchone()
        except UnicodeEncodeError:  # half a surrogate pair
            return None
        return None if found is None else json.loads(found[0])

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None


def write_tables(file: Path, tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Write dictionaries to a new file, by their names. Raises OSError, sqlite3.Error."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        for name, entries in tables.items():
            connection.execute(f'CREATE TABLE "{name}" (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID')
            rows = ((key, _written(value)) for key, value in entries.items())
            connection.executemany(f'INSERT INTO "{name}" VALUES (?, ?)', rows)  # noqa: S608
        connection.execute("COMMIT")


def open_tables(file: Path) -> Mapping[str, Table]:
    """Open the tables of a file that nobody changes, for any thread. Raises sqlite3.Error."""
    connection = sqlite3.connect(f"{file.absolute().as_uri()}?immutable=1", uri=True, check_same_thread=False)
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    lock = threading.Lock()
    return {name: Table(connection, lock, name) for (name,) in names.fetchall()}
