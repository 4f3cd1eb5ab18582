"""Connector: how Pressroom reads a site and writes to it. One module a system, such as WordPress.

A target names an object of a site as its connector does, such as `media/12` or `posts/7`. The fields of a medium are
`alt_text`; those of a post `content` (HTML as its author wrote it), `excerpt`, `tags` and `categories` (names, in
alphabetical order), and `cover` (the target of a medium)."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, field_validator

from capabilities.sites.connectors.exchange import Exchange
from capabilities.sites.connectors.trouble import SiteTrouble
from pipeline.offers.languages import is_tag

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
    #: Its own lists, which categories and tags of posts are chosen from.
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    #: Minutes between two looks at its posts while it is watched.
    watch_minutes: int = 1

    @field_validator("language")
    @classmethod
    def _tag(cls, told: str | None) -> str | None:
        """Return the language if it is a code: Ghost and feeds take any text, such as "English"."""
        return told if told and is_tag(told) else None


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
    #: Anybody may read it: it is not a draft, has no password, and is not for members alone.
    is_public: bool = True
    #: Why its content can't be changed; empty: it can.
    fixed: str = ""


class Connector(ABC):
    """One site. All methods raise SiteTrouble; they run within one event loop.

    Three methods read a site; the others write to it, so a site that is only read has none of them."""

    #: Its connection, which is open while the site is used.
    exchange: Exchange

    @abstractmethod
    async def look_up(self) -> SiteFacts:
        """Find out which system the site runs, and what we may do there."""

    @abstractmethod
    def list_posts(self) -> AsyncIterator[Sequence[SitePost]]:
        """Yield the posts and pages, some at a time; published ones newest first."""

    @abstractmethod
    async def read(self, target: str) -> Values | None:
        """Read the fields of an object; None: it was deleted."""

    async def list_pictures(self, shown_by: Sequence[SitePost] = ()) -> AsyncIterator[Sequence[SitePicture]]:
        """Yield the media library's pictures, some at a time; of some posts, at least those that they show."""
        yield ()

    async def write(self, target: str, values: Values) -> Values:
        """Write fields of an object; returns what stands there then, which the site may have changed."""
        raise _only_read()

    async def upload(self, name: str, content: bytes, content_type: str, *, post: str | None = None) -> tuple[str, str]:
        """Add a file to the media library, for a post; returns its target and URL.

        A file of this name that an interrupted call left is returned instead, if the site can be asked."""
        raise _only_read()

    async def remove(self, target: str) -> None:
        """Delete a file that `upload` added; do nothing if it is gone."""
        raise _only_read()

    def player(self, target: str, url: str, content: str = "") -> str:
        """Return the HTML of a player of a file, as the site's editor would write it before a post's content."""
        raise _only_read()

    async def subscribe(self, address: str) -> None:  # noqa: B027  most sites can't
        """Have the site call an address when a post is published, until that answers 410, where the site can."""


def _only_read() -> SiteTrouble:
    return SiteTrouble("This site is only read.", code="site_read_only")
