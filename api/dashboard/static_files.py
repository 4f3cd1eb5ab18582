"""Static files: styles and scripts, at addresses that change with them, so that browsers may cache them for ever."""

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import falcon
import falcon.asgi
from markupsafe import Markup

from api.capabilities import dashboard_folders

ROUTE = "/dashboard/static/{digest}/{name}"
#: Digits of the digest in an address.
DIGEST_LENGTH = 12
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
#: Types that compress well.
TEXTS = frozenset((".css", ".js", ".svg"))


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file; `zipped` is empty where it would not be smaller."""

    content_type: str
    content: bytes
    zipped: bytes


@dataclass(frozen=True)
class Static:
    """All static files, by name. One digest for all: a module then finds those that it imports beside itself."""

    by_name: dict[str, StaticFile]
    digest: str
    route: str = ROUTE

    def url(self, name: str) -> str:
        """Return the address of a file. Raises KeyError for one that is not there."""
        if name not in self.by_name:
            raise KeyError(f"there is no static file {name}")
        return f"/dashboard/static/{self.digest}/{name}"

    def icon(self, name: str) -> Markup:
        """Return an icon of icons.svg. Raises KeyError for one that is not there."""
        if name not in self._icons:
            raise KeyError(f"there is no icon {name}")
        url = f"{self.url('icons.svg')}#{name}"
        return Markup('<svg class="icon" aria-hidden="true"><use href="{}"/></svg>').format(url)

    @cached_property
    def _icons(self) -> frozenset[str]:
        return frozenset(re.findall(r'<symbol id="([\w-]+)"', self.by_name["icons.svg"].content.decode()))


class StaticFiles:
    """GET /dashboard/static/{digest}/{name}."""

    def __init__(self, static: Static) -> None:
        self._static = static

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, digest: str, name: str) -> None:
        found = self._static.by_name.get(name)
        if found is None:
            raise falcon.HTTPNotFound
        is_current = digest == self._static.digest
        resp.cache_control = ["public, max-age=31536000, immutable" if is_current else "no-store"]
        resp.content_type = found.content_type
        resp.append_header("Vary", "Accept-Encoding")
        if found.zipped and "gzip" in (req.get_header("Accept-Encoding") or ""):
            resp.set_header("Content-Encoding", "gzip")
            resp.data = found.zipped
        else:
            resp.data = found.content

    on_head = on_get


def load_static_files() -> Static:
    """Return the files of the folder `static` and of capabilities, which share one namespace."""
    found = {}
    digest = hashlib.sha256()
    folders = [Path(__file__).parent / "static", *dashboard_folders()]
    for path in sorted((path for folder in folders for path in folder.iterdir()), key=lambda path: path.name):
        suffix = path.suffix
        if suffix not in TYPES:
            continue
        content = path.read_bytes()
        digest.update(path.name.encode() + b"\0" + content)
        zipped = gzip.compress(content, mtime=0) if suffix in TEXTS else b""
        found[path.name] = StaticFile(TYPES[suffix], content, zipped)
    return Static(found, digest.hexdigest()[:DIGEST_LENGTH])
