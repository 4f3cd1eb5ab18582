"""Usage by day, route and key, and the ledger's lines, as JSON and CSV."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from http_service import Answer, Service
from manual_worker import ManualWorker, refuse
from payers import Payer, open_account

from pipeline.accounts.keys import add_key, make_key
from pipeline.database import Database, Statement
from pipeline.lifecycle import grant_credits


@pytest.fixture
def used(service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database) -> tuple[Payer, str]:
    """An account that has used 3 credits by one key, nothing by another, and holds 2; and that key's id."""
    second = make_key()
    api_database.run(add_key(client.account_id, second, "=second"))
    service.submit({"text": "hi"}, client.api_key)
    manual_worker.work()
    service.submit({"text": "fails"}, second.secret, "/echo/again")
    manual_worker.work(refuse)
    service.submit({"items": 2}, second.secret, "/many")
    return client, str(second.id)


def rows_of(answer: Answer) -> list[dict[str, str]]:
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.body.decode())))


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def test_usage_by_day_has_every_day(service: Service, used: tuple[Payer, str]) -> None:
    report = service.get(f"/usage?to={today()}", used[0].api_key).json

    assert list(report) == ["from", "to", "by", "requests", "credits", "rows"]
    assert (report["by"], report["requests"], report["credits"], len(report["rows"])) == ("day", 3, 3, 30)
    assert report["rows"][-1] == {"date": today(), "requests": 3, "credits": 3}
    assert report["rows"][0] == {"date": report["from"], "requests": 0, "credits": 0}


def test_usage_by_route_and_by_key(service: Service, used: tuple[Payer, str]) -> None:
    payer, second = used
    by_route = service.get("/usage?by=route", payer.api_key).json["rows"]
    by_key = service.get("/usage?by=key", payer.api_key).json["rows"]

    assert by_route[0] == {"route": "/echo", "requests": 1, "credits": 3}
    assert {row["route"]: row["requests"] for row in by_route} == {"/echo": 1, "/echo/again": 1, "/many": 1}
    assert by_key == [
        {"key_id": str(payer.api_key_id), "name": "test", "requests": 1, "credits": 3},
        {"key_id": second, "name": "=second", "requests": 2, "credits": 0},
    ]


def test_only_the_days_that_are_asked_for_count(
    service: Service, used: tuple[Payer, str], api_database: Database
) -> None:
    day = (datetime.now(UTC) - timedelta(days=40)).date().isoformat()
    api_database.run(
        Statement(
            "UPDATE credit_entry SET created_at = created_at - interval '40 days'"
            " WHERE account_id = %(account)s AND route = '/echo' RETURNING 1",
            {"account": used[0].account_id},
        )
    )

    assert service.get(f"/usage?to={today()}&by=route", used[0].api_key).json["credits"] == 0
    old = service.get(f"/usage?from={day}&to={day}&by=route", used[0].api_key).json
    assert (old["rows"], old["from"], old["to"]) == ([{"route": "/echo", "requests": 1, "credits": 3}], day, day)
    assert service.get(f"/usage?from={day}", used[0].api_key).json["credits"] == 3


def test_reports_are_files_for_spreadsheets_too(service: Service, used: tuple[Payer, str]) -> None:
    answer = service.get("/usage?by=key&format=csv", used[0].api_key)

    assert rows_of(answer) == [
        {"key_id": str(used[0].api_key_id), "name": "test", "requests": "1", "credits": "3"},
        {"key_id": used[1], "name": "'=second", "requests": "2", "credits": "0"},  # no formula
    ]
    assert answer.headers["content-disposition"].startswith("attachment; filename=usage-by-key-")


@pytest.mark.parametrize(
    "query",
    [
        "from=yesterday", "from=2026-13-01", "to=2026-02-30", "from=2026-02-02&to=2026-02-01", "from=2020-01-01",
        "by=month", "format=xlsx", "to=0001-01-01&from=9999-12-31", "from=20260101",
    ],
)  # fmt: skip
def test_a_faulty_question_is_refused(service: Service, client: Payer, query: str) -> None:
    assert (service.get(f"/usage?{query}", client.api_key)).code == "parameter_invalid"


@pytest.mark.parametrize("query", ["to=9999-12-31", "to=0001-01-01", "from=9999-12-31&to=9999-12-31"])
def test_the_ends_of_the_calendar_are_days_too(service: Service, client: Payer, query: str) -> None:
    assert service.get(f"/usage?{query}", client.api_key).status == 200
    assert service.get(f"/usage/ledger?{query}", client.api_key).status == 200


def test_the_ledger_says_what_became_of_each_credit(
    service: Service, used: tuple[Payer, str], api_database: Database
) -> None:
    payer, _ = used
    api_database.run(grant_credits(payer.account_id, 5, "a present"))
    lines: list[dict[str, Any]] = service.get("/usage/ledger", payer.api_key).json

    assert [(line["entry"], line["credits"], line["held"]) for line in lines] == [
        ("grant", 5, 0), ("hold", -2, 2), ("release", 3, -3), ("hold", -3, 3), ("capture", 0, -3), ("hold", -3, 3),
        ("grant", 1_000, 0),
    ]  # fmt: skip
    assert (lines[0]["note"], lines[1]["key_name"], lines[1]["route"]) == ("a present", "=second", "/many")
    usage = service.get("/usage", payer.api_key).json
    assert sum(line["credits"] for line in lines) == usage["credits_remaining"]
    assert sum(line["held"] for line in lines) == usage["credits_held"]


def test_the_ledger_comes_in_pages(service: Service, used: tuple[Payer, str]) -> None:
    key = used[0].api_key
    everything = service.get("/usage/ledger", key)
    first = service.get("/usage/ledger?limit=4", key)
    following = first.headers["link"].partition(">")[0].removeprefix("<")
    second = service.get(following, key)

    assert first.json + second.json == everything.json
    assert "link" not in second.headers
    assert "link" not in everything.headers


def test_the_ledger_is_a_file_too(service: Service, used: tuple[Payer, str]) -> None:
    key = used[0].api_key
    rows = rows_of(service.get("/usage/ledger?format=csv", key))

    assert [row["id"] for row in rows] == [str(line["id"]) for line in service.get("/usage/ledger", key).json]
    assert rows[0]["key_name"] == "'=second"
    assert rows_of(service.get(f"/usage/ledger?format=csv&to={today()}", key)) == rows
    assert rows_of(service.get("/usage/ledger?format=csv&to=2020-01-01", key)) == []


def test_ledgers_are_an_accounts_own(service: Service, used: tuple[Payer, str], api_database: Database) -> None:
    other = open_account(api_database)
    theirs = service.get("/usage/ledger", used[0].api_key).json[0]["id"]

    assert [line["entry"] for line in service.get("/usage/ledger", other.api_key).json] == ["grant"]
    assert service.get(f"/usage/ledger?before={theirs}", other.api_key).json == []
    assert service.get("/usage?by=key", other.api_key).json["rows"] == []
    assert service.get("/usage/ledger").status == 401
