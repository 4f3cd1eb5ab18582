"""The handler of alt text: who is downloaded, who goes through the model, and what becomes of each."""

import io
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from PIL import Image

from capabilities.alt_text.engines import Caption, CaptionRequest
from capabilities.alt_text.handlers.alt_text import FEW, AltTextHandler
from capabilities.alt_text.handlers.caption_cache import PREFIX, CaptionCache
from capabilities.alt_text.handlers.downloads import KEPT_SECONDS, MOST_LEFT, Downloads
from capabilities.alt_text.handlers.pending_caption import LATER
from capabilities.alt_text.kinds.fields import PictureInput, PictureTexts
from pipeline.downloads.images import ImageUnreachable
from pipeline.errors import PressroomError
from pipeline.settings import Settings
from workers.engines import EngineBusy, EngineUnavailable, Stopped
from workers.engines.resources import Resources
from workers.engines.tokens import Tokens
from workers.handler import Done, Failed, Release
from workers.media.downloads.fetcher import Fetched

DAY = timedelta(days=1)


def png(colour: str, size: tuple[int, int] = (8, 8)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "PNG")
    return file.getvalue()


class Web:
    """Downloads of a web that has these files; `held` ones end when they are let go.

    `when_asked` says what happens once a URL's download has begun."""

    def __init__(self, **files: bytes | PressroomError) -> None:
        self.files = files
        self.asked: list[str] = []
        self.started: dict[str, Future[Fetched]] = {}
        self.held: set[str] = set()
        self.when_asked: dict[str, Callable[[], None]] = {}

    def start(self, url: str) -> "Future[Fetched]":
        self.asked.append(url)
        self.started[url] = Future()
        if url not in self.held:
            self.let_go(url)
        self.when_asked.get(url, lambda: None)()
        return self.started[url]

    def let_go(self, url: str) -> None:
        found = self.files[url]
        if isinstance(found, PressroomError):
            self.started[url].set_exception(found)
        else:
            self.started[url].set_result(Fetched(found, url, "image/png"))


class Painter:
    """An engine that names a picture's first pixel; `fails` says of which it can't."""

    def __init__(self, name: str = "painter", *, batch: int = 8, languages: Sequence[str] = ("en", "es")) -> None:
        self.name = name
        self.batch = batch
        self.seen: list[list[CaptionRequest]] = []
        self.fails: dict[tuple[int, ...], Exception] = {}
        self.together: Exception | None = None
        self.before: Callable[[], None] = lambda: None
        self._languages = languages

    def languages(self) -> Sequence[str]:
        return self._languages

    def caption(self, requests: Sequence[CaptionRequest], *, stop: Callable[[], bool]) -> list[Any]:
        self.before()
        self.seen.append(list(requests))
        if stop():
            raise Stopped
        if self.together is not None and len(requests) > 1:
            raise self.together
        return [self._one(request) for request in requests]

    def _one(self, request: CaptionRequest) -> Any:
        request.tokens.add(self.name, {"usage": {"prompt_tokens": 300, "completion_tokens": 40}})
        pixel = request.picture.image.getpixel((0, 0))
        if (error := self.fails.get(pixel)) is not None:
            return error
        return {mode: Caption(f"{mode} {request.language} {pixel}.", 0.5) for mode in request.modes}


class Task:
    """An item that can be stopped."""

    def __init__(self, url: str, mode: str = "short", language: str = "en") -> None:
        self.input = PictureInput(image_url=url, mode=mode, language=language)
        self.tokens = Tokens()
        self.stopped = False

    def store(self, data: bytes, *, suffix: str) -> str:
        return "1.jpg" if data.startswith(b"\xff\xd8") else f"no thumbnail{suffix}"

    def is_stopped(self) -> bool:
        return self.stopped


def handler_of(web: Web, *engines: Painter, cache: CaptionCache | None = None, **settings: Any) -> AltTextHandler:
    family = SimpleNamespace(engines=engines, setup=lambda: None, offers=lambda: (), is_loading=False)
    handler = AltTextHandler(
        Resources(Settings(captioning=settings)),
        family=family,
        fetcher=web,
        cache=cache or CaptionCache(None, keep_for=DAY),
    )
    handler.setup()
    return handler


def texts(outcome: Any) -> dict[str, str]:
    assert isinstance(outcome, Done), outcome
    return {mode: said.text for mode, said in outcome.output.texts.items()}


RED, GREEN, BLUE = "(255, 0, 0)", "(0, 128, 0)", "(0, 0, 255)"


