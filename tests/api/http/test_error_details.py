"""The details of errors: what of a request is at fault, in one form for fields, headers and parameters."""

from collections.abc import Callable

import pytest
from http_service import Answer, Service
from payers import Payer, open_account

from pipeline.database import Database

Ask = Callable[[Service, str], Answer]
NAMED = {"Idempotency-Key": "details", "Prefer": "respond-async"}


def posted(document: object, path: str = "/echo", **headers: str) -> Ask:
    return lambda service, key: service.post(path, document, key, **headers)


def repeated(service: Service, key: str) -> Answer:
    service.post("/echo", {"text": "first"}, key, **NAMED)
    return service.post("/echo", {"text": "second"}, key, **NAMED)


#: What is at fault, and its code.
AT_FAULT: dict[str, tuple[Ask, int, str, str]] = {
    "a field": (posted({"text": 1}), 400, "text", "field_type"),
    "a field that the kind refuses": (posted({"text": " "}), 400, "text", "text_empty"),
    "an entry": (posted({"urls": ["no url"], "type": "check"}, "/indexing/jobs"), 400, "urls.0", "url_invalid"),
    "a long text": (posted({"text": "x" * 20_001}, "/tts/batch"), 400, "text", "text_too_long"),
    "a webhook": (posted({"text": "a", "webhook_url": "ftp://a.b"}), 400, "webhook_url", "webhook_url_invalid"),
    "a header": (posted({"text": "a"}, Prefer="wait=soon"), 400, "Prefer", "prefer_invalid"),
    "the key of a repeat": (repeated, 422, "Idempotency-Key", "idempotency_key_reused"),
    "a long key of a repeat": (
        posted({"text": "a"}, **{"Idempotency-Key": "x" * 256}), 400, "Idempotency-Key", "idempotency_key_invalid",
    ),
    "a content type": (
        lambda service, key: service.post_bytes("/echo", b"{}", key, Content_Type="text/plain"),
        415, "Content-Type", "unsupported_media_type",
    ),
    "an encoding": (
        lambda service, key: service.post_bytes("/echo", b"{}", key, Content_Encoding="br"),
        415, "Content-Encoding", "content_encoding_unknown",
    ),
    "a parameter": (lambda service, key: service.get("/jobs?limit=x", key), 400, "limit", "parameter_invalid"),
    "a signature": (
        lambda service, key: service.get("/files/a?expires=1&signature=a"), 403, "signature", "link_invalid",
    ),
}  # fmt: skip

#: Refusals for which nothing of the request is at fault that has a name.
NAMELESS: dict[str, tuple[Ask, int]] = {
    "no JSON": (lambda service, key: service.post_bytes("/echo", b"{", key), 400),
    "no key": (lambda service, key: service.post("/echo", {"text": "a"}), 401),
    "no route": (lambda service, key: service.get("/nothing", key), 404),
    "no job": (lambda service, key: service.get("/jobs/1", key), 404),
    "no method": (lambda service, key: service.get("/echo", key), 405),
    "a large body": (posted({"text": "x" * 2**21}), 413),
}


@pytest.mark.parametrize("name", AT_FAULT)
def test_what_is_at_fault_is_listed_with_its_code_and_message(service: Service, client: Payer, name: str) -> None:
    ask, status, field, code = AT_FAULT[name]
    answer = ask(service, client.api_key)

    assert answer.status == status
    [fault] = answer.json["details"]
    assert (fault["field"], fault["code"], fault.keys()) == (field, code, {"field", "code", "message"})
    assert fault["message"]
    assert "field" not in answer.json


@pytest.mark.parametrize("name", NAMELESS)
def test_where_nothing_that_has_a_name_is_at_fault_the_list_is_empty(
    service: Service, client: Payer, name: str
) -> None:
    ask, status = NAMELESS[name]
    answer = ask(service, client.api_key)
    assert (answer.status, answer.json["details"]) == (status, [])


def test_who_can_not_pay_or_asks_too_often_gets_an_empty_list(service: Service, api_database: Database) -> None:
    poor = open_account(api_database, tier="free", credits=0)
    answers = [service.post("/echo", {"text": "a"}, poor.api_key) for _ in range(11)]
    assert {(answer.status, str(answer.json["details"])) for answer in answers} == {(402, "[]"), (429, "[]")}
