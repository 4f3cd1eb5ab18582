"""Ghost 5 and 6, by its Admin API and an Admin API key (docs.ghost.org/admin-api).

A post's content is Lexical, a tree in JSON. `content` shows it as HTML with the words, the pictures and the players of
the post; what is written may differ from that in the `alt` of pictures, and in a player at the top. Pictures have no
library: the target of one is `picture/URL` where it stands in posts, and `cover/ID` where it is the cover of one."""

import hashlib
import hmac
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime
from html import escape, unescape
from typing import Any

import aiohttp

from capabilities.sites.connectors.connector import Connector, SiteFacts, SitePicture, SitePost, Values
from capabilities.sites.connectors.exchange import Exchange
from capabilities.sites.connectors.trouble import MOST_PAGES, SiteTrouble, too_many
from capabilities.sites.markup import IMAGE, images, is_missing
from pipeline.downloads.targets import shown
from pipeline.downloads.urls import fault_of
from pipeline.settings.fields import FetchSettings

#: Most posts of one answer.
PER_PAGE = 100
POST_TYPES = ("posts", "pages")
#: Seconds that a token is good for; Ghost allows five minutes.
TOKEN_SECONDS = 240
#: Longest excerpt that Ghost takes.
MAX_EXCERPT = 300
#: Our fields by Ghost's, which has null for nothing.
PLAIN = {"excerpt": "custom_excerpt", "cover": "feature_image"}
OLD_EDITOR = "Ghost's old editor wrote this post, which Pressroom can't change. Open it in the new one, and save it."
NEW_KEY = (
    "Make a custom integration in Ghost (Settings, Integrations), and run `site add` again with its Admin API key."
)


