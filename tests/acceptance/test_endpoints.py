"""A whole system whose eyes, pens, voices and ears are one server in OpenAI's form."""

import base64
import io
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web
from http_service import form
from model_server import KEY, ModelServer, chat, drawing, refused
from PIL import Image
from systems import Running, system
from waiting import wait_for

from pipeline.accounts.secret_box import SecretBox
from pipeline.database import Database
from pipeline.operations.endpoints import remove, store
from pipeline.operations.pauses import pause, resume
from pipeline.settings import Settings
from pipeline.settings.endpoints import EndpointSettings
from workers.media.audio.pcm import Pcm, encode_wav

pytestmark = pytest.mark.system

CHAT = "/chat/completions"
TOMATOES = "Tomatoes in a pot on a balcony"
POST = {
    "excerpt": "Tomatoes on a balcony need six hours of sun, a deep pot and water every morning.",
    "category": "Home & Garden",
    "tags": ["tomatoes", "balcony", "watering", "compost", "urban gardening"],
}
CONTENT = (
    "Tomatoes on a balcony need six hours of sun and a deep pot. Water them every morning, feed them with compost, "
    "and tie the stems to a stick. Urban gardening is simple when the pots are large and the soil stays moist."
)


def answer(body: Any) -> Any:
    """Answer a picture with a caption, and a post with its metadata."""
    is_picture = "image_url" in str(body["messages"])
    return chat({"short": TOMATOES, "long": f"{TOMATOES}.", "seo": TOMATOES} if is_picture else POST)


def speech(_: Any) -> web.Response:
    return web.Response(body=encode_wav(Pcm(bytes(96_000), 24_000)), content_type="audio/wav")


@pytest.fixture(scope="module", name="server")
def _server() -> Iterator[ModelServer]:
    answers: dict[str, Any] = {
        "/models": {"data": [{"id": "any"}]},
        CHAT: answer,
        "/images/generations": drawing(),
        "/audio/speech": speech,
        "/audio/transcriptions": {"text": "Good morning."},
    }
    with ModelServer(answers, key=KEY) as server:
        yield server


@pytest.fixture(scope="module", name="service")
def _service(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    own = {"URL": server.url, "KEY": KEY, "PAUSE_SECONDS": "1"}
    own |= dict.fromkeys(("CAPTIONS", "POSTS", "COVERS", "SPEECH", "TRANSCRIPTS"), "any")
    extra = {f"PRESSROOM_ENDPOINTS__HOUSE__{name}": value for name, value in own.items()}
    extra |= {"PRESSROOM_SYNTHESIS__ENGINES": "house", "PRESSROOM_TRANSCRIPTION__ENGINES": "house"}
    pool = ("--pool", "search_check=0")
    with system(tmp_path_factory.mktemp("endpoints") / "data", *pool, extra=extra) as running:
        yield running
        assert KEY not in running.written()


def picture(colour: str) -> str:
    file = io.BytesIO()
    Image.new("RGB", (64, 48), colour).save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def test_every_route_is_served_by_the_endpoint(service: Running, server: ModelServer) -> None:
    caption = service.ask("/generate", {"image_url": picture("red")})
    assert (caption.json["alt_text"], caption.headers["X-Engine"]) == (TOMATOES, "house"), caption.body

    post = service.ask("/blog/generate", {"title": "Tomatoes on a balcony", "content": CONTENT}, timeout=120)
    assert post.status == 200, post.body
    assert post.json["excerpt"] == POST["excerpt"], post.body
    assert len(post.json["images"]) == server.paths().count("/images/generations") == 3

    sound = service.ask("/tts", {"text": "Good morning, everybody."})
    assert (sound.headers["X-Engine"], sound.body[:4]) == ("house", b"RIFF")
    openai = service.ask("/v1/audio/speech", {"model": "tts-1", "voice": "alloy", "input": "Good morning."})
    assert openai.status == 200, openai.body

    heard = service.post_bytes("/tts/stt", *form(("audio", encode_wav(Pcm(bytes(32_000), 16_000)), "a.wav")))
    assert heard.json["text"] == "Good morning.", heard.body


def test_voices_of_the_endpoint_are_listed_as_not_local(service: Running) -> None:
    # espeak's list stands there before the pool has said what it offers.
    wait_for(lambda: service.ask("/tts/voices").json["voices"][0]["engine"] == "house")
    assert {voice["local"] for voice in service.ask("/tts/voices").json["voices"]} == {False}


def test_a_server_that_an_operator_adds_takes_over_from_one_that_is_paused(service: Running) -> None:
    colours = (f"#{number:06x}" for number in range(1_000, 100_000, 37))

    def serves(engine: str) -> bool:
        return service.ask("/generate", {"image_url": picture(next(colours))}).headers["X-Engine"] == engine

    attic = ModelServer({"/models": {"data": [{"id": "any"}]}, CHAT: answer}, key=KEY)
    with attic, Database(service.database_url) as database:
        sealed = SecretBox(Settings(data=service.data)).seal(KEY.encode())
        database.run(store("attic", EndpointSettings(url=attic.url, captions="any"), sealed))
        database.run(pause("provider", "house"))
        wait_for(lambda: serves("attic"))
        database.run(resume("provider", "house"))
        wait_for(lambda: serves("house"))
        database.run(remove("attic"))


def test_a_pause_costs_no_attempt_and_a_killed_server_loses_nothing(service: Running, server: ModelServer) -> None:
    def busy(body: Any) -> Any:
        server.answers[CHAT] = answer
        return refused(429, {"error": "busy"}, Retry_After="1")(body)  # type: ignore[operator]

    server.answers[CHAT] = busy
    job = service.submit({"image_url": picture("blue")}, "/generate")
    done = service.wait_for_state(job)
    assert (done["state"], done["credits"]["captured"]) == ("succeeded", 1), done

    pictures = [{"id": str(number), "image_url": picture(f"#0000{number:02x}")} for number in range(10)]
    job = service.submit({"images": pictures}, "/batch")
    server.answers[CHAT] = lambda _: web.json_response({"error": "out of memory"}, status=500)
    done = service.wait_for_state(job)
    assert (done["state"], done["progress"]["done"]) == ("succeeded", 10), done
    # What another engine could not describe either is a draft, and free.
    described = service.ask(f"/jobs/{job}/result").json["results"]
    charged = sum(1 for one in described if not one["draft"])
    assert done["credits"]["captured"] == charged < 10
