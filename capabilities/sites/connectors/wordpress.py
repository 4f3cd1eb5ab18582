"""WordPress, by its REST API and an application password (developer.wordpress.org/rest-api)."""

import base64
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from html import escape, unescape
from typing import Any
from urllib.parse import quote, urlsplit

from capabilities.sites.connectors.connector import Ability, Connector, SiteFacts, SitePicture, SitePost, Values
from capabilities.sites.connectors.exchange import Exchange, Reply
from capabilities.sites.connectors.trouble import MOST_PAGES, SiteTrouble, too_many
from capabilities.sites.markup import images, text_of
from pipeline.downloads.targets import shown
from pipeline.settings.fields import FetchSettings

#: Most objects of one answer.
PER_PAGE = 100
POST_TYPES = ("posts", "pages")
#: Our fields by WordPress's.
POST_FIELDS = "id,link,status,date_gmt,title,content,excerpt,tags,categories,featured_media,password"
#: The capabilities of a WordPress user that each ability needs.
NEEDS: Mapping[Ability, tuple[str, ...]] = {
    "alt_text": ("upload_files", "edit_others_posts"),
    # Without unfiltered_html WordPress rewrites the rest of a post's HTML.
    "content": ("edit_others_posts", "edit_published_posts", "unfiltered_html"),
    "excerpt": ("edit_others_posts", "edit_published_posts"),
    "tags": ("edit_others_posts", "edit_published_posts"),
    "categories": ("edit_others_posts", "edit_published_posts"),
    "cover": ("upload_files", "edit_others_posts", "edit_published_posts"),
    "upload": ("upload_files",),
}
LINK = re.compile(r'<([^>]+)>;\s*rel="https://api\.w\.org/"')
NEW_PASSWORD = "In WordPress, make a new one under Users, Profile, Application Passwords, and run `site add` again."  # noqa: S105


