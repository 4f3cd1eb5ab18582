"""Links in answers: where they lead, how long, and that they stay the same; made by the blog kind."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest
import redis
from falcon.testing import create_asgi_req
from http_service import Answer, Service
from payers import Payer

from api.http.address import base_url, read_networks
from capabilities.blog.handlers.blog import BlogHandler
from capabilities.blog.kinds.metadata import BlogMetadata
from pipeline.database import Database
from pipeline.operations.metrics import Metrics
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store
from pipeline.wakes.broker import WakeBroker
from workers.engines.resources import Resources
from workers.pool.run import Runner

KIND = BlogMetadata()
TITLE = {"title": "A Week on a Narrow Boat", "image_style": "minimalist"}


#: Does what is due, as a pool process does it; with other engines, if they are named.
Work = Callable[..., None]


@pytest.fixture(scope="module")
def work_off(service: Service, api_database: Database, redis_server: str) -> Iterator[Work]:
    handlers: dict[str, tuple[Settings, BlogHandler]] = {}
    with redis.Redis.from_url(redis_server) as connection:

        def work(*, pictures: str = "drawn") -> None:
            if pictures not in handlers:
                settings = Settings(
                    data=service.data, metadata={"engines": "extractive"}, pictures={"engines": pictures}
                )
                handlers[pictures] = settings, BlogHandler(Resources(settings))
            settings, handler = handlers[pictures]
            run(api_database, connection, settings, handler)

        yield work


def run(database: Database, connection: "redis.Redis", settings: Settings, handler: BlogHandler) -> None:
    runner = Runner(
        KIND.queue,
        {KIND.name: KIND},
        {KIND.name: handler},
        database=database,
        broker=WakeBroker(connection),
        artifacts=Artifacts(open_store(settings)),
        settings=settings,
        metrics=Metrics(),
    )
    runner.drain()


@pytest.fixture
def post(service: Service, work_off: Work, client: Payer) -> str:
    """A job that has made its pictures."""
    job_id = service.submit(TITLE, client.api_key, "/blog/generate")
    work_off()
    return job_id


def links(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.body
    return [image["url"] for image in answer.json["images"]]


def test_links_lead_to_where_the_request_went_and_stay_the_same(service: Service, post: str, client: Payer) -> None:
    first = service.get(f"/jobs/{post}/result", client.api_key)
    again = service.get(f"/jobs/{post}/result", client.api_key)

    assert links(first) == links(again)
    assert len(set(links(first))) == 3
    for image in first.json["images"]:
        url = urlsplit(image["url"])
        assert (url.scheme, url.netloc) == ("http", f"127.0.0.1:{service.port}")
        expires = int(url.query.removeprefix("expires=").partition("&")[0])
        assert datetime.fromtimestamp(expires, UTC) == datetime.fromisoformat(image["expires_at"])
        shown = service.get(f"{url.path}?{url.query}")
        assert (shown.status, shown.headers["content-type"]) == (200, image["content_type"])
        assert shown.headers["content-disposition"].startswith('inline; filename="cover-')


@pytest.mark.parametrize(
    ("host", "base"),
    [
        ("press.example.com", "http://press.example.com"),
        ("[::1]:8000", "http://[::1]:8000"),
        ("evil.example/x?", None),
        ("user@evil.example", None),
        ('"><script>', None),
        ("", None),
    ],
)
def test_a_host_that_is_none_gets_into_no_link(
    service: Service, post: str, client: Payer, host: str, base: str | None
) -> None:
    answer = service.get(f"/jobs/{post}/result", client.api_key, Host=host)

    if answer.status == 200:  # some the server itself refuses
        own = f"http://127.0.0.1:{service.port}"
        assert all(link.startswith(f"{base or own}/files/") for link in links(answer))
    else:
        assert answer.status == 400
        assert base is None


def test_a_proxy_that_is_not_trusted_is_not_believed(service: Service, post: str, client: Payer) -> None:
    forwarded = {"X_Forwarded_Proto": "https", "X_Forwarded_Host": "press.example.com"}

    found = links(service.get(f"/jobs/{post}/result", client.api_key, **forwarded))

    assert all(link.startswith(f"http://127.0.0.1:{service.port}/files/") for link in found)


@pytest.mark.parametrize(
    ("peer", "proto", "host", "base"),
    [
        ("10.0.0.7", "https", "press.example.com", "https://press.example.com"),
        ("10.0.0.7", "http, https", "evil.example, press.example.com:444", "https://press.example.com:444"),
        ("10.0.0.7", None, None, "http://inner:8000"),
        ("10.0.0.7", "javascript", "a/b", "http://inner:8000"),
        ("192.0.2.1", "https", "press.example.com", "http://inner:8000"),
    ],
)
def test_a_trusted_proxy_says_what_was_asked(peer: str, proto: str | None, host: str | None, base: str) -> None:
    forwarded = {"X-Forwarded-Proto": proto, "X-Forwarded-Host": host}
    request = create_asgi_req(
        host="inner",
        port=8_000,
        remote_addr=peer,
        headers={name: value for name, value in forwarded.items() if value},
    )

    assert base_url(request, read_networks("10.0.0.0/8")) == base


def test_who_waits_gets_the_links_and_the_same_key_gets_them_again(
    service: Service, work_off: Work, client: Payer
) -> None:
    answers: list[Answer] = []
    waiting = threading.Thread(
        target=lambda: answers.append(service.post("/blog/generate", TITLE, client.api_key, Idempotency_Key="a"))
    )
    waiting.start()
    while waiting.is_alive():
        work_off()
        waiting.join(0.05)

    again = service.post("/blog/generate", TITLE, client.api_key, Idempotency_Key="a")

    assert again.json == answers[0].json
    assert list(again.json) == [
        *("images", "excerpt", "category", "category_confidence", "tags", "language", "engine", "origin"),
        *("credits_used", "warnings", "image_note", "generated_at"),
    ]
    assert again.headers["x-credits-remaining"] == str(1_000 - 3)
    assert again.headers["x-engine"] == "extractive+drawn"


def test_posts_whose_pictures_all_fail_cost_one_credit(service: Service, work_off: Work, client: Payer) -> None:
    job_id = service.submit(TITLE, client.api_key, "/blog/generate")
    # Which has no model here.
    work_off(pictures="diffusion")

    answer = service.get(f"/jobs/{job_id}/result", client.api_key)

    assert answer.json["images"] == []
    assert answer.json["engine"] == "extractive"
    assert answer.json["warnings"] == ["3 of 3 pictures could not be made; 2 of 3 credits were not charged."]
    assert service.get(f"/jobs/{job_id}", client.api_key).json["credits"] == {"held": 3, "captured": 1, "released": 2}


def test_a_post_may_be_larger_than_other_json(service: Service, client: Payer) -> None:
    escaped = {**TITLE, "content": "𠮷" * 500_000}  # six megabytes, as escapes
    assert service.post("/blog/generate", escaped, client.api_key, Prefer="respond-async").status == 202
    too_long = service.post("/blog/generate", {**TITLE, "content": "x" * 500_001}, client.api_key)
    assert (too_long.status, too_long.json["details"][0]["field"]) == (400, "content")
    assert service.post("/blog/generate", {**TITLE, "content": "x" * 2**23}, client.api_key).status == 413
