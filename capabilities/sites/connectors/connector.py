"""Connector: how Pressroom reads a site and writes to it. One module a system, such as WordPress.

A target names an object of a site as its connector does, such as `media/12` or `posts/7`. The fields of a medium are
`alt_text`; those of a post `content` (HTML as its author wrote it), `excerpt`, `tags` and `categories` (names, in
alphabetical order), and `cover` (the target of a medium)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from pipeline.errors import InvalidRequest

#: Abilities of a site and its user: fields that can be written, and files that can be added.
Ability = Literal["alt_text", "content", "excerpt", "tags", "categories", "cover", "upload"]

Values = Mapping[str, Any]


class SiteFacts(BaseModel):
    """A site's title, language and user, and the rights of that user."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    title: str = ""
    language: str | None = None
    user: str | None = None
    #: Where its interface was found.
    root: str = ""
    abilities: tuple[Ability, ...] = ()
    #: Its own list, which categories of posts are chosen from.
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SitePicture:
    """A picture of a site's media library."""

    target: str
    url: str
    alt_text: str


@dataclass(frozen=True, slots=True)
class SitePost:
    """A post or page; `values` are its fields."""

    target: str
    title: str
    url: str
    is_published: bool
    values: Values
    published_at: datetime | None = None
    #: Anybody may read it: it is no draft, has no password, and is not for members alone.
    is_public: bool = True


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a list, and where the next one begins; None: this was the last."""

    found: Sequence[Any]
    cursor: str | None


class SiteTrouble(InvalidRequest):
    """A site can't be used now. `passes`: the same may work later; else somebody has to do what the message says."""

    code = "site_trouble"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        passes: bool = False,
        of_target: bool = False,
        after: timedelta | None = None,
    ) -> None:
        super().__init__(message, code=code, retry_after=after)
        self.may_pass = passes
        #: True if it concerns this object alone, so that others may still be written.
        self.of_target = of_target


class Connector(Protocol):
    """One site. All methods raise SiteTrouble; they run within one event loop."""

    name: ClassVar[str]
    #: What Pressroom asks for at `site add`, beside the address; empty: nothing.
    secret: ClassVar[str]

    async def look_up(self) -> SiteFacts:
        """Find out which system the site runs, and what we may do there."""

    async def list_pictures(self, cursor: str | None) -> Part:
        """Read a part of the media library, as SitePictures."""

    async def list_posts(self, cursor: str | None) -> Part:
        """Read a part of the posts and pages, as SitePosts; published ones newest first."""

    async def read(self, target: str) -> Values | None:
        """Read the fields of an object; None: it was deleted."""

    async def write(self, target: str, values: Values) -> Values:
        """Write fields of an object; returns what stands there then, which the site may have changed."""

    async def upload(self, name: str, content: bytes, content_type: str, *, post: str | None = None) -> tuple[str, str]:
        """Add a file to the media library, for a post; returns its target and URL.

        Where the site can be asked, one of the same name, which a call left that was cut off, is returned instead."""

    async def remove(self, target: str) -> None:
        """Delete a file that `upload` added; do nothing if it is gone."""

    def player(self, target: str, url: str) -> str:
        """Return the HTML of a player of a file, as the site's editor would write it."""
