"""The routes of alt text: what they take, refuse, count and show."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from http_service import Answer, Service, Start, start_service
from manual_worker import ManualWorker, cancel_open_jobs
from payers import Payer

from pipeline.database import Database
from pipeline.lifecycle import ClaimedItem, Outcome, claim, report
from pipeline.offers.offers import Offer, publish_offers
from pipeline.wakes import notices

URL = "https://shop.example/chair.jpg"
TEXT = {"short": "A chair.", "long": "A red chair by a window.", "seo": "Red chair by a window."}


@pytest.fixture
def alt(service: Service, client: Payer, api_database: Database, redis_server: str) -> Iterator["AltTexts"]:
    cancel_open_jobs(api_database)
    with redis.Redis.from_url(redis_server) as connection:
        yield AltTexts(service, client, ManualWorker(api_database, connection))


def describe(item: ClaimedItem) -> Outcome:
    """Describe a picture; there is nothing behind a URL with `missing` in it."""
    if "missing" in item.input["image_url"]:
        error = {"status": 400, "error": "Invalid Request", "message": "Nothing there.", "code": "image_unreachable"}
        return Outcome(item.item_id, "failed", 0, error=error)
    mode = item.input["mode"]
    modes = list(TEXT) if mode == "all" else [mode]
    texts = {one: {"text": TEXT[one], "confidence": 0.5 + len(one) / 100} for one in modes}
    output = {"texts": texts, "language": item.input["language"], "engine": "vlm"}
    return Outcome(item.item_id, "done", item.price, output, engine="vlm")


@dataclass
class AltTexts:
    """The alt texts of an account over HTTP, and a worker for them."""

    service: Service
    client: Payer
    worker: ManualWorker

    def work(self) -> list[ClaimedItem]:
        """Describe what there is, as one claim; returns its items."""
        items = self.worker.database.run(claim({"alt_text": 100}, lease_for=timedelta(seconds=30)))
        if items:
            taken = self.worker.database.run(report(items[0].lease_id, [describe(item) for item in items]))
            notices.add_notice(self.worker.client, {one.job_id for one in taken if one.job_state})
        return items

    def get(self, path: str) -> Answer:
        return self.service.get(path, self.client.api_key)

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.service.post(path, body, self.client.api_key, **headers)

    def submit(self, path: str, body: Any) -> str:
        return self.service.submit(body, self.client.api_key, path)

    def ask(self, path: str, body: Any) -> Answer:
        """Submit, have the work done, and return what the route answers."""
        job_id = self.submit(path, body)
        self.work()
        return self.get(f"/jobs/{job_id}/result")


@pytest.mark.parametrize("route", ["/generate", "/atg/generate"])
def test_a_picture_gets_a_text(alt: AltTexts, route: str) -> None:
    answer = alt.ask(route, {"image_url": URL, "language": "en-US"})

    assert answer.status == 200
    assert answer.json == {
        "alt_text": "A chair.",
        "confidence": 0.55,
        "credits_used": 1,
        "language": "en",
        "engine": "vlm",
        "origin": "synthetic",
    }
    assert (answer.headers["x-engine"], answer.headers["x-credits-used"]) == ("vlm", "1")
    usage = alt.get("/usage").json
    assert (usage["usage_by_endpoint"], usage["credits_by_endpoint"]) == ({route: 1}, {route: 1})


def test_a_picture_that_can_t_be_had_is_a_refusal_with_its_code_and_costs_nothing(alt: AltTexts) -> None:
    answer = alt.ask("/generate", {"image_url": "https://shop.example/missing.jpg"})

    assert (answer.status, answer.code) == (400, "image_unreachable")
    assert answer.headers["x-credits-used"] == "0"
    assert alt.get("/usage").json["credits_remaining"] == 1_000


def test_a_batch_answers_in_order_and_failures_stand_in_their_places(alt: AltTexts) -> None:
    images = [
        {"image_url": URL},
        {"image_url": "https://shop.example/missing.jpg", "mode": "long"},
        {"image_url": "no URL at all, missing", "source": "shopify"},
        {"image_url": URL, "mode": "all", "language": "pt-BR"},
        {"image_url": URL, "mode": "seo"},
    ]
    answer = alt.ask("/batch", {"images": images})

    assert answer.status == 200
    assert [answer.json[name] for name in ("total", "successful", "failed")] == [5, 3, 2]
    results = answer.json["results"]
    assert [result["image_url"] for result in results] == [image["image_url"] for image in images]
    moments = [result.pop("generated_at") for result in results]
    assert all(moment.endswith("Z") and "T" in moment for moment in moments)
    short, missing, _, everything, seo = results
    made = {"image_url": URL, "language": "en", "engine": "vlm", "origin": "synthetic", "credits_used": 1}
    assert short == {"alt_text": "A chair.", "short_alt_text": "A chair.", "confidence": 0.55, **made}
    assert missing == {
        "alt_text": None,
        "image_url": images[1]["image_url"],
        "credits_used": 0,
        "error": "Invalid Request",
        "message": "Nothing there.",
        "code": "image_unreachable",
    }
    assert everything == {
        "alt_text": TEXT["short"],
        "short_alt_text": TEXT["short"],
        "long_alt_text": TEXT["long"],
        "seo_alt_text": TEXT["seo"],
        "confidence": 0.55,
        **made,
        "language": "pt",
    }
    assert (seo["alt_text"], seo["seo_alt_text"], "short_alt_text" in seo) == (TEXT["seo"], TEXT["seo"], False)
    assert answer.headers["x-credits-used"] == "3"


def test_a_batch_of_failures_alone_is_answered_all_the_same(alt: AltTexts) -> None:
    missing = {"image_url": "https://shop.example/missing.jpg"}
    answer = alt.ask("/batch", {"images": [missing, missing]})

    assert answer.status == 200
    assert [answer.json[name] for name in ("total", "successful", "failed")] == [2, 0, 2]
    assert alt.get("/usage").json["credits_remaining"] == 1_000


def test_a_cancelled_batch_shows_what_was_done_and_what_was_not(alt: AltTexts) -> None:
    job_id = alt.submit("/batch", {"images": [{"image_url": URL}]})
    assert alt.post(f"/jobs/{job_id}/cancel", {}).status == 200

    (result,) = alt.get(f"/jobs/{job_id}/result").json["results"]

    assert (result["alt_text"], result["code"], result["credits_used"]) == (None, "job_cancelled", 0)


def test_pictures_of_batches_and_single_ones_are_claimed_together(alt: AltTexts) -> None:
    single = alt.submit("/generate", {"image_url": URL})
    images = [{"image_url": URL, "source": "wordpress"}] * 2
    batch = alt.submit("/batch", {"images": images})

    assert [str(item.job_id) for item in alt.work()] == [single, batch, batch]
    jobs = alt.get("/jobs?kind=alt_text_batch").json
    assert jobs[0]["source"] == "wordpress"
    assert [job["id"] for job in jobs] == [batch]
    assert jobs[0]["progress"] == {"done": 2, "total": 2, "failed": 0, "unit": "images"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "image_url"),
        ({"image_url": ""}, "image_url"),
        ({"image_url": 5}, "image_url"),
        ({"image_url": None}, "image_url"),
        ({"image_url": URL, "mode": "all"}, "mode"),
        ({"image_url": URL, "mode": "Short"}, "mode"),
        ({"image_url": URL, "language": ""}, "language"),
        ({"image_url": URL, "language": "english"}, "language"),
        ({"image_url": URL, "language": "e'; --"}, "language"),
    ],
)
def test_a_faulty_field_is_named(alt: AltTexts, body: Any, field: str) -> None:
    answer = alt.post("/generate", body)

    assert answer.status == 400
    assert [fault["field"] for fault in answer.json["details"]] == [field]


@pytest.mark.parametrize(
    "url",
    ["chair.jpg", "file:///etc/passwd", "https://", "https://user:secret@shop.example/", "data:image/png;base64,"],
)
def test_what_is_no_url_is_refused_without_a_job(alt: AltTexts, url: str) -> None:
    answer = alt.post("/generate", {"image_url": url})

    assert (answer.status, answer.code) == (400, "image_url_invalid")
    assert "secret" not in answer.body.decode()
    assert alt.get("/jobs").headers["x-total-count"] == "0"


@pytest.mark.parametrize(
    ("images", "field"),
    [
        (None, "images"),
        ([], "images"),
        ("https://shop.example/chair.jpg", "images"),
        ([{"image_url": URL}, {"mode": "long"}], "images.1.image_url"),
        ([{"image_url": URL}, URL], "images.1"),
        ([{"image_url": URL}] * 3 + [{"image_url": URL, "mode": 7}], "images.3.mode"),
        ([{"image_url": URL, "language": "???"}], "images.0.language"),
        ([{"image_url": URL, "source": "fax"}], "images.0.source"),
    ],
)
def test_a_faulty_field_of_a_picture_in_a_batch_is_named(alt: AltTexts, images: Any, field: str) -> None:
    answer = alt.post("/batch", {"images": images})

    assert answer.status == 400
    assert [fault["field"] for fault in answer.json["details"]] == [field]


def test_too_many_pictures_are_refused_with_the_operator_s_limit(alt: AltTexts, start: Start) -> None:
    answer = alt.post("/batch", {"images": [{"image_url": URL}] * 101})
    assert (answer.status, answer.code) == (400, "too_many_images")
    assert "at most 100" in answer.json["message"]
    with start(CAPTIONING__MAX_IMAGES="2") as strict:
        answer = strict.post("/batch", {"images": [{"image_url": URL}] * 3}, alt.client.api_key)
        assert (answer.status, answer.code) == (400, "too_many_images")


def test_a_language_that_no_engine_writes_is_refused_once_that_is_known(
    service: Service, client: Payer, database: Database, database_url: str, redis_url: str, payer: Payer, tmp_path: Path
) -> None:
    japanese, spanish = ({"image_url": URL, "language": language} for language in ("ja", "es-MX"))
    later = {"Prefer": "respond-async"}
    assert service.post("/generate", japanese, client.api_key, **later).status == 202  # no pool has spoken up yet
    able = Offer("captioning", "basic", ready=True, content={"languages": ["en", "es"]})
    unable = Offer("captioning", "vlm", ready=False, needs="a model", content={"languages": ["ja"]})
    # In a database of its own: the API that other tests share never hears of it.
    database.run(publish_offers([able, unable]))
    with start_service(tmp_path / "service", database_url=database_url, redis_url=redis_url) as told:
        until = time.monotonic() + 60
        while (answer := told.post("/generate", japanese, payer.api_key, **later)).status == 202:
            assert time.monotonic() < until, "it has not heard of the pools"
        assert (answer.status, answer.code) == (400, "language_not_supported")
        assert "en, es" in answer.json["message"]
        assert told.post("/generate", spanish, payer.api_key, **later).status == 202
        assert told.post("/batch", {"images": [japanese]}, payer.api_key, **later).status == 202
