"""A model comes to a running system, and the next request is served by it: nobody restarts anything."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hub import FakeHub, serve_hub
from PIL import Image
from systems import FAST, Answer, Running, only, system
from tiny_catalogue import entry_of
from tiny_gguf import build_gguf
from waiting import wait_for

pytestmark = pytest.mark.system

REPO = "us/tiny-gguf"


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
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeHub]:
    """A hub with one model, which sends nothing yet."""
    folder = build_gguf(tmp_path_factory.mktemp("tiny"))
    with serve_hub() as served:
        served.files[REPO] = {path.name: path.read_bytes() for path in folder.iterdir()}
        served.gate = threading.Event()
        served.catalogue = folder / "catalogue.toml"
        served.catalogue.write_text(entry_of(folder, "tiny-gguf", REPO))
        yield served


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, hub: FakeHub) -> Iterator[Running]:
    """A system without any model, which may download the one of its catalogue."""
    extra = FAST | {
        "PRESSROOM_KINDS": "tiny_catalogue:MadeUp",
        "TINY_CATALOGUE": str(hub.catalogue),
        "HF_ENDPOINT": hub.url,
        "PRESSROOM_MODELS__DOWNLOAD": "auto",
        "PRESSROOM_CAPTIONING__THREADS": "1",
        "PRESSROOM_FETCH__ALLOW_NETWORKS": "127.0.0.0/8",
    }
    with system(tmp_path_factory.mktemp("models") / "data", *only("vision"), extra=extra) as running:
        yield running


def describe(service: Running, pictures: str, colour: str) -> Answer:
    answer = service.ask("/generate", {"image_url": f"{pictures}/{colour}.png"})
    assert answer.status == 200, answer.body
    return answer


def test_the_model_that_suits_comes_by_itself_and_describes_what_was_a_draft(
    service: Running, pictures: str, hub: FakeHub
) -> None:
    before = describe(service, pictures, "red")
    assert (before.headers["X-Engine"], before.json["draft"], before.json["credits_used"]) == ("basic", True, 0)
    workers = service.pids("vision")
    wait_for(lambda: bool(hub.asked), seconds=180, about=lambda: "nothing was downloaded")
    assert describe(service, pictures, "green").headers["X-Engine"] == "basic"

    assert hub.gate is not None
    hub.gate.set()
    wait_for(lambda: "engine ready now" in service.written(), seconds=180, about=lambda: "the model was not taken")
    # The family of posts may have said so first; pictures follow within seconds.
    wait_for(
        lambda: describe(service, pictures, "red").headers["X-Engine"] == "llama",
        seconds=180,
        about=lambda: "the model describes nothing",
    )

    after = describe(service, pictures, "red")
    assert (after.headers["X-Engine"], after.json["credits_used"]) == ("llama", 1)
    assert service.pids("vision") == workers
    for word in ("llama_", "ggml_", "clip_", "srv "):
        assert word not in service.written()