class WordPress(Connector):
    """A WordPress site."""

    def __init__(self, url: str, credentials: Mapping[str, str], facts: SiteFacts, settings: FetchSettings) -> None:
        self._url = url.rstrip("/")
        self._root = facts.root
        self._names: dict[str, dict[int, str]] = {"tags": {}, "categories": {}}
        #: Posts as they were read last, for the next write.
        self._seen: dict[str, Values] = {}
        # WordPress shows the password in groups, and takes it without the spaces as well.
        password = credentials.get("password", "").replace(" ", "")
        login = base64.b64encode(f"{credentials.get('user', '')}:{password}".encode()).decode()
        self.exchange = Exchange(settings, f"Basic {login}")

    async def look_up(self) -> SiteFacts:
        """Find the REST API, the user, and what the user may do."""
        self._root = await self._find_root()
        index = (await self._ask("GET", "")).content
        me = (await self._ask("GET", "wp/v2/users/me?context=edit")).content
        may = {name for name, allowed in dict(me.get("capabilities") or {}).items() if allowed}
        abilities = tuple(ability for ability, needed in NEEDS.items() if may.issuperset(needed))
        # Only administrators may read the site's language; a user's own is the same, unless they chose another.
        language = str(me.get("locale") or "en")
        if "manage_options" in may:
            settings = (await self._ask("GET", "wp/v2/settings")).content
            language = str(settings.get("language") or "en")
        most = f"per_page={PER_PAGE}&_fields=name&orderby=count&order=desc"
        names = {kind: (await self._ask("GET", f"wp/v2/{kind}?{most}")).content for kind in ("categories", "tags")}
        return SiteFacts(
            title=unescape(str(index.get("name") or "")),
            language=language.replace("_", "-"),
            user=str(me.get("name") or ""),
            root=self._root,
            abilities=abilities,
            **{kind: tuple(unescape(one["name"]) for one in listed) for kind, listed in names.items()},
        )

    async def list_pictures(self, shown_by: Sequence[SitePost] = ()) -> AsyncIterator[Sequence[SitePicture]]:
        """Yield pictures by id, a hundred at a time; of some posts only theirs, if each picture has its number."""
        query = "wp/v2/media?context=edit&media_type=image&orderby=id&order=asc&_fields=id,alt_text,source_url"
        numbers = {image.number for post in shown_by for image in images(post.values["content"])}
        numbers |= {cover.partition("/")[2] for post in shown_by if (cover := post.values["cover"])}
        some = sorted(filter(None, numbers))
        if not shown_by or None in numbers:
            queries = [query]  # a picture without one is found by its file
        else:
            queries = [f"{query}&include={','.join(some[n : n + PER_PAGE])}" for n in range(0, len(some), PER_PAGE)]
        for path in queries:
            async for listed in self._pages(path):
                known = [one for one in listed if one["source_url"]]  # false for one whose file's name is lost
                yield [SitePicture(f"media/{one['id']}", one["source_url"], one["alt_text"]) for one in known]

    async def list_posts(self) -> AsyncIterator[Sequence[SitePost]]:
        """Yield posts and then pages, a hundred at a time, drafts too."""
        for kind in POST_TYPES:
            order = f"status=any&orderby=date&order=desc&_fields={POST_FIELDS}"
            async for listed in self._pages(f"wp/v2/{kind}?context=edit&{order}"):
                await self._learn_names(listed)
                yield [self._post(kind, one) for one in listed]

    async def read(self, target: str) -> Values | None:
        """Read a medium's or a post's fields."""
        reply = await self._ask("GET", f"wp/v2/{target}?context=edit", missing=True)
        if reply.status in (404, 410) or reply.content.get("status") == "trash":
            return None
        values = await self._values(target, reply.content)
        if not target.startswith("media/"):
            self._seen[target] = values
        return values

    async def write(self, target: str, values: Values) -> Values:
        """Write fields; tags that the site does not have are made."""
        sent: dict[str, Any] = {}
        for field, value in values.items():
            match field:
                case "alt_text":
                    # WordPress takes one level of backslashes away (update_post_meta).
                    sent[field] = str(value).replace("\\", "\\\\")
                case "tags" | "categories":
                    sent[field] = [await self._id_of(field, name) for name in value]
                case "cover":
                    sent["featured_media"] = int(value.partition("/")[2]) if value else 0
                case _:
                    sent[field] = value
        if (seen := self._seen.pop(target, None)) is not None:
            # WordPress takes no If-Match. Its time of the last change has whole seconds, so the fields are compared.
            now = await self.read(target)
            if now is not None and any(now[field] != seen[field] for field in values):
                note = f"Somebody else saved {target} first, so it stays unchanged."
                raise SiteTrouble(note, code="site_target_busy", of_target=True)
        reply = await self._ask("POST", f"wp/v2/{target}?context=edit", json=sent, target=target)
        self._seen.pop(target, None)
        return await self._values(target, reply.content)

    async def upload(self, name: str, content: bytes, content_type: str, *, post: str | None = None) -> tuple[str, str]:
        """Add a file to the media library, unless one of its name is there."""
        left = await self._ask("GET", f"wp/v2/media?slug={quote(name.rpartition('.')[0])}&_fields=id,source_url")
        if left.content:
            return f"media/{left.content[0]['id']}", str(left.content[0]["source_url"])
        query = f"?post={post.partition('/')[2]}" if post else ""
        headers = {"Content-Type": content_type, "Content-Disposition": f'attachment; filename="{name}"'}
        reply = await self._ask("POST", f"wp/v2/media{query}", data=content, headers=headers, target=post or "media")
        return f"media/{reply.content['id']}", str(reply.content["source_url"])

    async def remove(self, target: str) -> None:
        """Delete a medium for good: WordPress has no bin for media by default."""
        await self._ask("DELETE", f"wp/v2/{target}?force=true", missing=True, target=target)

    def player(self, target: str, url: str, content: str = "") -> str:
        """Return an audio block; its HTML alone for a post of the old editor.

        In a post with a block, WordPress makes no paragraphs of blank lines any more (do_blocks, wpautop)."""
        html = f'<figure class="wp-block-audio"><audio controls src="{escape(url)}"></audio></figure>'
        if "<!-- wp:" not in content:
            return f"{html}\n\n"
        return f'<!-- wp:audio {{"id":{target.partition("/")[2]}}} -->\n{html}\n<!-- /wp:audio -->\n\n'

    async def _find_root(self) -> str:
        """Return the address of the REST API: by its usual path, or as the site's home page says."""
        usual = f"{self._url}/wp-json/"
        reply = await self.exchange.ask("GET", usual)
        if reply.status == 200 and isinstance(reply.content, dict) and "namespaces" in reply.content:
            return usual
        home = await self.exchange.ask("GET", f"{self._url}/")
        found = LINK.search(home.headers.get("Link", ""))
        if found is None:
            self._check(reply, usual, target=None)
            raise SiteTrouble(
                f"{shown(self._url)} shows no WordPress REST API: {shown(usual)} answers with HTTP {reply.status}."
                " Is it WordPress, and is its REST API switched on?",
                code="site_not_wordpress",
            )
        told, own = urlsplit(found[1]), urlsplit(self._url)
        if told.netloc != own.netloc or (own.scheme, told.scheme) == ("https", "http"):
            # The password goes to the address that its owner named, and nowhere else.
            raise SiteTrouble(
                f"{shown(self._url)} names {shown(found[1])} as its REST API. Add the site by that address.",
                code="site_moved",
            )
        return found[1]

    async def _pages(self, path: str) -> AsyncIterator[list[Mapping[str, Any]]]:
        """Yield the pages of a list."""
        for page in range(1, MOST_PAGES + 1):
            reply = await self._list(f"{path}&per_page={PER_PAGE}&page={page}")
            yield reply.content
            if page >= int(reply.headers.get("X-WP-TotalPages", 0)):
                return
        raise too_many(path.partition("?")[0].rpartition("/")[2], MOST_PAGES * PER_PAGE)

    async def _list(self, path: str) -> Reply:
        reply = await self._ask("GET", path, missing=True)
        if reply.status == 404:
            raise SiteTrouble(f"{shown(self._root)} has no {path.partition('?')[0]}.", code="site_lacks_list")
        if reply.status == 400 and reply.content["code"] == "rest_post_invalid_page_number":
            # The last page became empty meanwhile.
            return Reply(200, {"X-WP-TotalPages": "0"}, [])
        if reply.status != 200:
            # WordPress refuses strangers these parameters before it looks at their password.
            await self._ask("GET", "wp/v2/users/me")
            self._check(reply, path, target=None)
        return reply

    async def _ask(
        self, method: str, path: str, *, missing: bool = False, target: str | None = None, **options: Any
    ) -> Reply:
        address = self._root + (path.replace("?", "&") if "?" in self._root else path)
        reply = await self.exchange.ask(method, address, **options)
        if missing and reply.status in (400, 404, 410) and isinstance(reply.content, dict):
            return reply
        self._check(reply, address, target=target)
        return reply

    def _check(self, reply: Reply, address: str, *, target: str | None) -> None:
        """Raise SiteTrouble for an answer that is not the JSON that was asked for."""
        name, content = shown(self._url), reply.content
        said = content if isinstance(content, dict) else {}
        code, message = str(said.get("code") or ""), unescape(str(said.get("message") or ""))[:200]
        if content is None:
            raise SiteTrouble(
                f"{name} answers {shown(address)} with a web page instead of JSON (HTTP {reply.status}). A login page"
                " or a firewall blocks the way: let this machine reach /wp-json/.",
                code="site_no_json",
            )
        if reply.status == 401:
            raise SiteTrouble(
                f"{name} rejects the application password ({code or 'HTTP 401'}). {NEW_PASSWORD}",
                code="site_access_revoked",
            )
        if reply.status in (404, 410) and target:
            raise SiteTrouble(f"{target} was deleted.", code="site_target_gone", of_target=True)
        if reply.status >= 400:
            raise SiteTrouble(
                f"{name} refuses {target or 'this'}: {message or f'HTTP {reply.status}'} ({code or 'no code'}).",
                code="site_refused",
                of_target=target is not None,
            )

    async def _learn_names(self, posts: Iterable[Mapping[str, Any]]) -> None:
        """Read the names of all tags and categories of posts that are not known yet, a hundred at a time."""
        for field, known in self._names.items():
            unknown = sorted({number for one in posts for number in one.get(field) or ()} - known.keys())
            for first in range(0, len(unknown), PER_PAGE):
                some = ",".join(map(str, unknown[first : first + PER_PAGE]))
                reply = await self._ask("GET", f"wp/v2/{field}?include={some}&per_page={PER_PAGE}&_fields=id,name")
                known |= {one["id"]: unescape(one["name"]) for one in reply.content}

    async def _id_of(self, field: str, name: str) -> int:
        """Return the id of a tag or category, which is made where there is none."""
        known = {other.casefold(): number for number, other in self._names[field].items()}
        if (number := known.get(name.casefold())) is None:
            reply = await self.exchange.ask("POST", f"{self._root}wp/v2/{field}", json={"name": name})
            if isinstance(reply.content, dict) and reply.content.get("code") == "term_exists":
                number = int(reply.content["data"]["term_id"])
            else:
                self._check(reply, field, target=f"the {field} {name!r}")
                number = int(reply.content["id"])
            self._names[field][number] = name
        return number

    async def _values(self, target: str, content: Mapping[str, Any]) -> Values:
        if target.startswith("media/"):
            return {"alt_text": content["alt_text"]}
        await self._learn_names([content])
        return self._post(target.partition("/")[0], content).values

    def _post(self, kind: str, content: Mapping[str, Any]) -> SitePost:
        cover = content.get("featured_media")
        values = {
            "content": content["content"]["raw"],
            "excerpt": (content.get("excerpt") or {}).get("raw", ""),
            "cover": f"media/{cover}" if cover else None,
            **{
                field: sorted(names[number] for number in content.get(field) or () if number in names)
                for field, names in self._names.items()
            },
        }
        title = text_of(content["title"].get("raw") or content["title"].get("rendered") or "")
        # A draft has none, or one that is all zeros.
        date = content.get("date_gmt") or ""
        published_at = datetime.fromisoformat(f"{date}+00:00") if date[:4] > "0000" else None
        is_published = content["status"] == "publish"
        is_public = is_published and not content.get("password")
        return SitePost(
            f"{kind}/{content['id']}", title, content["link"], is_published, values, published_at, is_public
        )
