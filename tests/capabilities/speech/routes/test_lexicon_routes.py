"""GET and PUT /tts/lexicon, and what the routes that speak make of it."""

import json
from typing import Any

import pytest
from http_service import Answer, Service, Start
from manual_worker import ManualWorker
from payers import Payer, open_account

from pipeline.database import Database, Statement

ENTRIES = [
    {"word": "Siobhan", "replacement": "Shivawn"},
    {"word": "SQL", "replacement": "sequel", "case_sensitive": True},
    {"word": "gift", "replacement": "Gieft", "language": "de"},
    {"word": "lift", "replacement": "elevator", "language": "en"},
]


def put(service: Service, entries: Any, key: str | None, **more: Any) -> Answer:
    body = json.dumps({"entries": entries, **more}).encode()
    headers = {"Content-Type": "application/json"} | ({"X-API-Key": key} if key else {})
    return service.request("PUT", "/tts/lexicon", body, headers)


def stored_input(database: Database, job_id: str) -> dict[str, Any]:
    """Return what a job's item keeps for its worker."""
    (row,) = database.run(Statement("SELECT input FROM item WHERE job_id = %(id)s", {"id": job_id}))
    found: dict[str, Any] = row["input"]
    return found


def test_a_lexicon_is_empty_until_it_is_written_and_then_replaced_as_a_whole(service: Service, client: Payer) -> None:
    assert service.get("/tts/lexicon", client.api_key).json == {"entries": [], "total": 0, "updated_at": None}

    written = put(service, ENTRIES, client.api_key)
    found = service.get("/tts/lexicon", client.api_key)
    replaced = put(service, ENTRIES[:1], None, api_key=client.api_key)

    assert (written.status, written.json["total"]) == (200, 4)
    assert found.json == written.json
    assert found.json["entries"][0] == {
        "word": "Siobhan", "replacement": "Shivawn", "language": None, "case_sensitive": False
    }  # fmt: skip
    assert found.json["updated_at"].endswith("Z")
    assert service.get("/tts/lexicon", client.api_key).json["entries"] == replaced.json["entries"]
    assert replaced.json["total"] == 1
    assert put(service, [], client.api_key).json["total"] == 0


def test_a_lexicon_is_its_accounts_alone(service: Service, client: Payer, api_database: Database) -> None:
    put(service, ENTRIES, client.api_key)
    other = open_account(api_database)

    assert service.get("/tts/lexicon", other.api_key).json["total"] == 0
    assert service.get("/tts/lexicon").status == 401
    assert put(service, [], None).status == 401
    assert put(service, [], "pr_live_wrong").status == 401
    assert service.get("/tts/lexicon", client.api_key).json["total"] == 4


def test_a_thousand_of_the_longest_entries_are_taken_and_one_more_is_refused(service: Service, client: Payer) -> None:
    entries = [{"word": f"{number:04}" + "漢" * 96, "replacement": "字" * 200} for number in range(1_001)]

    assert put(service, entries[:1_000], client.api_key).json["total"] == 1_000
    refused = put(service, entries, client.api_key)

    assert refused.status == 400
    assert "at most 1,000 entries, but has 1,001" in refused.json["message"]
    assert service.get("/tts/lexicon", client.api_key).json["total"] == 1_000


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([{"word": "", "replacement": "x"}], "entries.0.word: This must not be empty."),
        ([{"word": " \n", "replacement": "x"}], "entries.0.word: This must not be empty."),
        ([{"word": "x" * 101, "replacement": "x"}], "at most 100 characters, but has 101"),
        ([{"word": "x", "replacement": "x" * 201}], "at most 200 characters, but has 201"),
        ([{"word": "x"}], "entries.0.replacement: This field is required."),
        ([{"word": "x", "replacement": "y", "language": "?"}], "entries.0.language"),
        ([{"word": "x", "replacement": "y", "case_sensitive": 1}], "entries.0.case_sensitive"),
        ([{"word": "x", "replacement": "1"}, {"word": "X", "replacement": "2"}], "entries 0 and 1 are both for 'X'"),
        ({"x": "y"}, "entries"),
        (None, "entries"),
    ],
)
def test_what_is_no_lexicon_is_refused(service: Service, client: Payer, entries: Any, message: str) -> None:
    refused = put(service, entries, client.api_key)

    assert (refused.status, refused.json["error"]) == (400, "Invalid Request")
    assert message in refused.json["message"]
    assert service.get("/tts/lexicon", client.api_key).json["total"] == 0


def test_the_same_word_may_stand_there_with_and_without_its_capitals(service: Service, client: Payer) -> None:
    exact = {"word": "us", "replacement": "all of us", "case_sensitive": True}

    assert put(service, [exact, {"word": "US", "replacement": "America"}], client.api_key).json["total"] == 2
    assert put(service, [exact, exact], client.api_key).code == "lexicon_entry_twice"


@pytest.mark.parametrize("path", ["/tts", "/tts/batch", "/tts/stream"])
def test_an_item_keeps_the_entries_of_its_text_as_they_were(
    service: Service, client: Payer, api_database: Database, path: str
) -> None:
    text = "Siobhan took the lift. A gift!"
    before = service.submit({"text": text}, client.api_key, path)
    put(service, ENTRIES, client.api_key)
    english = service.submit({"text": text}, client.api_key, path)
    german = service.submit({"text": text, "language": "de"}, client.api_key, path)
    put(service, [{"word": "Siobhan", "replacement": "Jovan"}], client.api_key)
    after = service.submit({"text": text}, client.api_key, path)

    assert stored_input(api_database, before) == {"text": text}
    assert stored_input(api_database, english)["lexicon"] == [ENTRIES[0], ENTRIES[3]]
    assert stored_input(api_database, german)["lexicon"] == [ENTRIES[0], ENTRIES[2]]
    assert stored_input(api_database, after)["lexicon"] == [{"word": "Siobhan", "replacement": "Jovan"}]


def test_a_request_that_was_carried_out_is_answered_whatever_the_lexicon_is_now(
    service: Service, client: Payer, manual_worker: ManualWorker
) -> None:
    text = {"text": "a b " * 1_000}
    first = service.submit(text, client.api_key, "/tts", Idempotency_Key="same")
    put(service, [{"word": "a", "replacement": "x" * 200}], client.api_key)

    again = service.post("/tts", text, client.api_key, Idempotency_Key="same", Prefer="respond-async")
    other = service.post("/tts", text, client.api_key, Idempotency_Key="other")

    assert (again.status, again.json["id"]) == (202, first)
    assert other.code == "lexicon_too_long"


def test_every_process_knows_a_new_lexicon_at_once(start: Start, client: Payer, api_database: Database) -> None:
    with start(processes=2) as service:
        for number in range(8):
            put(service, [{"word": "Siobhan", "replacement": f"said {number}"}], client.api_key)
            job = service.submit({"text": "Siobhan"}, client.api_key, "/tts")
            assert stored_input(api_database, job)["lexicon"][0]["replacement"] == f"said {number}"


def test_a_lexicon_in_a_request_is_no_lexicon(service: Service, client: Payer, api_database: Database) -> None:
    sent = {"text": "Hello.", "lexicon": [{"word": "Hello", "replacement": "x" * 200}]}

    assert stored_input(api_database, service.submit(sent, client.api_key, "/tts")) == {"text": "Hello."}
