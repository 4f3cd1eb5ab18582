"""API keys: where they may be, which are refused, and that they show up nowhere."""

from typing import Any

import pytest
from http_service import Service, Start
from payers import Payer
from waiting import wait_for

from pipeline.accounts.keys import make_key
from pipeline.database import Database, Statement


def without_request_id(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "request_id"}


def test_a_key_may_be_in_the_body_the_query_or_a_header(service: Service, client: Payer) -> None:
    key, asked = client.api_key, {"Prefer": "respond-async"}
    assert service.post("/echo", {"text": "hi", "api_key": key}, **asked).status == 202
    assert service.post(f"/echo?api_key={key}", {"text": "hi"}, **asked).status == 202
    assert service.post("/echo", {"text": "hi"}, **asked, X_API_Key=key).status == 202
    assert service.post("/echo", {"text": "hi"}, **asked, Authorization=f"Bearer {key}").status == 202
    assert service.post("/echo", {"text": "hi"}, **asked, Authorization=f"bearer  {key}").status == 202


def test_a_header_wins_over_the_body(service: Service, client: Payer) -> None:
    body = {"text": "hi", "api_key": client.api_key}
    assert service.post("/echo", body, make_key().secret).status == 401
    body["api_key"] = "nobody"
    assert service.post("/echo", body, client.api_key, Prefer="respond-async").status == 202


WRONG_KEYS: dict[str, object] = {
    "missing": None,
    "empty": "",
    "a number": 7,
    "a list": ["pr_live_x"],
    "an object": {},
    "true": True,
    "words": "let me in",
    "not ASCII": "pr_live_é" + "0" * 37,
    "a wrong checksum": make_key().secret[:-1] + "!",
    "unknown": make_key().secret,
    "with a newline": make_key().secret + "\n",
    "long": "x" * 100_000,
}


@pytest.mark.parametrize("name", WRONG_KEYS)
def test_every_wrong_key_gets_the_same_answer(service: Service, name: str, redis_url: str) -> None:
    document = {"text": "hi"} if WRONG_KEYS[name] is None else {"text": "hi", "api_key": WRONG_KEYS[name]}
    answer = service.post("/echo", document)
    assert answer.status == 401
    assert without_request_id(answer.json) == {
        "error": "Unauthorized",
        "message": "A valid API key is needed: send it as api_key, as X-API-Key, or as Authorization: Bearer <key>.",
        "code": "unauthorized",
        "details": [],
    }


def test_wrong_keys_are_limited_by_address_and_never_refuse_a_right_one(
    service: Service, client: Payer, redis_url: str
) -> None:
    answers = [service.get("/jobs", make_key().secret) for _ in range(22)]
    assert [answer.status for answer in answers] == [401] * 20 + [429] * 2
    assert answers[-1].code == "too_many_invalid_keys"
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    assert service.get("/jobs", client.api_key).status == 200


def test_no_key_is_no_guess(service: Service, redis_url: str) -> None:
    assert {service.get("/jobs").status for _ in range(25)} == {401}


def test_x_forwarded_for_counts_only_from_a_trusted_proxy(service: Service, start: Start, redis_url: str) -> None:
    statuses = [service.get("/jobs", "nobody", X_Forwarded_For=f"192.0.2.{n}").status for n in range(21)]
    assert statuses[-1] == 429
    with start(API__TRUSTED_PROXIES="127.0.0.0/8, 10.0.0.0/8") as behind:
        for n in range(21):
            forwarded = f"198.51.100.7, 203.0.113.{n}, 10.1.1.1"
            assert behind.get("/jobs", "nobody", X_Forwarded_For=forwarded).status == 401


def test_the_use_of_a_key_is_noted_in_the_background(service: Service, api_database: Database, client: Payer) -> None:
    service.get("/jobs", client.api_key)
    read: Statement[object] = Statement(
        "SELECT last_used_at FROM api_key WHERE id = %(id)s",
        {"id": client.api_key_id},
        lambda rows: rows[0]["last_used_at"],
    )
    wait_for(lambda: api_database.run(read) is not None)