def test_pictures_of_a_run_go_through_the_model_together_and_in_order() -> None:
    engine = Painter()
    handler = handler_of(Web(r=png("red"), g=png("green"), b=png("blue")), engine)

    outcomes = handler.run([Task("r"), Task("g", "long", "es"), Task("b", "seo")])

    assert [texts(outcome) for outcome in outcomes] == [
        {"short": f"short en {RED}."},
        {"long": f"long es {GREEN}."},
        {"seo": f"seo en {BLUE}."},
    ]
    assert len(engine.seen) == 1
    assert outcomes[0] == Done(
        PictureTexts(
            texts={"short": Caption(f"short en {RED}.", 0.5)}, language="en", engine="painter", thumbnail="1.jpg"
        ),
        engine="painter",
    )


def test_a_picture_that_fails_fails_alone() -> None:
    engine = Painter()
    unreachable, unsayable = ImageUnreachable("gone"), PressroomError("no words", code="no_words")
    engine.fails[0, 128, 0] = unsayable
    web = Web(gone=unreachable, noise=b"GIF89a, but not really", r=png("red"), g=png("green"))

    outcomes = handler_of(web, engine).run([Task("gone"), Task("noise"), Task("r"), Task("g")])

    assert outcomes[0] == Failed(unreachable)
    assert isinstance(outcomes[1], Failed)
    assert outcomes[1].error.code == "image_undecodable"
    assert texts(outcomes[2]) == {"short": f"short en {RED}."}
    assert outcomes[3] == Failed(unsayable)


def test_what_an_engine_fails_on_is_described_by_the_next_one_that_writes_the_language() -> None:
    broken, german, other = Painter("broken"), Painter("german", languages=["de"]), Painter("other")
    broken.fails[255, 0, 0] = EngineUnavailable("its process ended")
    handler = handler_of(Web(r=png("red"), g=png("green")), broken, german, other)

    outcomes = handler.run([Task("r"), Task("g")])

    assert [outcome.output.engine for outcome in outcomes] == ["other", "broken"]
    assert german.seen == []
    other.fails = broken.fails
    (outcome,) = handler_of(Web(r=png("red")), broken, other).run([Task("r")])
    assert outcome == Failed(broken.fails[255, 0, 0])


def test_an_engine_that_refuses_a_batch_is_shown_each_picture_alone() -> None:
    engine = Painter()
    engine.together = PressroomError("too much at once")
    engine.fails[255, 0, 0] = PressroomError("no words")

    outcomes = handler_of(Web(r=png("red"), g=png("green")), engine).run([Task("r"), Task("g")])

    assert isinstance(outcomes[0], Failed)
    assert texts(outcomes[1]) == {"short": f"short en {GREEN}."}


def test_an_engine_that_leaves_a_text_out_is_an_error_and_not_a_silence() -> None:
    engine = Painter()
    engine._one = lambda request: {}

    with pytest.raises(KeyError):
        handler_of(Web(r=png("red")), engine).run([Task("r")])


def test_the_first_engine_that_writes_a_language_serves_and_none_is_an_error_before_any_download() -> None:
    english, german = Painter("english", languages=["en"]), Painter("german", languages=["en", "de"])
    web = Web(r=png("red"))

    outcomes = handler_of(web, english, german).run([Task("r"), Task("r", language="de"), Task("r", language="ja")])

    assert [outcome.engine for outcome in outcomes[:2]] == ["english", "german"]
    assert isinstance(outcomes[2], Failed)
    assert (outcomes[2].error.code, outcomes[2].error.status) == ("language_not_supported", 400)
    assert "en, de" in outcomes[2].error.message
    web.asked.clear()
    handler_of(web, english).run([Task("r", language="ja")])
    assert web.asked == []


def test_the_same_url_is_downloaded_once_and_the_same_bytes_go_through_the_model_once() -> None:
    engine = Painter()
    web = Web(r=png("red"), same=png("red"))

    tasks = [Task("r"), Task("r", "seo"), Task("same", "all"), Task("r", language="es")]
    outcomes = handler_of(web, engine).run(tasks)

    assert [bool(task.tokens) for task in tasks] == [True, False, False, True]
    assert web.asked == ["r", "same"]
    assert [(request.modes, request.language) for request in engine.seen[0]] == [
        (("short", "long", "seo"), "en"),
        (("short",), "es"),
    ]
    assert [list(texts(outcome)) for outcome in outcomes] == [["short"], ["seo"], ["short", "long", "seo"], ["short"]]


