"""The table of cover records, read and written here alone."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.database import Row, Statement

#: Posts in an account's record: their three pictures each use every palette and design.
POSTS = 8


@dataclass(frozen=True, slots=True)
class PostLooks:
    """The looks of a post's pictures (`Painted.look`); `post` is a hash of its title."""

    post: str
    looks: Sequence[str]


def recent_looks(account_id: UUID) -> Statement[list[PostLooks]]:
    """Read the looks of an account's last posts, last first."""
    return Statement("SELECT posts FROM cover_record WHERE account_id = %(account)s", {"account": account_id}, _read)


def add_looks(account_id: UUID, made: PostLooks) -> Statement[None]:
    """Store the looks of a post, replacing its earlier ones."""
    return Statement(
        "INSERT INTO cover_record AS r (account_id, posts) VALUES (%(account)s, jsonb_build_array(%(made)s::jsonb))"
        " ON CONFLICT (account_id) DO UPDATE SET updated_at = now(), posts = excluded.posts || coalesce("
        "(SELECT jsonb_agg(kept.post ORDER BY kept.place) FROM (SELECT post, place"
        " FROM jsonb_array_elements(r.posts) WITH ORDINALITY AS one (post, place)"
        " WHERE post ->> 'post' <> %(post)s ORDER BY place LIMIT %(others)s) AS kept), '[]') RETURNING account_id",
        {"account": account_id, "made": Jsonb(asdict(made)), "post": made.post, "others": POSTS - 1},
        _nothing,
    )


def _read(rows: list[Row]) -> list[PostLooks]:
    return [PostLooks(**post) for post in rows[0]["posts"]] if rows else []


def _nothing(_: list[Row]) -> None:
    return None
