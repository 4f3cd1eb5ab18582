"""Pictures: a web server of photos in a process of its own, each with other bytes, all described by their author."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web
from PIL import Image, ImageFilter

from scripts.system.programs import environment, module

#: As a blog has them; about 300 kB each.
SIZE = (1_600, 1_067)
TOLD = "Two herons stand in a shallow lake at dawn"
#: The end of a JPEG: bytes after it make files differ with equal pictures.
END = b"\xff\xd9"
XMP = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description rdf:about="" xmlns:Iptc4xmpCore="http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/">'
    '<Iptc4xmpCore:AltTextAccessibility><rdf:Alt><rdf:li xml:lang="x-default">'
    f"{TOLD}</rdf:li></rdf:Alt></Iptc4xmpCore:AltTextAccessibility></rdf:Description></rdf:RDF></x:xmpmeta>"
)


def photo(number: int) -> bytes:
    """Return a photo's file; only its number tells it from others."""
    if not _drawn:
        small = Image.effect_noise((200, 134), 120).convert("RGB").resize(SIZE, Image.Resampling.BICUBIC)
        file = io.BytesIO()
        small.filter(ImageFilter.GaussianBlur(1)).save(file, "JPEG", quality=88, xmp=XMP.encode())
        _drawn.append(file.getvalue())
    assert _drawn[0].endswith(END)
    return _drawn[0] + number.to_bytes(8)


_drawn: list[bytes] = []


@contextmanager
def picture_server() -> Iterator[str]:
    """Serve photos in a process of its own; give back where: `{address}/{number}.jpg`."""
    process = subprocess.Popen(module("benchmarks.pictures"), env=environment(), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(timeout=10)
        if process.stdout is not None:
            process.stdout.close()


async def _send(request: web.Request) -> web.Response:
    return web.Response(body=photo(int(request.match_info["number"])), content_type="image/jpeg")


async def _tell(app: web.Application) -> None:
    photo(0)


def main() -> None:
    """Serve until the process ends."""
    import socket

    listener = socket.create_server(("127.0.0.1", 0), backlog=1_024)
    print(json.dumps(f"http://127.0.0.1:{listener.getsockname()[1]}"), flush=True)
    app = web.Application()
    app.on_startup.append(_tell)
    app.add_routes([web.get("/{number:[0-9]+}.jpg", _send)])
    web.run_app(app, sock=listener, print=None, access_log=None)


if __name__ == "__main__":
    sys.exit(main())
