"""Tables: rows of jobs, what readers make of them, lists that readers bring, jobs that are kept, and the search."""

import json
from datetime import timedelta

import pytest
from browser import Browser, sign_in
from http_service import Answer, Service
from manual_worker import ManualWorker, deliver
from payers import Payer, open_account

from pipeline import lifecycle
from pipeline.database import Database, Statement
from pipeline.lifecycle import Outcome
from pipeline.lifecycle.sweep import purge

CSRF = "X_CSRF_Token"


@pytest.fixture
def browser(service: Service, api_database: Database, client: Payer) -> Browser:
    return sign_in(service, api_database, client)


def send(browser: Browser, path: str, body: bytes, **headers: str) -> Answer:
    return browser.request("POST", path, body, **{CSRF: browser.csrf_token, "Accept": "application/json", **headers})


def act(browser: Browser, action: str, job_id: str) -> str:
    answer = browser.post("/dashboard/jobs", {"action": action, "ids": [job_id], "back": "/dashboard/jobs"})
    return browser.get(answer.headers["location"]).body.decode()


def done(service: Service, client: Payer, worker: ManualWorker) -> str:
    job_id = service.submit({"text": "Good morning!"}, client.api_key)
    worker.work(deliver)
    return job_id


def test_rows_have_results_and_what_their_reader_has_made_of_them(
    service: Service, client: Payer, browser: Browser, manual_worker: ManualWorker, api_database: Database
) -> None:
    job_id = service.submit({"items": 2}, client.api_key, "/many")
    assert browser.get(f"/dashboard/jobs/{job_id}/rows").json == []
    error = {"status": 400, "message": "It can't be done.", "code": "no", "error": "Invalid Request"}
    outcomes = iter(("done", "failed"))
    manual_worker.work(
        lambda item: (
            Outcome(item.item_id, "done", 1, {"said": "this"})
            if next(outcomes) == "done"
            else Outcome(item.item_id, "failed", 0, error=error)
        )
    )
    path = f"/dashboard/jobs/{job_id}/rows"
    version = {"texts": {"alt_text": "Mine"}, "accepted": True}

    assert browser.post(path, {"index": "0", "texts": json.dumps(version)}).status == 200
    assert browser.post(path, {"index": "1", "texts": "{}"}).status == 404  # it was not delivered
    assert browser.post(path, {"index": "0", "texts": "no JSON"}).status == 400
    assert browser.post(path, {"index": "0", "texts": "{}"}, token="another").status == 403
    first, second = browser.get(path).json
    assert (first["state"], first["edited"]) == ("done", version)
    assert (second["state"], second["error"]) == ("failed", "It can't be done.")
    stranger = sign_in(service, api_database, open_account(api_database))
    assert stranger.get(path).status == stranger.post(path, {"index": "0", "texts": "{}"}).status == 404


def test_a_kept_job_outlives_its_expiry_until_it_is_let_go(
    service: Service, client: Payer, browser: Browser, manual_worker: ManualWorker, api_database: Database
) -> None:
    running = service.submit({"text": "Good morning!"}, client.api_key)
    assert "It is still running" in act(browser, "keep", running)
    manual_worker.work(deliver)

    assert "1 job kept until you delete it." in act(browser, "keep", running)
    shown = service.get(f"/jobs/{running}", client.api_key).json
    assert shown["expires_at"] is None
    assert running in map(str, api_database.run(lifecycle.find_kept()))
    assert "1 job left to expire." in act(browser, "let go", running)
    expire: Statement[None] = Statement(
        "UPDATE job SET expires_at = now() - %(ago)s WHERE id = %(id)s RETURNING 1",
        {"ago": timedelta(days=1), "id": running},
        lambda rows: None,
    )
    api_database.run(expire)
    assert api_database.run(purge()) is not None
    assert "has been deleted already" in act(browser, "keep", running)


def test_an_account_keeps_so_many_jobs_as_its_tier_says(
    service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    first, second = (done(service, client, manual_worker) for _ in range(2))

    def keep(job_id: str, most: int) -> str | None:
        return api_database.run(lifecycle.keep(job_id, client.account_id, keeps=True, most=most))  # type: ignore[arg-type]

    assert keep(first, 1) is None
    assert keep(first, 1) is None  # it is kept already
    assert keep(second, 1) == "too_many"
    assert keep(second, 2) is None


LIST = "sku;photo;product\nA1;https://www.example.com/a.jpg;Oak chair\nA2;no address;Table\n"


def test_a_list_is_read_with_its_columns_told_by_their_names(browser: Browser) -> None:
    sheet = send(browser, "/dashboard/sheets/alt-text", LIST.encode("cp1252")).json

    assert sheet["columns"] == ["sku", "photo", "product"]
    assert {field["name"]: field["column"] for field in sheet["fields"]} == {
        "image_url": 1, "keywords": None, "page_title": 2, "context": None,
    }  # fmt: skip
    assert sheet["rows"][1] == {"line": 3, "cells": ["A2", "no address", "Table"]}
    assert sheet["left_out"] == 0
    broken = send(browser, "/dashboard/sheets/alt-text", b"PK\x03\x04 no workbook")
    assert (broken.status, "The list can't be read" in broken.json["message"]) == (400, True)
    assert "/tmp" not in broken.json["message"]
    assert send(browser, "/dashboard/sheets/alt-text", b"a", X_CSRF_Token="another").status == 403
    assert send(browser, "/dashboard/sheets/transcript", b"a").status == 404


def test_rows_of_a_list_are_checked_and_priced_and_nothing_is_sent(browser: Browser) -> None:
    asked = [{"title": "Bread", "content": "Flour."}, {"title": " "}, {"content": "No title."}, "no object"]
    body = json.dumps({"requests": asked}).encode()
    checked = send(browser, "/dashboard/sheets/blog/check", body, Content_Type="application/json").json

    assert [row["credits"] for row in checked] == [3, 0, 0, 0]
    assert checked[0]["fault"] is None
    assert checked[2]["fault"] == "Title: This field is required."
    assert service_jobs(browser) == 0
    body = json.dumps({"requests": [{"text": "hi", "voice_name": "surname text"}]}).encode()
    (spoken,) = send(browser, "/dashboard/sheets/speech/check", body, Content_Type="application/json").json
    assert "'surname text'" in spoken["fault"]


def service_jobs(browser: Browser) -> int:
    return len(browser.get("/dashboard/search").json)


def test_the_search_finds_jobs_by_their_words(
    service: Service, client: Payer, browser: Browser, manual_worker: ManualWorker
) -> None:
    job_id = done(service, client, manual_worker)

    (found,) = browser.get("/dashboard/search?q=morning").json
    assert (found["href"], found["title"]) == (f"/dashboard/jobs/{job_id}", "Good morning!")
    assert browser.get("/dashboard/search?q=evening").json == []
