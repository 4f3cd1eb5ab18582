"""The dashboard's pages for keys and usage: what they show, and what their forms do."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from browser import Browser, sign_in
from http_service import Answer, Service
from manual_worker import ManualWorker
from payers import Payer, open_account

from api.dashboard.pages.usage import make_plots
from pipeline.accounts.keys import ANY_KEY, is_well_formed
from pipeline.database import Database
from pipeline.lifecycle import grant_credits
from pipeline.usage.usage_report import DaySpan, Used

KEYS = "/dashboard/keys"


@pytest.fixture
def browser(service: Service, api_database: Database, client: Payer) -> Browser:
    """A browser in which the account `client` is signed in."""
    return sign_in(service, api_database, client)


def make(browser: Browser, **fields: Any) -> Answer:
    return browser.post(KEYS, {"name": "new", "requests_per_minute": "", "credits_per_month": "", **fields})


def secret_of(answer: Answer) -> str:
    found = ANY_KEY.search(answer.body.decode())
    assert found, answer.body
    assert is_well_formed(found[0])
    return found[0]


def words_of(answer: Answer) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.body.decode()).split())


def key_id_of(browser: Browser) -> str:
    """Return the id of the key that was made last."""
    return re.findall(rf'href="{KEYS}/([0-9a-f-]+)"', browser.get(KEYS).body.decode())[-1]


def test_a_new_key_is_shown_once_with_what_copies_it(service: Service, browser: Browser) -> None:
    answer = make(browser, name="Newsletter", requests_per_minute="1,000", credits_per_month="9", routes=["/echo"])
    secret = secret_of(answer)

    assert (answer.status, answer.headers["cache-control"]) == (200, "no-store")
    assert f'data-copy="{secret}"' in answer.body.decode()
    listed = browser.get(KEYS)
    assert secret not in listed.body.decode()
    assert secret[-4:] in words_of(listed)
    assert "Newsletter" in words_of(listed)
    assert "0 of 9" in words_of(listed)
    assert service.post("/echo", {"text": "hi"}, secret, Prefer="respond-async").status == 202
    assert service.post("/many", {"items": 1}, secret).code == "route_not_allowed"


def test_the_key_of_the_sessions_is_not_among_them(browser: Browser) -> None:
    assert f"{KEYS}/" in browser.get(KEYS).body.decode()
    assert browser.get(KEYS).body.decode().count("/delete") == 1


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"name": " "}, "name"),
        ({"requests_per_minute": "0"}, "requests_per_minute"),
        ({"requests_per_minute": "many"}, "requests_per_minute"),
        ({"credits_per_month": "-1"}, "credits_per_month"),
        ({"routes": ["/nothing"]}, "routes"),
    ],
)
def test_a_faulty_form_says_what_is_wrong_and_keeps_what_was_written(
    browser: Browser, fields: dict[str, Any], name: str
) -> None:
    answer = make(browser, **{"credits_per_month": "77", "name": "kept", "ends_with_person": "yes", **fields})
    page = answer.body.decode()

    assert answer.status == 400
    assert re.search(rf'id="about-{name}"><strong class="error">', page)
    assert 'value="77"' in page or name == "credits_per_month"
    assert 'value="yes" checked' in page
    assert not ANY_KEY.search(page)
    assert page.count("/delete") == 1


def test_a_form_of_another_site_makes_changes_and_deletes_nothing(browser: Browser) -> None:
    key_id = key_id_of(browser)
    for path in (KEYS, f"{KEYS}/{key_id}", f"{KEYS}/{key_id}/delete"):
        assert browser.post(path, {"name": "theirs"}, token="wrong").status == 403
    assert "theirs" not in words_of(browser.get(KEYS))
    assert key_id_of(browser) == key_id


def test_a_keys_limits_are_changed_by_its_own_page(service: Service, browser: Browser) -> None:
    secret = secret_of(make(browser, routes=["/echo"], credits_per_month="50"))
    path = f"{KEYS}/{key_id_of(browser)}"
    page = browser.get(path).body.decode()
    assert 'value="50"' in page
    assert re.search(r'value="/echo" checked', page)

    assert browser.post(path, {"name": "", "credits_per_month": "60"}).status == 400
    changed = browser.post(path, {"name": "all", "requests_per_minute": "", "credits_per_month": "60"})
    assert changed.status == 303
    shown = service.get(
        "/keys/" + path.rpartition("/")[2], None, Cookie=f"pressroom_session={browser.cookies['pressroom_session']}"
    )
    assert (shown.json["name"], shown.json["credits_per_month"], shown.json["routes"]) == ("all", 60, None)
    assert service.post("/many", {"items": 1}, secret, Prefer="respond-async").status == 202


def test_another_accounts_key_is_not_there(service: Service, browser: Browser, api_database: Database) -> None:
    other = open_account(api_database)
    path = f"{KEYS}/{other.api_key_id}"

    assert browser.get(path).status == 404
    assert browser.post(path, {"name": "mine"}).status == 404
    assert browser.post(f"{path}/delete", {}).status == 404
    assert service.get("/jobs", other.api_key).status == 200


def test_what_a_key_has_used_stands_apart_from_what_it_holds(service: Service, browser: Browser, client: Payer) -> None:
    service.submit({"items": 2}, client.api_key, "/many")

    assert re.search(r">2\s*<br><small>2 held</small>", browser.get(KEYS).body.decode())


def test_usage_shows_balance_holds_plots_and_ledger(
    service: Service, browser: Browser, client: Payer, manual_worker: ManualWorker
) -> None:
    service.submit({"text": "hi"}, client.api_key)
    manual_worker.work()
    job_id = service.submit({"items": 2}, client.api_key, "/many")
    page = browser.get("/dashboard/usage")
    words = words_of(page)

    assert "Balance 995 credits" in words
    assert "Held by open jobs 2 credits" in words
    assert "Used this month 3 credits" in words
    assert "/echo 1 3" in words
    assert "/many 1 0" in words
    assert "test 2 3" in words
    assert f'href="/dashboard/jobs/{job_id}"' in page.body.decode()
    assert page.body.decode().count('<figure class="plot"') == 3
    for path in re.findall(r'href="(/usage[^"]+csv)"', page.body.decode()):
        assert browser.get(path.replace("&amp;", "&")).headers["content-type"].startswith("text/csv")


def test_the_ledger_of_the_page_comes_in_pages(browser: Browser, client: Payer, api_database: Database) -> None:
    for number in range(60):
        api_database.run(grant_credits(client.account_id, 1, f"gift {number}."))
    page = browser.get("/dashboard/usage")
    older = re.search(r'rel="next" href="([^"#]+)', page.body.decode())
    assert older
    second = words_of(browser.get(older[1].replace("&amp;", "&")))

    assert "gift 59." in words_of(page)
    assert "gift 5." not in words_of(page)
    assert "gift 5." in second
    assert "gift 59." not in second


def test_days_without_anything_say_so(browser: Browser) -> None:
    page = browser.get("/dashboard/usage?from=2020-01-01&to=2020-01-31")

    assert (page.status, words_of(page).count("No usage in these days")) == (200, 2)
    assert browser.get("/dashboard/usage?from=nonsense").status == 400
    cleared = browser.get("/dashboard/usage?from=&to=2020-01-31")
    assert (cleared.status, cleared.headers["location"]) == (303, "/dashboard/usage?to=2020-01-31")


def used(day: date, route: str, credited: int, key_id: UUID, name: str | None = "key") -> Used:
    return Used(day, route, key_id, name, 1, credited)


def test_a_plot_sums_what_is_too_much_to_tell_apart() -> None:
    today = datetime.now(UTC).date()
    keys = [uuid4() for _ in range(7)]
    found = [used(today, f"/{number}", 10 - number, key) for number, key in enumerate(keys)]
    credits_by_route, requests, by_key = make_plots(found, DaySpan(today - timedelta(days=1), today), {})

    assert [series.name for series in credits_by_route.series] == ["/0", "/1", "/2", "/3", "others"]
    assert credits_by_route.rows[-1][1:] == ["10", "9", "8", "7", str(6 + 5 + 4)]
    assert [row[1] for row in requests.rows] == ["0", "1"]
    assert by_key.series[0].name == f"key ({str(keys[0])[:8]})"
