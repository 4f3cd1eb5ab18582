"""Finding: the pictures of a site that lack a text, with the posts that they stand in."""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from capabilities.sites.changes import NewChange
from capabilities.sites.connectors.connector import Connector, SiteFacts, SitePicture, SitePost
from capabilities.sites.connectors.trouble import SiteTrouble
from capabilities.sites.markup import around, file_name, images, is_missing, plain_url, text_of
from capabilities.sites.parts import NEEDED

#: Posts of one picture whose `alt` is filled; a logo may stand in thousands.
MOST_POSTS = 50
#: Tags of the site's own list that a post is given because it mentions them.
MOST_OWN = 4
#: The category that WordPress gives a post without one.
UNCATEGORIZED = "uncategorized"
#: Characters of a context that a request may have.
MAX_CONTEXT = 1_200


@dataclass(frozen=True, slots=True)
class Use:
    """A post that shows a picture. `alt` is what it says there; None: it is the cover, which has no text of its own."""

    post: str
    title: str
    url: str
    context: str
    alt: str | None
    lacks_alt: bool


class Uses:
    """The posts that use each picture, by its target and by its file."""

    def __init__(self) -> None:
        self._uses: dict[str, list[Use]] = defaultdict(list)

    def add(self, post: SitePost) -> None:
        """Note the pictures of a post."""
        html = post.values.get("content") or ""
        for image in images(html):
            source = image.attributes.get("src", "")
            place = f"media/{image.number}" if image.number else plain_url(source)
            known = self._uses[place]
            if len(known) < MOST_POSTS:
                # One context is enough for a model, and they would take the most memory.
                context = "" if known else around(html, image)[:MAX_CONTEXT]
                lacks = not post.fixed and not image.is_left_alone and is_missing(image.alt, source)
                known.append(Use(post.target, post.title, post.url, context, image.alt or "", lacks))
        if cover := post.values.get("cover"):
            place = plain_url(cover) if "://" in cover else cover
            context = "" if self._uses[place] else text_of(html)[:MAX_CONTEXT]
            self._uses[place].append(Use(post.target, post.title, post.url, context, None, lacks_alt=False))

    def of(self, picture: SitePicture) -> Sequence[Use]:
        """Return the uses of a picture."""
        return [*self._uses.get(picture.target, ()), *self._uses.get(plain_url(picture.url), ())]


async def find_pictures(site: Connector, options: Mapping[str, Any]) -> AsyncIterator[list[NewChange]]:
    """Yield the pictures that lack a text, a part of the library at a time.

    `options`: `posts` (targets; empty: all) that have to show them; no other post is read or changed then."""
    uses, named, shown_by = Uses(), set(options.get("posts") or ()), list[SitePost]()
    async for posts in _list(site, named):
        for post in posts:
            uses.add(post)
        if named:
            shown_by += posts
    if named and not shown_by:
        return
    async for pictures in site.list_pictures(shown_by):
        found = [(one, uses.of(one)) for one in pictures]
        yield [change for one, of in found if (of or not named) and (change := _change(one, of)) is not None]


async def find_posts(site: Connector, options: Mapping[str, Any], facts: SiteFacts) -> AsyncIterator[list[NewChange]]:
    """Yield what posts lack of the parts that were chosen; only published posts, unless single ones were named.

    `options`: `parts` (fields of posts), `posts` (targets or addresses; empty: all). Raises SiteTrouble for an address
    that no post has."""
    named = {one.rstrip("/") for one in options.get("posts") or ()}
    async for posts in _list(site, named):
        yield [
            _part(post, part, facts)
            for post in posts
            if named or post.is_published
            for part in options["parts"]
            if NEEDED[part] in facts.abilities and _lacks(post, part)
        ]


async def _list(site: Connector, named: Set[str]) -> AsyncIterator[Sequence[SitePost]]:
    """Yield the posts that were named, or all, some at a time. Raises SiteTrouble for an address that no post has."""
    left = set(named)
    async for posts in site.list_posts():
        chosen = [one for one in posts if named & _names(one)] if named else posts
        yield chosen
        left = left.difference(*map(_names, chosen))
        if named and not left:
            return  # new posts are the first of a list, which may have hundreds of parts
    if addresses := [one for one in left if "://" in one]:
        raise SiteTrouble(
            f"The site lists no post {addresses[0]}. Copy its address from there.", code="site_lacks_post"
        )


def _names(post: SitePost) -> set[str]:
    """Return what a post may be named by."""
    return {post.target, post.url.rstrip("/")}


def _part(post: SitePost, part: str, facts: SiteFacts) -> NewChange:
    """Return a part that a post lacks; refused where the site could not show it."""
    about: dict[str, Any] = {"page": post.title, "page_url": post.url} | publication_of(post)
    about["excerpt"] = text_of(post.values.get("excerpt") or "")
    if part == "tags":
        about["own_tags"] = mentioned(f"{post.title} {text_of(post.values['content'])}", facts.tags)
    refusal = post.fixed if NEEDED[part] == "content" else ""
    return NewChange(post.target, part, about, post.values.get(part), refusal=refusal)


def publication_of(post: SitePost) -> dict[str, Any]:
    """Return when a post was published, and whether anybody may read it."""
    published_at = post.published_at.isoformat() if post.published_at else None
    return {"published_at": published_at, "is_public": post.is_public}


def mentioned(text: str, names: Sequence[str]) -> list[str]:
    """Return the names that stand in a text as whole words, the one that it mentions most first."""
    counted = {one: len(re.findall(rf"(?<!\w){re.escape(one)}(?!\w)", text, re.IGNORECASE)) for one in names}
    return sorted((one for one in names if counted[one]), key=lambda one: -counted[one])[:MOST_OWN]


def _lacks(post: SitePost, part: str) -> bool:
    """Return whether a post has no such part; pages have no tags and categories."""
    if post.target.startswith("pages/") and part in ("tags", "categories"):
        return False
    if part == "audio":
        return "<audio" not in post.values["content"] and bool(text_of(post.values["content"]))
    found = post.values.get(part)
    return not found or (part == "categories" and [name.casefold() for name in found] == [UNCATEGORIZED])


def _change(picture: SitePicture, uses: Sequence[Use]) -> NewChange | None:
    lacking = list(dict.fromkeys(use.post for use in uses if use.lacks_alt))
    lacks = is_missing(picture.alt_text, picture.url)
    if not lacks and not lacking:
        return None
    about: dict[str, Any] = {"url": picture.url, "name": file_name(picture.url), "posts": lacking}
    if uses:
        about |= {"page": uses[0].title, "page_url": uses[0].url, "context": uses[0].context}
    if not lacks:
        note = "From the media library; posts lack it."
        return NewChange(picture.target, "alt_text", about, picture.alt_text, picture.alt_text, note)
    # A person has described it where it stands: that costs nothing, and is better.
    said = next((use.alt for use in uses if use.alt and not is_missing(use.alt, picture.url)), None)
    return NewChange(picture.target, "alt_text", about, picture.alt_text, said, "From a post." if said else None)


def hints_of(about: Mapping[str, Any]) -> dict[str, str]:
    """Return the context of a picture for a model."""
    return {
        "name": str(about.get("name", ""))[:200],
        "page_title": str(about.get("page", ""))[:300],
        "context": str(about.get("context", ""))[:MAX_CONTEXT],
    }
