"""Resumable uploads: files that arrive in parts, and the rows that say which parts count.

A part is written first and counted then, so a broken connection loses at most the part that was arriving. Parts lie
under `uploads/<id>/` like the files of a form, and the job that uses an upload takes its id: one upload makes one job,
and what deletes that job's files deletes the parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from pipeline.database import Statement
from pipeline.database.sql import SQL, row_of
from pipeline.storage.artifacts import upload_key

#: An unfinished or unused upload that still counts, `u`, and the job that uses it, `j`.
ALIVE = SQL("(u.expires_at > now() OR (j.id IS NOT NULL AND j.finished_at IS NULL))")
#: Bytes that an upload counts at least towards those of its account, so that nobody has millions of small ones.
LEAST_BYTES = 2**20
#: Most parts of an upload: the row lists them all, and is written anew with each.
MOST_PARTS = 10_000


@dataclass(frozen=True, slots=True)
class ResumableUpload:
    """An upload as far as it has arrived; lengths are in bytes."""

    id: UUID
    length: int
    received: int
    name: str
    expires_at: datetime
    parts: int = 0
    #: Hash of the request whose job uses it, if there is one.
    request_hash: bytes | None = None

    @property
    def is_complete(self) -> bool:
        """True if all bytes have arrived."""
        return self.received == self.length


def begin_upload(
    upload_id: UUID, account_id: UUID, *, length: int, name: str, lifetime: timedelta, account_bytes: int
) -> Sequence[Statement[ResumableUpload | None]]:
    """Return statements, to be run together, of which the last makes an upload; None: the account has too many bytes.

    The first takes a lock, so that two requests at once can't both find room."""
    lock = "SELECT pg_advisory_xact_lock(hashtextextended('upload ' || %(account)s::text, 0))"
    insert = SQL(
        "INSERT INTO upload (id, account_id, length, name, expires_at)"
        " SELECT %(id)s, %(account)s, %(length)s, %(name)s, now() + %(lifetime)s WHERE %(length)s + ("
        " SELECT coalesce(sum(greatest(u.length, {least})), 0) FROM upload u LEFT JOIN job j ON j.id = u.id"
        # One whose job has ended stays known for a while; its file is gone.
        " WHERE u.account_id = %(account)s AND {alive} AND j.finished_at IS NULL) <= %(account_bytes)s"
        " ON CONFLICT (id) DO UPDATE SET id = EXCLUDED.id"
        " RETURNING id, length, received, name, expires_at"
    ).format(alive=ALIVE, least=LEAST_BYTES)
    parameters = {
        "id": upload_id,
        "account": account_id,
        "length": length,
        "name": name,
        "lifetime": lifetime,
        "account_bytes": account_bytes,
    }
    return [Statement(lock, {"account": account_id}, lambda _: None), Statement(insert, parameters, _read)]


def find_upload(upload_id: UUID, account_id: UUID) -> Statement[ResumableUpload | None]:
    """Read an account's upload; None if it does not exist or has expired."""
    return Statement(
        SQL(
            "SELECT u.id, u.length, u.received, u.name, u.expires_at, cardinality(u.parts) AS parts,"
            " j.request_hash FROM upload u"
            " LEFT JOIN job j ON j.id = u.id WHERE u.id = %(id)s AND u.account_id = %(account)s AND {alive}"
        ).format(alive=ALIVE),
        {"id": upload_id, "account": account_id},
        _read,
    )


def add_part(
    upload: ResumableUpload, part: str, *, size: int, lifetime: timedelta
) -> Statement[ResumableUpload | None]:
    """Count a written part, the next one; None if the upload is no longer there, or goes on elsewhere."""
    return Statement(
        "UPDATE upload SET received = received + %(size)s, parts = parts || %(part)s::text,"
        " expires_at = now() + %(lifetime)s WHERE id = %(id)s AND received = %(offset)s"
        " RETURNING id, length, received, name, expires_at, cardinality(parts) AS parts",
        {"id": upload.id, "offset": upload.received, "part": part, "size": size, "lifetime": lifetime},
        _read,
    )


def end_upload(upload_id: UUID, account_id: UUID) -> Statement[bool]:
    """Delete an upload's row unless an open job uses it; returns whether its files may go."""
    return Statement(
        "DELETE FROM upload u WHERE u.id = %(id)s AND u.account_id = %(account)s AND NOT EXISTS"
        " (SELECT FROM job j WHERE j.id = u.id AND j.finished_at IS NULL) RETURNING id",
        {"id": upload_id, "account": account_id},
        bool,
    )


def find_part_keys(upload_id: UUID) -> Statement[list[str]]:
    """Return the keys of an upload's parts, in order; none if it does not exist."""
    return Statement(
        "SELECT unnest(parts) AS part FROM upload WHERE id = %(id)s",
        {"id": upload_id},
        lambda rows: [upload_key(upload_id, row["part"]) for row in rows],
    )


def find_uploads(upload_ids: Sequence[UUID]) -> Statement[list[UUID]]:
    """Return which of these uploads have a row, so that their files are kept."""
    return Statement(
        "SELECT id FROM upload WHERE id = ANY(%(ids)s)",
        {"ids": list(upload_ids)},
        lambda rows: [row["id"] for row in rows],
    )


def forget_uploads(limit: int) -> Statement[int]:
    """Delete the rows of expired uploads that no open job uses; the sweep then deletes their files."""
    return Statement(
        SQL(
            "DELETE FROM upload WHERE id IN (SELECT u.id FROM upload u LEFT JOIN job j ON j.id = u.id"
            " WHERE u.expires_at <= now() AND NOT {alive} LIMIT %(limit)s) RETURNING id"
        ).format(alive=ALIVE),
        {"limit": limit},
        len,
    )


def part_name(offset: int) -> str:
    """Return a new name for a part. Two requests at the same offset write different ones, and one of them counts."""
    return f"{offset:012}-{uuid4().hex[:8]}"


_read = row_of(ResumableUpload)
