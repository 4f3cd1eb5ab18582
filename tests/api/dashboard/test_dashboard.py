"""The dashboard's frame: who gets in, what each page has, and sessions at the routes of the API."""

import re

from browser import Browser, sign_in
from http_service import Service
from payers import Payer, open_account

from api.dashboard import load_navigation
from pipeline.accounts.sessions import make_token
from pipeline.database import Database, Statement


def test_nobody_gets_a_page_without_signing_in(service: Service) -> None:
    for browser in (Browser(service), Browser(service, {"pressroom_session": make_token()})):
        answer = browser.get("/dashboard?a=b")
        assert (answer.status, answer.headers["location"]) == (303, "/dashboard/sign-in?next=/dashboard%3Fa%3Db")


def test_a_slash_at_the_end_leads_to_the_page(service: Service, api_database: Database, client: Payer) -> None:
    browser = sign_in(service, api_database, client)
    for path, found in (("/dashboard/?a=b", "/dashboard?a=b"), ("/dashboard/jobs/%0Aa/", "/dashboard/jobs/%0Aa")):
        answer = browser.get(path)
        assert (answer.status, answer.headers["location"]) == (308, found)


def test_the_first_page_shows_the_account_its_balance_and_its_last_jobs_alone(
    service: Service, api_database: Database, client: Payer
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    stranger = service.submit({"text": "hi"}, open_account(api_database).api_key)
    page = sign_in(service, api_database, client).get("/dashboard")
    assert page.status == 200
    assert job_id in page.body.decode()
    assert stranger not in page.body.decode()
    assert page.headers["content-type"].startswith("text/html")
    assert "Tester" in page.body.decode()
    assert "997" in page.body.decode()


def test_each_page_forbids_what_is_not_of_this_origin(service: Service, api_database: Database, client: Payer) -> None:
    browser = sign_in(service, api_database, client)
    for path in ("/dashboard", "/dashboard/sign-in/link", "/dashboard/nothing-here"):
        page = browser.get(path)
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert page.headers["cache-control"] == "no-store"
        assert "style=" not in page.body.decode()
        assert not re.search(r"<script(?! type=\"module\" src=)|<style|\son\w+=", page.body.decode())


def test_style_and_scripts_may_be_kept_for_ever(service: Service, api_database: Database, client: Payer) -> None:
    page = sign_in(service, api_database, client).get("/dashboard").body.decode()
    paths = re.findall(r'(?:href|src)="(/dashboard/static/[^"#]+)', page)
    assert len(paths) >= 3
    size = len(page)
    for path in set(paths):
        answer = service.get(path, Accept_Encoding="gzip")
        assert answer.status == 200
        assert "immutable" in answer.headers["cache-control"]
        size += len(answer.body)
    assert size < 150_000
    old = re.sub(r"static/\w+/", "static/0ld/", paths[0])
    assert service.get(old).headers["cache-control"] == "no-store"
    assert service.get("/dashboard/static/0ld/..%2Fpage.css").status == 404


def test_the_routes_of_the_api_take_the_session_for_its_key(
    service: Service, api_database: Database, client: Payer
) -> None:
    browser = sign_in(service, api_database, client)
    assert browser.get("/jobs").status == 200
    made = browser.request(
        "POST",
        "/echo",
        b'{"text": "hi"}',
        Content_Type="application/json",
        Prefer="respond-async",
        X_CSRF_Token=browser.csrf_token,
    )
    assert made.status == 202
    sql = "SELECT k.name, k.is_dashboard FROM job j JOIN api_key k ON k.id = j.api_key_id WHERE j.id = %(id)s"
    (row,) = api_database.run(Statement(sql, {"id": made.json["id"]}))
    assert row == {"name": "dashboard", "is_dashboard": True}
    assert service.get(f"/jobs/{made.json['id']}", client.api_key).status == 200


def test_the_routes_of_the_api_want_a_csrf_token_with_the_session(
    service: Service, api_database: Database, client: Payer
) -> None:
    browser = sign_in(service, api_database, client)
    other = sign_in(service, api_database, client)
    for token in ("", "é", other.csrf_token):
        headers = {"X_CSRF_Token": token.encode().decode("latin-1")} if token else {}
        refused = browser.request("POST", "/echo", b'{"text": "hi"}', Content_Type="application/json", **headers)
        assert (refused.status, refused.code) == (403, "csrf_token_invalid")
    wrong_key = browser.request("POST", "/echo", b'{"text": "hi", "api_key": "pr_live_wrong"}')
    assert wrong_key.status == 401  # a key that is sent counts, not the cookie beside it


def test_a_session_that_was_signed_out_is_over_at_the_server(
    service: Service, api_database: Database, client: Payer
) -> None:
    browser = sign_in(service, api_database, client)
    stolen = Browser(service, dict(browser.cookies))
    assert browser.post("/dashboard/sign-out", {}).status == 303
    assert "pressroom_session" not in browser.cookies
    assert stolen.get("/dashboard").status == 303
    assert stolen.get("/jobs").status == 401


def test_every_page_opens_for_those_that_it_is_for_and_for_nobody_else(
    service: Service, api_database: Database, client: Payer
) -> None:
    nobody = Browser(service)
    somebody = sign_in(service, api_database, client)
    operator = sign_in(service, api_database, open_account(api_database), operator=True)
    pages = load_navigation()
    assert pages
    for path in ("/dashboard/keys/1", "/dashboard/jobs/1", "/dashboard/webhooks/1", "/dashboard/try/speech"):
        assert nobody.get(path).headers["location"] == f"/dashboard/sign-in?next={path}"
    for page in pages:
        assert nobody.get(page.path).status == 303, page.path
        assert somebody.get(page.path).status == (403 if page.operators_only else 200), page.path
        assert operator.get(page.path).status == 200, page.path
        marked = re.findall(r'href="([^"]+)" aria-current="page"', operator.get(page.path).body.decode())
        assert {path for path in marked if path.startswith("/")} == {page.path}
        assert (f'href="{page.path}"' in somebody.get("/dashboard").body.decode()) is not page.operators_only


def test_the_root_says_what_this_is_to_people_and_to_programs(service: Service) -> None:
    page = Browser(service).get("/", Accept="text/html,application/xhtml+xml,*/*;q=0.8")
    assert page.status == 200
    assert 'href="/dashboard"' in page.body.decode()
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for accept in ("*/*", "application/json", "application/json, text/html;q=0.5"):
        answer = service.get("/", Accept=accept)
        assert (answer.json["docs"], answer.json["dashboard"]) == ("/docs", "/dashboard")