class Ghost(Connector):
    """A Ghost site."""

    def __init__(self, url: str, credentials: Mapping[str, str], facts: SiteFacts, settings: FetchSettings) -> None:
        self._url = url.rstrip("/")
        self._key = credentials.get("password", "").strip()
        #: Texts of uploaded pictures, which Ghost takes with the post that shows them.
        self._alts: dict[str, str] = {}
        #: Posts as they were read last, for the next write.
        self._seen: dict[str, Mapping[str, Any]] = {}
        self.exchange = Exchange(settings)

    async def look_up(self) -> SiteFacts:
        """Read the site's title, and try the key."""
        await self._ask("GET", "posts/?limit=1&fields=id")
        site = (await self._ask("GET", "site/"))["site"]
        listed = f"tags/?limit={PER_PAGE}&order=count.posts%20desc&filter=visibility:public"
        tags = (await self._ask("GET", listed))["tags"]
        return SiteFacts(
            title=str(site.get("title") or ""),
            language=site.get("locale"),
            user="the integration",
            root=f"{self._url}/ghost/api/admin/",
            abilities=("alt_text", "content", "excerpt", "tags", "cover", "upload"),
            tags=tuple(one["name"] for one in tags),
        )

    async def list_pictures(self, shown_by: Sequence[SitePost] = ()) -> AsyncIterator[Sequence[SitePicture]]:
        """Yield the covers of posts, and the pictures that lack a text in them, of a hundred posts at a time."""
        async for kind, posts in self._some(shown_by) if shown_by else self._list():
            found: dict[str, SitePicture] = {}
            for post in posts:
                if cover := post.get("feature_image"):
                    target = f"cover/{kind}/{post['id']}"
                    found[target] = SitePicture(target, cover, post.get("feature_image_alt") or "")
                for image in images(_html(_tree(post))):
                    source = image.attributes.get("src", "")
                    # A picture within the post itself (data:) has no name that is short enough for a row.
                    if fault_of(source) is None and is_missing(image.alt, source):
                        found[f"picture/{source}"] = SitePicture(f"picture/{source}", source, "")
            yield list(found.values())

    async def list_posts(self) -> AsyncIterator[Sequence[SitePost]]:
        """Yield posts and then pages, a hundred at a time, drafts too."""
        async for kind, posts in self._list():
            yield [_post(kind, one) for one in posts]

    async def read(self, target: str) -> Values | None:
        """Read a post's fields, or the text of its cover; a picture in posts has none of its own."""
        kind, _, rest = target.partition("/")
        if kind == "picture":
            return {"alt_text": ""}
        if kind not in (*POST_TYPES, "cover"):
            return None
        place = rest if kind == "cover" else target
        found = await self._read(place)
        if found is None:
            return None
        self._seen[place] = found
        return {"alt_text": found.get("feature_image_alt") or ""} if kind == "cover" else _values(found)

    async def write(self, target: str, values: Values) -> Values:
        """Write fields; tags that the site does not have are made."""
        kind, _, rest = target.partition("/")
        if kind not in (*POST_TYPES, "cover"):
            self._alts[target] = str(values["alt_text"])
            return values
        place = rest if kind == "cover" else target
        # With the time of the post that was read, Ghost refuses to write over what somebody saved since (409).
        found = self._seen.pop(place, None) or await self._read(place)
        if found is None:
            raise SiteTrouble(f"{target} was deleted.", code="site_target_gone", of_target=True)
        sent: dict[str, Any] = {"updated_at": found["updated_at"]}
        for field, value in values.items():
            match field:
                case "alt_text":
                    sent["feature_image_alt"] = value or None
                case "tags":
                    sent["tags"] = [{"name": name} for name in value]
                case "content":
                    sent["lexical"] = self._changed(found, value)
                case _:
                    sent[PLAIN[field]] = value[:MAX_EXCERPT] if field == "excerpt" else value
                    if field == "cover":
                        sent["feature_image_alt"] = self._alts.get(value)
        sent |= {name: None for name in PLAIN.values() if sent.get(name) == ""}
        of = place.partition("/")[0]
        said = await self._ask("PUT", f"{place}/?include=tags&formats=html,lexical", json={of: [sent]}, target=target)
        written = said[of][0]
        return {"alt_text": written.get("feature_image_alt") or ""} if kind == "cover" else _values(written)

    async def upload(self, name: str, content: bytes, content_type: str, *, post: str | None = None) -> tuple[str, str]:
        """Add a file. Ghost has no list of them, so one that a kill has left behind is not found again."""
        form, of = aiohttp.FormData(), "images" if content_type.startswith("image/") else "media"
        form.add_field("file", content, filename=name, content_type=content_type)
        url = str((await self._ask("POST", f"{of}/upload/", data=form, target=post or of))[of][0]["url"])
        return url, url

    async def remove(self, target: str) -> None:
        """Leave the file: Ghost has no way to delete one, and no post shows it."""

    def player(self, target: str, url: str, content: str = "") -> str:
        """Return the mark of an audio card in `content`."""
        return _player(url)

    async def subscribe(self, address: str) -> None:
        """Make a webhook, unless there is one; Ghost deletes it when the address answers 410."""
        webhook = {"event": "post.published", "target_url": address}
        try:
            await self._ask("POST", "webhooks/", json={"webhooks": [webhook]})
        except SiteTrouble as trouble:
            # Ghost answers 422 for one that it has. Without one, posts are found by the watch's own looks.
            if trouble.code != "site_refused":
                raise

    async def _list(self) -> AsyncIterator[tuple[str, list[Mapping[str, Any]]]]:
        """Yield the posts and then the pages, a hundred at a time, with their kind."""
        for kind in POST_TYPES:
            for page in range(1, MOST_PAGES + 1):
                query = f"limit={PER_PAGE}&page={page}&include=tags&formats=html,lexical&order=published_at%20desc"
                said = await self._ask("GET", f"{kind}/?{query}")
                yield kind, said[kind]
                if said["meta"]["pagination"]["next"] is None:
                    break
            else:
                raise too_many(kind, MOST_PAGES * PER_PAGE)

    async def _some(self, posts: Sequence[SitePost]) -> AsyncIterator[tuple[str, list[Mapping[str, Any]]]]:
        """Yield some posts as `_list` does."""
        for post in posts:
            if (found := await self._read(post.target)) is not None:
                yield post.target.partition("/")[0], [found]

    async def _read(self, place: str) -> Mapping[str, Any] | None:
        said = await self._ask("GET", f"{place}/?include=tags&formats=html,lexical", missing=True)
        found: Mapping[str, Any] | None = said[place.partition("/")[0]][0] if said else None
        return found

    def _changed(self, post: Mapping[str, Any], html: str) -> str:
        """Return a post's Lexical with the texts of pictures, and the player at its top, of what `content` shows."""
        tree, player = _tree(post), _first_player(html)
        children = tree["root"]["children"]
        before = _first_player(_html(tree))
        if before is not None and before != player:
            del children[0]
        elif player is not None and before is None:
            children.insert(0, {"type": "audio", "version": 1, "src": player, "title": str(post.get("title") or ""),
                                "mimeType": "audio/mpeg", "duration": 0, "thumbnailSrc": ""})  # fmt: skip
        for card, image in zip(_pictures(tree), images(html), strict=False):
            if (card.get("alt") or "") != (image.alt or ""):
                card["alt"] = image.alt
        if _html(tree) != html:
            raise SiteTrouble(
                "Pressroom can change only the texts of pictures in a Ghost post, and add a player at its top.",
                code="site_refused",
                of_target=True,
            )
        return json.dumps(tree, ensure_ascii=False, separators=(",", ":"))

    async def _ask(
        self, method: str, path: str, *, missing: bool = False, target: str | None = None, **options: Any
    ) -> Any:
        """Return the requested JSON; with `missing`, None for HTTP 404."""
        address = f"{self._url}/ghost/api/admin/{path}"
        headers = {"Authorization": f"Ghost {_token(self._key)}", "Accept-Version": "v5.0"}
        reply = await self.exchange.ask(method, address, headers=headers, **options)
        name, content = shown(self._url), reply.content
        if not isinstance(content, dict):
            raise SiteTrouble(
                f"{name} answers {shown(address)} with a web page instead of JSON (HTTP {reply.status}). Is it Ghost?",
                code="site_no_json",
            )
        if reply.status < 400:
            return content
        if reply.status == 404 and missing:
            return None
        said = (content.get("errors") or [{}])[0]
        why = str(said.get("context") or said.get("message") or f"HTTP {reply.status}")[:200]
        if reply.status == 401:
            raise SiteTrouble(f"{name} rejects the key: {why}. {NEW_KEY}", code="site_access_revoked")
        if reply.status == 404 and target:
            raise SiteTrouble(f"{target} was deleted.", code="site_target_gone", of_target=True)
        if reply.status == 409:
            note = f"Somebody else saved {target} first, so it stays unchanged."
            raise SiteTrouble(note, code="site_target_busy", of_target=True)
        raise SiteTrouble(
            f"{name} refuses {target or 'this'}: {why}.", code="site_refused", of_target=target is not None
        )


