"""IndexNow, spoken over loopback in the form of its documents."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from told_engines import KEY, ToldEngines

from capabilities.index_check.engines.submission import SubmissionVerdict, SubmittedSite
from capabilities.index_check.engines.submission.indexnow import IndexNow
from pipeline.settings import Settings


@pytest.fixture
def indexnow(engines: ToldEngines) -> Iterator[IndexNow]:
    with_key = make(engines)
    yield with_key
    with_key.close()


def make(engines: ToldEngines, **own: Any) -> IndexNow:
    """Return the engine, set up with settings of its own."""
    settings = engines.settings()
    settings["submission"]["indexnow"] |= own
    engine = IndexNow.from_settings(Settings(**settings))
    engine.setup()
    return engine


@pytest.mark.parametrize(
    ("status", "code", "is_taken"),
    [(200, "accepted", True), (202, "received", True), (400, "request_refused", False), (403, "key_invalid", False),
     (422, "urls_refused", False), (301, "http_301", False), (404, "http_404", False)],
)  # fmt: skip
def test_each_answer_means_what_the_documents_say(
    engines: ToldEngines, site: SubmittedSite, indexnow: IndexNow, status: int, code: str, is_taken: bool
) -> None:
    engines.faults.append((status, ""))

    (verdict,) = indexnow.submit(site, engines.urls(1))

    assert (verdict.code, verdict.is_taken, verdict.wait) == (code, is_taken, None)
    assert bool(verdict.cause) is not is_taken


@pytest.mark.parametrize(
    ("status", "asked", "code", "wait"),
    [(429, "90", "throttled", 90), (429, "", "throttled", 0), (503, "7", "unavailable", 7),
     (500, "", "unavailable", 0)],
)  # fmt: skip
def test_what_passes_may_be_tried_again_after_as_long_as_it_asks_for(
    engines: ToldEngines, site: SubmittedSite, indexnow: IndexNow, status: int, asked: str, code: str, wait: int
) -> None:
    engines.faults.append((status, asked))

    (verdict,) = indexnow.submit(site, engines.urls(1))

    assert (verdict.code, verdict.wait) == (code, timedelta(seconds=wait))


def test_an_endpoint_that_can_not_be_reached_may_be_tried_again(engines: ToldEngines, site: SubmittedSite) -> None:
    nowhere = make(engines, url="http://127.0.0.1:1/indexnow")

    (verdict,) = nowhere.submit(site, engines.urls(1))

    assert (verdict.code, verdict.wait) == ("transport", timedelta())
    nowhere.close()


@pytest.mark.parametrize("text", [None, "another-key", f"<p>{KEY}x</p>"])
def test_nothing_is_sent_for_a_site_that_does_not_serve_its_key(
    engines: ToldEngines, site: SubmittedSite, indexnow: IndexNow, text: str | None
) -> None:
    engines.files.clear()
    if text is not None:
        engines.files[engines.here, f"/{KEY}.txt"] = text

    (verdict,) = indexnow.submit(site, engines.urls(1))

    assert verdict.code == "key_invalid"
    assert f"http://{engines.here}/KEY.txt" in verdict.cause
    assert f"pressroom indexnow check http://{engines.here}" in verdict.cause
    assert KEY not in verdict.cause
    assert ("HTTP 404" in verdict.cause) is (text is None)
    assert engines.calls == 0


@pytest.mark.parametrize("text", [KEY, f"\ufeff{KEY}\r\n", f"# the key\n{KEY}\n"])
def test_a_key_file_may_have_line_ends(
    engines: ToldEngines, site: SubmittedSite, indexnow: IndexNow, text: str
) -> None:
    engines.files[engines.here, f"/{KEY}.txt"] = text

    assert indexnow.submit(site, engines.urls(1)) == [SubmissionVerdict("accepted")]


def test_a_site_on_a_private_network_is_not_looked_at(engines: ToldEngines, site: SubmittedSite) -> None:
    settings = engines.settings()
    settings["fetch"] = {"limit_seconds": 5}
    strict = IndexNow.from_settings(Settings(**settings))
    strict.setup()

    (verdict,) = strict.submit(site, engines.urls(1))

    assert (verdict.code, engines.calls) == ("key_invalid", 0)
    assert "not a public one" in verdict.cause
    strict.close()


@pytest.mark.parametrize(
    ("own", "says"),
    [
        ({"key": None}, "set PRESSROOM_SUBMISSION__INDEXNOW__KEY or"),
        ({"key": "short"}, "8 to 128"),
        ({"key": "with space"}, "8 to 128"),
        ({"keys": "example.com"}, "8 to 128"),
        ({"keys": "https://example.com=0123abcd"}, "not a host"),
    ],
)
def test_keys_that_can_not_be_used_are_told_without_them(engines: ToldEngines, own: dict[str, Any], says: str) -> None:
    settings = engines.settings()
    settings["submission"]["indexnow"] |= own

    needs = IndexNow.from_settings(Settings(**settings)).readiness()

    assert needs is not None
    assert says in needs
    assert "0123abcd" not in needs.replace("www.example.com=0123abcd", "")
