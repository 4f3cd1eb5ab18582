"""Looks: the designs of an account's last posts, so that the next one looks different."""

import hashlib
from collections.abc import Sequence
from uuid import UUID

from capabilities.blog.engines.pictures import Recent
from capabilities.blog.kinds.cover_record_table import PostLooks, add_looks, recent_looks
from pipeline.database import Database
from pipeline.errors import ServiceUnavailable
from pipeline.log import get_logger

log = get_logger(__name__)


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
    """Return a hash of a title."""
    return hashlib.sha256(title.encode("utf-8", "surrogatepass")).hexdigest()[:16]
