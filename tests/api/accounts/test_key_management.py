"""Keys made, listed, changed and deleted over HTTP."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from http_service import Answer, Service, Start, form
from manual_worker import ManualWorker
from payers import Payer, open_account

from pipeline.accounts.keys import is_well_formed
from pipeline.database import Database

LIMITS = {"requests_per_minute": 30, "credits_per_month": 9, "routes": ["/echo", "/many"]}


def change(service: Service, key: str, key_id: str, document: Any) -> Answer:
    headers = {"X-API-Key": key, "Content-Type": "application/json"}
    return service.request("PATCH", f"/keys/{key_id}", json.dumps(document).encode(), headers)


def delete(service: Service, key: str, key_id: str) -> Answer:
    return service.request("DELETE", f"/keys/{key_id}", headers={"X-API-Key": key})


def make(service: Service, payer: Payer, **fields: Any) -> dict[str, Any]:
    answer = service.post("/keys", {"name": "new", **fields}, payer.api_key)
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.json
    return made


def ask(service: Service, key: str, path: str = "/echo") -> Answer:
    return service.post(path, {"text": "hi", "items": 2}, key, Prefer="respond-async")


def test_a_key_is_made_and_its_secret_shown_once(service: Service, client: Payer) -> None:
    answer = service.post("/keys", {"name": "Newsletter", **LIMITS}, client.api_key)
    made = answer.json

    assert (answer.status, answer.headers["location"]) == (201, f"/keys/{made['id']}")
    assert answer.headers["cache-control"] == "no-store"
    secret = made.pop("api_key")
    assert is_well_formed(secret)
    assert made | {"id": "", "created_at": ""} == {
        "id": "", "name": "Newsletter", "hint": secret[-4:], **LIMITS, "priority": "normal",
        "credits_used_this_month": 0, "credits_held": 0, "created_at": "", "last_used_at": None, "made_by": None,
        "ends_with_person": False,
    }  # fmt: skip
    assert service.get(f"/keys/{made['id']}", client.api_key).json == made
    assert [key["name"] for key in service.get("/keys", client.api_key).json] == ["test", "Newsletter"]
    assert ask(service, secret).status == 202
    assert ask(service, secret, "/echo/again").status == 403


def test_a_key_has_a_priority_which_a_request_may_exceed(service: Service, client: Payer) -> None:
    made = make(service, client, priority="low")
    files = (("audio", b"a", "a.wav"), ("music", b"m", "m.wav"))
    body, content_type = form(("text", b"hi", None), ("priority", b"high", None), *files)

    def priority(fields: dict[str, str], **headers: str) -> str:
        job_id = service.submit({"text": "hi", **fields}, made["api_key"], **headers)
        return str(service.get(f"/jobs/{job_id}", client.api_key).json["priority"])

    assert priority({}) == "low"
    assert priority({"priority": "normal"}) == "normal"
    assert priority({}, X_Priority="high") == "high"
    form_headers = {"Content-Type": content_type, "Prefer": "respond-async"}
    assert service.post_bytes("/files-in", body, client.api_key, **form_headers).json["priority"] == "high"
    refused = service.post("/echo", {"text": "hi", "priority": "urgent"}, client.api_key)
    assert (refused.status, refused.json["details"][0]["field"]) == (400, "priority")
    change(service, client.api_key, made["id"], {"priority": "high"})
    assert service.get(f"/keys/{made['id']}", client.api_key).json["priority"] == "high"


def test_the_list_says_what_each_key_has_used(service: Service, client: Payer, manual_worker: ManualWorker) -> None:
    made = make(service, client, credits_per_month=9)
    ask(service, made["api_key"])
    manual_worker.work()
    ask(service, made["api_key"])

    listed = service.get("/keys", client.api_key).json[1]
    assert (listed["credits_used_this_month"], listed["credits_held"]) == (3, 3)
    assert ask(service, made["api_key"]).status == 202
    assert ask(service, made["api_key"]).code == "key_credit_limit"


def test_a_deleted_key_is_refused_and_listed_no_more(service: Service, client: Payer) -> None:
    made = make(service, client)
    job_id = service.submit({"text": "hi"}, made["api_key"])
    assert service.get("/jobs", made["api_key"]).status == 200

    assert delete(service, client.api_key, made["id"]).status == 204
    assert [service.get("/jobs", made["api_key"]).status, ask(service, made["api_key"]).status] == [401, 401]
    assert len(service.get("/keys", client.api_key).json) == 1
    assert delete(service, client.api_key, made["id"]).code == "key_not_found"
    assert service.get(f"/jobs/{job_id}", client.api_key).json["state"] == "queued"


def test_a_deleted_key_is_refused_by_other_processes_within_seconds(
    service: Service, start: Start, client: Payer
) -> None:
    made = make(service, client)
    with start(API__KEY_MAX_AGE_SECONDS="0.2") as other:
        assert other.get("/jobs", made["api_key"]).status == 200
        delete(service, client.api_key, made["id"])
        assert ask(other, made["api_key"]).status == 401  # new work at once
        for _ in range(1_000):
            if other.get("/jobs", made["api_key"]).status == 401:
                break
            threading.Event().wait(0.02)
        assert other.get("/jobs", made["api_key"]).status == 401


def test_limits_can_be_changed_and_taken_off(service: Service, client: Payer) -> None:
    made = make(service, client, **LIMITS)
    secret = made["api_key"]
    assert ask(service, secret, "/echo/again").status == 403

    changed = change(service, client.api_key, made["id"], {"routes": None, "credits_per_month": 3, "name": "renamed"})
    assert (changed.status, changed.json["name"], changed.json["routes"]) == (200, "renamed", None)
    assert (changed.json["requests_per_minute"], changed.json["credits_per_month"]) == (30, 3)
    assert ask(service, secret, "/echo/again").status == 202
    assert ask(service, secret).code == "key_credit_limit"
    change(service, client.api_key, made["id"], {"credits_per_month": None})
    assert ask(service, secret).status == 202
    assert change(service, client.api_key, made["id"], {}).json["name"] == "renamed"
    assert change(service, client.api_key, made["id"], {"name": None}).json["name"] == "renamed"


@pytest.mark.parametrize("limit", LIMITS)
def test_a_key_with_limits_can_not_take_them_off(service: Service, client: Payer, limit: str) -> None:
    made = make(service, client, **{limit: LIMITS[limit]})
    limited = made["api_key"]
    answers = [
        service.post("/keys", {"name": "free"}, limited),
        service.post("/keys", {"name": "free", "api_key": limited}),
        change(service, limited, made["id"], {limit: None}),
        delete(service, limited, made["id"]),
        service.get("/keys", limited),
        service.get(f"/keys/{made['id']}", limited),
    ]

    assert {answer.status for answer in answers} == {403}
    assert {answer.code for answer in answers} <= {"key_is_limited", "route_not_allowed"}
    assert len(service.get("/keys", client.api_key).json) == 2


def test_keys_are_an_accounts_own(service: Service, client: Payer, api_database: Database) -> None:
    made = make(service, client)
    other = open_account(api_database).api_key

    answers = [
        service.get(f"/keys/{made['id']}", other),
        change(service, other, made["id"], {"name": "mine"}),
        delete(service, other, made["id"]),
        service.get(f"/keys/{uuid4()}", other),
        service.get("/keys/nonsense", other),
    ]
    assert {(answer.status, answer.code) for answer in answers} == {(404, "key_not_found")}
    assert service.get("/keys").status == 401
    assert service.get(f"/keys/{made['id']}", client.api_key).json["name"] == "new"


def test_a_whole_number_may_be_written_with_a_zero_behind_its_point(service: Service, client: Payer) -> None:
    made = service.post("/keys", {"name": "x", "requests_per_minute": 60.0, "credits_per_month": 1e3}, client.api_key)

    assert (made.status, made.json["requests_per_minute"], made.json["credits_per_month"]) == (201, 60, 1_000)


FAULTY: list[tuple[dict[str, Any], str]] = [
    ({}, "name"),
    ({"name": ""}, "name"),
    ({"name": " "}, "name"),
    ({"name": "a\nb"}, "name"),
    ({"name": "x" * 101}, "name"),
    ({"name": "x", "requests_per_minute": 0}, "requests_per_minute"),
    ({"name": "x", "requests_per_minute": 1.5}, "requests_per_minute"),
    ({"name": "x", "requests_per_minute": 10**12}, "requests_per_minute"),
    ({"name": "x", "credits_per_month": -1}, "credits_per_month"),
    ({"name": "x", "credits_per_month": 10**30}, "credits_per_month"),
    ({"name": "x", "credits_per_month": "9"}, "credits_per_month"),
    ({"name": "x", "routes": []}, "routes"),
    ({"name": "x", "routes": "/tts"}, "routes"),
    ({"name": "x", "routes": [7]}, "routes.0"),
]


@pytest.mark.parametrize(("document", "field"), FAULTY, ids=str)
def test_a_faulty_key_is_refused_by_its_field(
    service: Service, client: Payer, document: dict[str, Any], field: str
) -> None:
    answer = service.post("/keys", document, client.api_key)

    assert (answer.status, answer.json["details"][0]["field"]) == (400, field)
    assert len(service.get("/keys", client.api_key).json) == 1


@pytest.mark.parametrize("route", ["/tss", "/keys", "/jobs", "/metrics", "/tts/", "tts", "", "/indexing/jobs/{job_id}"])
def test_a_key_is_limited_to_routes_that_there_are(service: Service, client: Payer, route: str) -> None:
    answer = service.post("/keys", {"name": "x", "routes": ["/tts", route]}, client.api_key)

    assert (answer.status, answer.code, answer.json["details"][0]["field"]) == (400, "route_unknown", "routes")
    assert "/tts" in answer.json["message"]


def test_an_account_has_no_more_keys_than_it_may_however_many_are_made_at_once(start: Start, client: Payer) -> None:
    with start(LIMITS__API_KEYS="4") as service, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: service.post("/keys", {"name": "x"}, client.api_key), range(8)))
        keys = service.get("/keys", client.api_key).json

    assert sorted(answer.status for answer in answers) == [201] * 3 + [409] * 5
    assert {answer.code for answer in answers if answer.status == 409} == {"too_many_keys"}
    assert len(keys) == 4