def test_the_same_bytes_asked_again_come_from_redis(redis_url: str) -> None:
    engine, web = Painter(), Web(r=png("red"), other_name=png("red"))
    with redis.Redis.from_url(redis_url) as client:
        cache = CaptionCache(client, keep_for=DAY)
        first = handler_of(web, engine, cache=cache).run([Task("r")])
        again = handler_of(web, engine, cache=cache).run([Task("other_name")])
        assert again == first
        assert len(engine.seen) == 1

        handler_of(web, engine, cache=cache).run([Task("r", "all"), Task("r", language="es")])
        assert [request.modes for request in engine.seen[1]] == [("long", "seo"), ("short",)]
        handler_of(web, Painter("another"), cache=cache).run([Task("r")])
        handler_of(web, engine, cache=CaptionCache(client, keep_for=timedelta())).run([Task("r")])
        assert len(engine.seen) == 3
        # Of its own keys: services of other tests, which are still there, write theirs.
        ends = [client.ttl(key) for key in client.scan_iter(f"{PREFIX}*")]
        assert len(ends) == 5
        assert all(0 < end <= DAY.total_seconds() for end in ends)


def test_a_model_of_another_name_is_asked_itself(redis_url: str) -> None:
    web, engine = Web(r=png("red")), Painter("vlm")
    with redis.Redis.from_url(redis_url) as client:
        cache = CaptionCache(client, keep_for=DAY)
        for model in ("base", "large", "base"):
            handler_of(web, engine, cache=cache, vlm={"model": model}).run([Task("r")])
    assert len(engine.seen) == 2


def test_an_engine_that_changes_its_model_is_asked_anew(redis_url: str) -> None:
    engine: Any = Painter()
    with redis.Redis.from_url(redis_url) as client:
        handler = handler_of(Web(r=png("red")), engine, cache=CaptionCache(client, keep_for=DAY))
        for model in ("of before", "of now", "of before"):
            engine.model = model
            handler.run([Task("r")])
    assert len(engine.seen) == 2


def test_an_engine_that_an_operator_exchanges_meanwhile_still_describes_what_it_began() -> None:
    web = Web(r=png("red"))
    handler: Any = handler_of(web, Painter())
    web.when_asked["r"] = lambda: setattr(handler._family, "engines", (Painter("new"),))

    assert [outcome.output.engine for outcome in handler.run([Task("r")])] == ["painter"]


def test_pictures_wait_while_an_operator_has_paused_the_only_engine() -> None:
    with pytest.raises(EngineBusy):
        handler_of(Web(r=png("red"))).run([Task("r")])