def _token(key: str) -> str:
    """Return a token of a key: a JWT by HS256 (docs.ghost.org/admin-api, token authentication). Raises SiteTrouble."""
    number, _, secret = key.partition(":")
    try:
        signing = bytes.fromhex(secret)
    except ValueError:
        signing = b""
    if not number or not signing:
        raise SiteTrouble(
            f"This is not an Admin API key, which has two parts and a colon. {NEW_KEY}", code="site_bad_key"
        )
    now = int(time.time())
    parts = ({"alg": "HS256", "typ": "JWT", "kid": number}, {"iat": now, "exp": now + TOKEN_SECONDS, "aud": "/admin/"})
    text = b".".join(_encoded(json.dumps(part).encode()) for part in parts)
    return (text + b"." + _encoded(hmac.digest(signing, text, hashlib.sha256))).decode()


def _encoded(part: bytes) -> bytes:
    return urlsafe_b64encode(part).rstrip(b"=")


def _post(kind: str, post: Mapping[str, Any]) -> SitePost:
    is_published, date = post["status"] == "published", post.get("published_at")
    published_at = datetime.fromisoformat(date) if is_published and date else None
    is_public = is_published and post.get("visibility") == "public"
    target, values = f"{kind}/{post['id']}", _values(post)
    fixed = "" if post.get("lexical") else OLD_EDITOR
    return SitePost(target, post["title"], post["url"], is_published, values, published_at, is_public, fixed)


def _values(post: Mapping[str, Any]) -> Values:
    return {
        "content": _html(_tree(post)) if post.get("lexical") else str(post.get("html") or ""),
        "excerpt": post.get("custom_excerpt") or "",
        "tags": sorted(one["name"] for one in post.get("tags") or ()),
        "categories": [],
        "cover": post.get("feature_image"),
    }


def _tree(post: Mapping[str, Any]) -> dict[str, Any]:
    """Return a post's Lexical; empty for posts of old editors, whose content is not changed."""
    tree: dict[str, Any] = json.loads(post.get("lexical") or '{"root": {"children": []}}')
    return tree


def _pictures(node: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the picture cards of a tree, in order."""
    for child in node.get("root", node).get("children", ()):
        if child.get("type") == "image":
            yield child
        yield from _pictures(child)


def _html(tree: Mapping[str, Any]) -> str:
    """Return the words, pictures and players of a tree as HTML."""
    return "".join(map(_block, tree["root"]["children"]))


def _block(node: Mapping[str, Any]) -> str:
    match node.get("type"):
        case "audio":
            return _player(node.get("src") or "")
        case "image":
            return f'<img src="{escape(node.get("src") or "")}" alt="{escape(node.get("alt") or "")}">\n\n'
        case "html" | "markdown":
            # Pictures in it are not cards, so they can't be changed.
            return f"<p>{IMAGE.sub('', node.get('html') or escape(node.get('markdown') or ''))}</p>\n\n"
        case _:
            tag = node.get("tag") if node.get("type") in ("heading", "extended-heading") else "p"
            return f"<{tag}>{_inner(node)}</{tag}>\n\n"


def _inner(node: Mapping[str, Any]) -> str:
    """Return the words within a paragraph, list or link, and pictures among them."""
    if node.get("type") in ("image", "audio"):
        return _block(node)
    own = "<br>" if node.get("type") in ("linebreak", "listitem") else escape(str(node.get("text") or ""))
    return own + "".join(map(_inner, node.get("children", ())))


def _player(url: str) -> str:
    return f'<audio controls src="{escape(url)}"></audio>\n\n'


def _first_player(html: str) -> str | None:
    """Return the address of the player that HTML begins with."""
    return unescape(html.split('"', 2)[1]) if html.startswith('<audio controls src="') else None
