"""Hub: a model hub on loopback that speaks the protocol of huggingface.co, and can fail as a real one does."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

RESOLVE = re.compile(r"/(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)")
INFO = re.compile(r"/api/models/(?P<repo>[^/]+/[^/]+)/revision/(?P<revision>[^/?]+)")
COMMIT = "c0ffee" + "0" * 34


@dataclass
class FakeHub:
    """Repositories by name, each with its files; `commits` has what each branch of all of them means."""

    url: str = ""
    #: Large files are at another host, as those of the real one are.
    store_url: str = ""
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    commits: dict[str, str] = field(default_factory=lambda: {"main": COMMIT})
    #: Paths that are kept in git itself, so that the hub knows no SHA-256 of them; the others are large files.
    small: set[str] = field(default_factory=set)
    #: Bytes sent in place of a file that the hub announces.
    altered: dict[str, bytes] = field(default_factory=dict)
    #: The size that the hub announces of a file, where it is not the true one.
    announced: dict[str, int] = field(default_factory=dict)
    #: After so many bytes of an answer the connection is closed.
    break_after: int | None = None
    #: After so many bytes of a file nothing more comes.
    stall_after: int | None = None
    #: Seconds between the single bytes that come after `stall_after`; None: none come.
    drip_seconds: float | None = None
    #: Whether it serves ranges and announces lengths.
    knows_ranges: bool = True
    tells_length: bool = True
    #: Every request for bytes: path and first byte.
    asked: list[tuple[str, int]] = field(default_factory=list)
    #: Waited for before bytes are sent.
    gate: threading.Event | None = None

    def find(self, repo: str, revision: str, path: str) -> bytes | None:
        """Return a file's bytes."""
        is_known = revision in self.commits or revision in self.commits.values()
        return self.files.get(repo, {}).get(path) if is_known else None


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: FakeHub
    is_stopped: threading.Event

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        if found := INFO.match(self.path):
            return self._inform(found["repo"], found["revision"])
        if self.path.startswith("/objects/"):
            repo, _, path = self.path.removeprefix("/objects/").partition("|")
            return self._send(path, self.hub.files[repo][path])
        return self._answer()

    def log_message(self, *_: Any) -> None:
        pass

    def _inform(self, repo: str, revision: str) -> None:
        if repo not in self.hub.files:
            self._fail("RepoNotFound")
            return
        siblings = [self._described(path, found) for path, found in self.hub.files[repo].items()]
        commit = self.hub.commits.get(revision, revision)
        body = json.dumps({"_id": "1", "id": repo, "sha": commit, "siblings": siblings}).encode()
        self._head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))})
        self.wfile.write(body)

    def _described(self, path: str, found: bytes) -> dict[str, Any]:
        told: dict[str, Any] = {"rfilename": path, "size": len(found), "blobId": hashlib.sha1(found).hexdigest()}
        if path not in self.hub.small:
            told["lfs"] = {"sha256": hashlib.sha256(found).hexdigest(), "size": len(found), "pointerSize": 134}
        return told

    def _answer(self) -> None:
        wanted = RESOLVE.match(self.path)
        found = wanted and self.hub.find(wanted["repo"], wanted["revision"], wanted["path"])
        if wanted is None or found is None:
            return self._fail("EntryNotFound")
        repo, path = wanted["repo"], wanted["path"]
        commit = self.hub.commits.get(wanted["revision"], wanted["revision"])
        headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        size = str(self.hub.announced.get(path, len(found)))
        if path in self.hub.small:
            headers["ETag"] = f'"{hashlib.sha1(found).hexdigest()}"'
            if self.command == "GET":
                return self._send(path, found, headers)
            return self._head(200, headers | {"Content-Length": size})
        sha256 = hashlib.sha256(found).hexdigest()
        headers |= {"X-Linked-Size": size, "X-Linked-ETag": f'"{sha256}"', "Content-Length": "0"}
        return self._head(302, headers | {"Location": f"{self.hub.store_url}/objects/{repo}|{path}"})

    def _send(self, path: str, body: bytes, headers: dict[str, str] | None = None) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")) if self.hub.knows_ranges else None
        start = int(asked[1]) if asked else 0
        self.hub.asked.append((path, start))
        if self.hub.gate is not None:
            self.hub.gate.wait(30)
        whole = self.hub.altered.get(path, body)
        body = whole[start:]
        length = {"Content-Length": str(len(body))} if self.hub.tells_length else {"Connection": "close"}
        if asked:
            length["Content-Range"] = f"bytes {start}-{len(whole) - 1}/{len(whole)}"
        self._head(206 if asked else 200, (headers or {}) | length)
        if self.hub.stall_after is not None:
            self.wfile.write(body[: max(0, self.hub.stall_after - start)])
            self.wfile.flush()
            while not self.is_stopped.wait(self.hub.drip_seconds or 30) and self.hub.drip_seconds:
                self.wfile.write(b"x")
        else:
            self.wfile.write(body[: self.hub.break_after])
        self.close_connection |= self.hub.stall_after is not None or self.hub.break_after is not None

    def _fail(self, code: str) -> None:
        self._head(404, {"X-Error-Code": code, "Content-Length": "0"})

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


@contextmanager
def serve_hub() -> Iterator[FakeHub]:
    """Serve an empty hub."""
    hub, stopped = FakeHub(), threading.Event()
    answers = type("Answers", (_Answers,), {"hub": hub, "is_stopped": stopped})
    server = ThreadingHTTPServer(("127.0.0.1", 0), answers)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_port}"
    hub.store_url = f"http://localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
