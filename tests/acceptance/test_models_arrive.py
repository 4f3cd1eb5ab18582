"""A model comes to a running system, and the next request is served by it: nobody restarts anything."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PIL import Image
from systems import Running, only, system

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with pictures."""
    folder = tmp_path_factory.mktemp("pictures")
    for colour in ("red", "green", "blue"):
        Image.new("RGB", (64, 48), colour).save(folder / f"{colour}.png")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A system that describes pictures without any model."""
    extra = {"PRESSROOM_CAPTIONING__THREADS": "1", "PRESSROOM_FETCH__ALLOW_NETWORKS": "127.0.0.0/8"}
    with system(tmp_path_factory.mktemp("models") / "data", *only("vision"), extra=extra) as running:
        yield running


def test_a_model_that_arrives_serves_the_next_request(service: Running, pictures: str, tmp_path: Path) -> None:
    before = service.ask("/generate", {"image_url": f"{pictures}/red.png"})
    assert (before.status, before.headers["X-Engine"]) == (200, "basic"), before.body
    service.wait_for_line("pressroom models fetch blip-base")
    workers = service.workers("vision")

    made = build_blip(tmp_path / "blip")
    arrived = service.data / "models" / ".partial" / "blip-base"
    arrived.parent.mkdir(parents=True)
    made.rename(arrived)
    arrived.rename(service.data / "models" / "blip-base")

    service.wait_for_line("engine ready now", seconds=180)
    after = service.ask("/generate", {"image_url": f"{pictures}/blue.png"})
    assert (after.status, after.headers["X-Engine"]) == (200, "blip"), after.body
    assert service.workers("vision") == workers
