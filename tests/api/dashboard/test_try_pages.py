"""The try pages: one a capability, made from what families and kinds declare."""

import json
import re
import time
from html import unescape
from pathlib import Path

import pytest
from browser import Browser, sign_in
from http_service import Service, start_service
from payers import Payer

from pipeline.database import Database
from pipeline.offers.offers import Offer, publish_offers
from pipeline.registry import load_kinds
from pipeline.settings import Settings

PAGES = ("speech", "alt-text", "blog", "transcript", "index-check")
ESCAPED = "&lt;img src=x onerror=alert(1)&gt;"
EVIL = "<img src=x onerror=alert(1)>\"'</script>"


@pytest.fixture
def browser(service: Service, api_database: Database, client: Payer) -> Browser:
    return sign_in(service, api_database, client)


def kinds_of(page: str) -> dict[str, dict[str, object]]:
    """Return what a page tells its script of its kinds."""
    found = re.search(r"data-kinds='([^']*)'", page)
    assert found
    told: dict[str, dict[str, object]] = json.loads(unescape(found[1]))
    return told


def test_each_capability_has_a_page_that_the_navigation_leads_to(browser: Browser) -> None:
    overview = browser.get("/dashboard/try").body.decode()

    for slug in PAGES:
        path = f"/dashboard/try/{slug}"
        page = browser.get(path)
        assert page.status == 200
        assert f'<a href="{path}" aria-current="page">' in page.body.decode()
        assert f'href="{path}"' in overview


def test_every_kind_can_be_tried(browser: Browser) -> None:
    """Those of which no family says how are tried on plain pages, as those of installed packages are."""
    overview = browser.get("/dashboard/try").body.decode()
    tried = {
        name
        for path in re.findall(r'class="card" href="([^"]+)"', overview)
        for name in kinds_of(browser.get(path).body.decode())
    }

    kinds = load_kinds(Settings())
    assert {"echo", "many", "files"} <= tried
    assert ">Transcription stream<p>" in overview  # a card has words for its name, not a route
    # The pages of alt text and audiobooks ask for these besides, and a long recording is uploaded first.
    others = {"alt_text_batch", "audiobook", "long_transcription"}
    assert tried >= {name for name, kind in kinds.items() if kind.routes} - others


def test_fields_have_the_limits_of_the_models_that_check_them(browser: Browser) -> None:
    page = browser.get("/dashboard/try/speech").body.decode()

    (pitch,) = re.findall(r'<input[^>]*name="pitch"[^>]*>', page)
    assert 'min="-20"' in pitch
    assert 'max="20"' in pitch
    assert 'data-default="0"' in pitch
    (text,) = re.findall(r'<textarea[^>]*name="text"[^>]*>', page)
    assert " required" in text
    for name in re.findall(r'<(?:input|select|textarea)[^>]*id="(try-[\w-]+)"', page):
        assert f'for="{name}"' in page or f'<label class="tick"><input type="checkbox" id="{name}"' in page


def test_a_page_and_all_that_it_loads_are_small(browser: Browser, service: Service) -> None:
    page = browser.get("/dashboard/try/speech").body
    found = list(dict.fromkeys(re.findall(r'(?:href|src)="(/dashboard/static/[^"#]+)', page.decode())))
    size = len(page)
    for path in found:  # which grows by what each module imports
        size += len(service.get(path, Accept_Encoding="gzip").body)
        folder = path.rpartition("/")[0]
        imported = re.findall(r'from "\./([\w.]+)"', service.get(path).body.decode(errors="replace"))
        found += [one for name in dict.fromkeys(imported) if (one := f"{folder}/{name}") not in found]
    assert len(found) > 10
    assert size < 160_000


def test_lines_name_the_host_that_was_asked(browser: Browser) -> None:
    asked = browser.get("/dashboard/try/speech", Host="press.example:8080").body.decode()
    hostile = browser.get("/dashboard/try/speech", Host='"><script>alert(1)</script>').body.decode()

    assert 'data-base="http://press.example:8080"' in asked
    assert "<script>alert" not in hostile


def test_what_engines_say_of_themselves_is_shown_as_text_and_their_needs_to_operators_alone(
    database: Database, database_url: str, redis_url: str, payer: Payer, tmp_path: Path
) -> None:
    offers = [Offer("captioning", "basic", ready=False, needs="it needs " + EVIL, content={"languages": [EVIL]})]
    # In a database of its own: the API that other tests share never hears of it.
    database.run(publish_offers(offers))
    with start_service(tmp_path / "service", database_url=database_url, redis_url=redis_url) as service:
        operator = sign_in(service, database, payer, operator=True)
        until = time.monotonic() + 60
        while ESCAPED not in (page := operator.get("/dashboard/try/alt-text").body.decode()):
            assert time.monotonic() < until, "it has not heard of the pools"
        assert "<img src=x" not in page
        assert "it needs" in page
        owner = sign_in(service, database, payer)
        assert "it needs" not in owner.get("/dashboard/try/alt-text").body.decode()
