"""Looks: the designs of an account's last posts, so that the next one looks different; their table is used here."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from uuid import UUID

from psycopg.types.json import Jsonb

from capabilities.blog.engines.pictures import Recent
from pipeline.database import Database, Row, Statement, nothing
from pipeline.errors import ServiceUnavailable
from pipeline.log import get_logger

log = get_logger(__name__)
#: Posts in an account's record: their three pictures each use every palette and design.
POSTS = 8


@dataclass(frozen=True, slots=True)
class PostLooks:
    """The looks of a post's pictures (`Painted.look`); `post` is a hash of its title."""

    post: str
    looks: Sequence[str]


def recent_looks(account_id: UUID) -> Statement[list[PostLooks]]:
    return Statement("SELECT posts FROM cover_record WHERE account_id = %(account)s", {"account": account_id}, _read)


def add_looks(account_id: UUID, made: PostLooks) -> Statement[None]:
    return Statement(
        "INSERT INTO cover_record AS r (account_id, posts) VALUES (%(account)s, jsonb_build_array(%(made)s::jsonb))"
        " ON CONFLICT (account_id) DO UPDATE SET updated_at = now(), posts = excluded.posts || coalesce("
        "(SELECT jsonb_agg(kept.post ORDER BY kept.place) FROM (SELECT post, place"
        " FROM jsonb_array_elements(r.posts) WITH ORDINALITY AS one (post, place)"
        " WHERE post ->> 'post' <> %(post)s ORDER BY place LIMIT %(others)s) AS kept), '[]') RETURNING account_id",
        {"account": account_id, "made": Jsonb(asdict(made)), "post": made.post, "others": POSTS - 1},
        nothing,
    )


def _read(rows: list[Row]) -> list[PostLooks]:
    return [PostLooks(**post) for post in rows[0]["posts"]] if rows else []


class LooksRecord:
    """The looks of accounts; without a database every post is drawn as if it were the first."""

    def __init__(self, database: Database | None = None) -> None:
        self._database = database

    def of_others(self, account_id: UUID, title: str) -> Recent:
        """Return the looks of an account's last posts, last first, without those of the same title.

        A post that is sent again thus gets the same pictures, unless others came between."""
        if self._database is None:
            return ()
        try:
            posts = self._database.run(recent_looks(account_id))
        except ServiceUnavailable as error:
            log.warning("looks not read", account_id=account_id, error=error.message)
            return ()
        return tuple(tuple(post.looks) for post in posts if post.post != _key(title))

    def add(self, account_id: UUID, title: str, looks: Sequence[str]) -> None:
        """Store a post's looks. A worker that lost its item may do so too: it is a preference, not a result."""
        if self._database is None or not looks:
            return
        try:
            self._database.run(add_looks(account_id, PostLooks(_key(title), looks)))
        except ServiceUnavailable as error:
            log.warning("looks not noted", account_id=account_id, error=error.message)


def _key(title: str) -> str:
    return hashlib.sha256(title.encode("utf-8", "surrogatepass")).hexdigest()[:16]