def test_weights_that_were_replaced_in_their_folder_are_asked_themselves(redis_url: str, tmp_path: Path) -> None:
    web, engine = Web(r=png("red")), Painter("vlm")
    weights = tmp_path / "model.safetensors"
    with redis.Redis.from_url(redis_url) as client:
        cache = CaptionCache(client, keep_for=DAY)
        for content in (b"first", b"another"):
            weights.write_bytes(content)
            for _ in range(2):
                handler_of(web, engine, cache=cache, vlm={"model": str(tmp_path)}).run([Task("r")])
    assert len(engine.seen) == 2


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that wait for a slow server no longer than it takes to look."""
    monkeypatch.setattr("capabilities.alt_text.handlers.downloads.LOOK_SECONDS", 0.01)
    monkeypatch.setattr("capabilities.alt_text.handlers.downloads.GRACE_SECONDS", 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_slow_server_holds_up_no_neighbour_and_its_picture_is_downloaded_once() -> None:
    web = Web(slow=png("red"), quick=png("green"), gone=ImageUnreachable("gone"))
    web.held.add("slow")
    handler = handler_of(web, Painter())

    outcomes = handler.run([Task("slow"), Task("quick"), Task("gone"), Task("slow", "seo")])

    assert texts(outcomes[1]) == {"short": f"short en {GREEN}."}
    assert isinstance(outcomes[2], Failed)
    assert [outcomes[0], outcomes[3]] == [Release(LATER)] * 2
    assert not web.started["slow"].cancelled()

    web.let_go("slow")
    assert texts(handler.run([Task("slow")])[0]) == {"short": f"short en {RED}."}
    assert web.asked.count("slow") == 1


def test_downloads_that_go_on_without_a_run_are_few_and_not_kept_for_ever() -> None:
    now = [0.0]
    web = Web(**{f"{number}": b"" for number in range(MOST_LEFT + 1)})
    web.held |= set(web.files)
    downloads = Downloads(web, clock=lambda: now[0])
    started = {url: downloads.start(url) for url in web.files}

    assert [downloads.leave(url, download) for url, download in started.items()] == [True] * MOST_LEFT + [False]
    assert downloads.start("0") is started["0"]
    now[0] = KEPT_SECONDS + 1
    assert downloads.start("1") is not started["1"]
    assert started["1"].cancelled()
    assert not started["0"].cancelled()


@pytest.mark.usefixtures("impatient")
def test_a_slow_picture_in_two_runs_holds_up_neither() -> None:
    web = Web(slow=png("red"), quick=png("green"), other=png("blue"))
    web.held.add("slow")
    handler = handler_of(web, Painter())
    outcomes: list[Any] = []
    first = threading.Thread(target=lambda: outcomes.extend(handler.run([Task("slow"), Task("quick")])), daemon=True)
    # The second run has its turn, and leaves the picture, while the first downloads it too.
    web.when_asked["quick"] = lambda: outcomes.extend(handler.run([Task("slow"), Task("other")]))
    first.start()
    first.join(30)

    assert not first.is_alive()
    assert [outcomes[0], outcomes[2]] == [Release(LATER)] * 2
    assert web.asked.count("slow") == 2
    web.let_go("slow")
    assert not any(download.cancelled() for download in web.started.values())


def test_a_stopped_item_is_dropped_before_its_download_and_before_the_model() -> None:
    engine, web = Painter(), Web(r=png("red"), g=png("green"), b=png("blue"))
    early, late, wanted = Task("r"), Task("g"), Task("b")
    early.stopped = True
    web.when_asked["b"] = lambda: setattr(late, "stopped", True)

    outcomes = handler_of(web, engine).run([early, late, wanted])

    assert web.asked == ["g", "b"]
    assert outcomes[:2] == [Release(), Release()]
    assert texts(outcomes[2]) == {"short": f"short en {BLUE}."}
    assert len(engine.seen[0]) == 1


def test_a_download_that_nobody_waits_for_any_more_is_ended() -> None:
    web = Web(r=png("red"))
    web.held.add("r")
    task = Task("r")
    web.when_asked["r"] = lambda: setattr(task, "stopped", True)

    outcomes = handler_of(web, Painter()).run([task])

    assert outcomes == [Release()]
    assert web.started["r"].cancelled()


def test_an_engine_that_stops_leaves_the_items_for_whoever_wants_them() -> None:
    engine, task = Painter(), Task("r")
    engine.before = lambda: setattr(task, "stopped", True)

    assert handler_of(Web(r=png("red")), engine).run([task]) == [Release()]


def test_a_large_picture_waits_for_the_model_as_a_small_one() -> None:
    engine = Painter()

    handler_of(Web(wide=png("red", (5_000, 1_000))), engine).run([Task("wide")])

    assert engine.seen[0][0].picture.image.size == (2_048, 410)


def test_an_engine_that_takes_one_at_a_time_still_gets_its_pictures_downloaded_together() -> None:
    assert handler_of(Web(), Painter(batch=1)).batch == FEW
    assert handler_of(Web(), Painter(batch=16)).batch == 16


class Away:
    """A Redis that is away."""

    def __init__(self) -> None:
        self.asked = 0

    def mget(self, keys: Sequence[str]) -> None:
        self.asked += 1
        raise redis.ConnectionError("away")


def test_without_redis_every_picture_is_described_and_it_is_asked_once_in_a_while() -> None:
    client, now = Away(), [0.0]
    cache = CaptionCache(client, keep_for=DAY, clock=lambda: now[0])
    handler = handler_of(Web(r=png("red"), g=png("green")), Painter(), cache=cache)

    for _ in range(3):
        assert all(isinstance(outcome, Done) for outcome in handler.run([Task("r"), Task("g")]))
    assert client.asked == 1
    now[0] = 31
    handler.run([Task("r")])
    assert client.asked == 2


@pytest.mark.parametrize(
    "value",
    [
        b"no json",
        b"[]",
        b'{"text": 5, "confidence": 0.5}',
        b'{"text": "A red square.", "confidence": "high"}',
        b"\xff\xfe",
    ],
)
def test_what_is_kept_is_believed_only_when_it_is_a_caption(value: bytes) -> None:
    client = SimpleNamespace(mget=lambda keys: [value for _ in keys])

    assert CaptionCache(client, keep_for=DAY).find(["key"]) == {}
