"""Pages of other sites use the API only where the operator names them, and never with the dashboard's cookie."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from http_service import Answer, Service, start_service
from payers import Payer
from pydantic import ValidationError

from pipeline.settings import ApiSettings

FRIEND = "https://friend.example"
STRANGER = "https://stranger.example"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, api_database_url: str, redis_server: str) -> Iterator[Service]:
    """An API that takes requests of two origins."""
    folder: Path = tmp_path_factory.mktemp("opened")
    settings = {"API__CORS_ORIGINS": f"{FRIEND}, http://localhost:3000"}
    with start_service(folder, database_url=api_database_url, redis_url=redis_server, settings=settings) as running:
        yield running


def cors_of(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


def preflight(service: Service, path: str, method: str, origin: str = FRIEND) -> Answer:
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "x-api-key,idempotency-key",
    }
    return service.request("OPTIONS", path, headers=headers)


def test_by_default_no_page_of_another_site_reads_an_answer(service: Service, client: Payer) -> None:
    answer = service.get("/jobs", client.api_key, Origin=FRIEND)
    assert (answer.status, cors_of(answer)) == (200, {})
    assert cors_of(preflight(service, "/jobs", "GET")) == {}


def test_a_named_origin_reads_answers_and_their_headers(opened: Service, client: Payer) -> None:
    answer = opened.get("/jobs", client.api_key, Origin=FRIEND)
    cors = cors_of(answer)
    assert cors.pop("access-control-allow-origin") == FRIEND
    exposed = {name.strip().lower() for name in cors.pop("access-control-expose-headers").split(",")}
    assert {"x-total-count", "link"} <= set(answer.headers) & exposed
    assert {"x-job-id", "location", "retry-after", "x-request-id", "content-range"} <= exposed
    assert cors == {}
    assert "Origin" in answer.headers["vary"]
    refused = opened.get("/jobs", "nobody", Origin=FRIEND)
    assert (refused.status, refused.headers["access-control-allow-origin"]) == (401, FRIEND)


def test_every_header_that_an_answer_has_of_ours_is_exposed(opened: Service, client: Payer) -> None:
    for path in ("/echo", "/echo?dry_run=true"):
        answer = opened.post(path, {"text": "hi"}, client.api_key, Origin=FRIEND, Prefer="respond-async")
        assert "x-ratelimit-remaining" in answer.headers
        exposed = {name.strip().lower() for name in answer.headers["access-control-expose-headers"].split(",")}
        assert {name for name in answer.headers if name.startswith("x-")} - {"x-content-type-options"} <= exposed


def test_a_page_of_another_site_may_upload(opened: Service) -> None:
    for path, method in (("/uploads", "POST"), ("/uploads/00000000-0000-0000-0000-000000000000", "PATCH")):
        answer = preflight(opened, path, method)
        assert method in answer.headers["access-control-allow-methods"].split(", ")
        assert answer.headers["access-control-allow-origin"] == FRIEND


def test_a_preflight_names_the_methods_of_its_path_and_needs_no_key(opened: Service) -> None:
    answer = preflight(opened, "/jobs/00000000-0000-0000-0000-000000000000", "DELETE")
    assert answer.status == 200
    assert {"GET", "DELETE"} <= set(answer.headers["access-control-allow-methods"].split(", "))
    assert answer.headers["access-control-allow-headers"] == "x-api-key,idempotency-key"
    assert answer.headers["access-control-allow-origin"] == FRIEND


def test_a_stranger_learns_nothing_and_a_cookie_is_of_no_use(opened: Service, client: Payer) -> None:
    for origin in (STRANGER, FRIEND + ".stranger.example", "null", "http://friend.example"):
        answer = opened.get("/jobs", client.api_key, Origin=origin)
        assert cors_of(answer) == {}
        assert "Origin" in answer.headers["vary"]
        assert cors_of(preflight(opened, "/jobs", "GET", origin)) == {}
    assert "access-control-allow-credentials" not in preflight(opened, "/jobs", "GET").headers
    assert "access-control-allow-methods" not in preflight(opened, "/dashboard", "POST").headers


@pytest.mark.parametrize("origins", ["", "*", "https://a.example", "https://a.example:8443 , http://localhost:3000"])
def test_origins_are_a_scheme_a_host_and_a_port(origins: str) -> None:
    assert ApiSettings(cors_origins=origins).cors_origins == origins


@pytest.mark.parametrize(
    "origins", ["a.example", "https://a.example/", "https://a.example/x", "null", "https://*.a.example", ","]
)
def test_what_is_no_origin_is_refused(origins: str) -> None:
    with pytest.raises(ValidationError):
        ApiSettings(cors_origins=origins)
