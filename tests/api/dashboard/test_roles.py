"""Roles: what each may do at every path of the dashboard and the API, and that pages show nothing else."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from browser import Browser, hidden_field, sign_in
from http_service import Answer, Service
from payers import Payer, add_person, open_account

from api.capabilities import load_routes
from api.dashboard import load_resources
from api.routes import RESOURCES
from capabilities.sites import runs, sites
from capabilities.sites.connectors.connector import SiteFacts
from pipeline.accounts.audit import Actor
from pipeline.accounts.people import invite, list_invitations, list_people, remove_person, set_role
from pipeline.accounts.roles import Role
from pipeline.database import Database, Statement

OWN = {"/dashboard/account", "/dashboard/sign-out", "/dashboard/invitation", "/dashboard/sign-in"}
#: Paths that only owners read and change, and paths that editors use beside viewers, by their beginning.
OWNERS = (
    "/account/audit", "/dashboard/indexing/sites", "/dashboard/keys", "/dashboard/operators", "/dashboard/people",
    "/keys",
)  # fmt: skip
OWNERS_CHANGE = ("/dashboard/webhooks", "/webhooks")
EDITORS_READ = ("/dashboard/indexing/new", "/dashboard/try", "/dashboard/webhooks", "/webhooks/deliveries")


def below(path: str, places: Any) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


def least_role(method: str, path: str) -> str:
    """Return the least role that a method of a path needs, as people are told (docs/people.md)."""
    if below(path, OWN) or path == "/verify":
        return "viewer"
    if below(path, OWNERS):
        return "owner"
    if method == "GET":
        if below(path, EDITORS_READ):
            return "editor"
        return "owner" if below(path, ("/webhooks",)) else "viewer"
    if path == "/dashboard/webhooks/{delivery_id}" or below(path, ("/webhooks/deliveries",)):
        return "editor"
    return "owner" if below(path, OWNERS_CHANGE) or path == "/dashboard/sites" else "editor"


def methods_of(resource: Any) -> list[str]:
    return [name[3:].upper() for name in dir(resource) if re.fullmatch("on_(get|post|put|patch|delete)", name)]


def every_path() -> Iterator[tuple[str, str]]:
    """Yield method and path of what is open to who is signed in: pages and routes."""
    pages = {path: resource for path, resource in load_resources().items() if path != "/"}
    families: dict[str, Any] = {path: one for family in load_routes() for path, one in family.RESOURCES.items()}
    open_to_all = ("/certificate", "/episodes", "/feeds", "/files", "/healthz", "/metrics", "/player.js", "/readyz",
                   "/tts/voices", "/verify-key", "/v1", "/dashboard/notices/stop", "/dashboard/static",
                   "/sites/{site_id}/published")  # fmt: skip
    for path, resource in {**pages, **RESOURCES, **families}.items():
        for method in methods_of(resource):
            if not below(path, open_to_all) and not path.startswith("/feeds/"):
                yield method, path


def ask(browser: Browser, method: str, path: str) -> Answer:
    """Send a request of a script, which nothing is changed by: it has no CSRF token."""
    shown = re.sub(r"{slug}", "speech", path)
    shown = re.sub(r"{family}", "search", re.sub(r"{number}", "1", shown))
    shown = re.sub(r"{\w+}", str(uuid4()), shown)
    return browser.request(method, shown, None if method == "GET" else b"{}", Accept="application/json")


def is_refused(answer: Answer) -> bool:
    return answer.status == 403 and json.loads(answer.body).get("code") in ("role_insufficient", "operators_only")


@pytest.fixture(scope="module")
def account(api_database: Database, service: Service) -> Payer:
    """An account of operators with one of each thing that pages show."""
    payer = open_account(api_database)
    owner = sign_in(service, api_database, payer, operator=True)
    service.submit({"text": "hi"}, payer.api_key)
    assert owner.post("/dashboard/keys", {"name": "Shop"}).status == 200
    hook = {"webhook_url": "https://hooks.example.org/", "webhook_events": "job.failed"}
    assert owner.post("/dashboard/webhooks", hook).status == 200
    webhook = hidden_field(owner.get("/dashboard/webhooks"), "webhook")
    assert owner.post("/dashboard/webhooks", {"action": "test", "webhook": webhook}).status == 303
    assert owner.post("/dashboard/indexing/new", {"urls": "https://example.org/", "every": "week"}).status == 303
    facts = SiteFacts(title="Harbour", abilities=("alt_text", "content"))
    site = api_database.run(sites.save_site(payer.account_id, "harbour", "wordpress", "https://h.example", None, facts))
    api_database.run(runs.start_run(site, "alt_text", {}))
    assert (
        owner.post("/dashboard/people", {"change": "invite", "email": "new@x.example", "role": "viewer"}).status == 200
    )
    return payer


@pytest.fixture(params=["viewer", "editor", "owner"])
def person(
    request: pytest.FixtureRequest, service: Service, api_database: Database, account: Payer
) -> tuple[str, Browser]:
    """A role, and a browser of somebody who has it."""
    added = add_person(api_database, account, request.param)
    return request.param, sign_in(service, api_database, account, operator=True, person_id=added)


def test_every_path_is_open_to_those_roles_that_need_it_alone(person: tuple[str, Browser]) -> None:
    role, browser = person
    order = ("viewer", "editor", "owner")
    wrong = [
        f"{method} {path}: {answer.status}"
        for method, path in every_path()
        if path != "/dashboard/sign-out"
        and is_refused(answer := ask(browser, method, path))
        is not (order.index(role) < order.index(least_role(method, path)))
    ]
    assert wrong == []


def test_pages_show_what_their_reader_may_do_alone(person: tuple[str, Browser]) -> None:
    role, browser = person
    seen, wrong, left = set(), [], ["/dashboard"]
    while left:
        path = left.pop()
        page = browser.get(path)
        assert page.status in (200, 303), f"{path}: {page.status} for {role}"
        text = page.body.decode()
        for method, _, target in re.findall(r'method="(post)"( action="([^"?#]+))', text):
            if target != "/dashboard/sign-out" and is_refused(ask(browser, method.upper(), target)):
                wrong.append(f"{path} posts to {target}")
        links = re.findall(r'(?:href|src)="(/dashboard[^"#]*)', text)
        new = {
            re.sub("&amp;", "&", link) for link in links if "/static/" not in link and "/operators" not in link
        } - seen
        seen |= new
        left += sorted(new)
    assert wrong == []
    shown = {"/dashboard/keys", "/dashboard/people", "/dashboard/try/speech", "/dashboard/webhooks", "/dashboard/jobs"}
    assert (
        shown & seen
        == {
            "viewer": {"/dashboard/jobs"},
            "editor": shown - {"/dashboard/keys", "/dashboard/people"},
            "owner": shown,
        }[role]
    )


def test_a_role_that_is_taken_away_is_refused_at_the_next_request(
    service: Service, api_database: Database, client: Payer
) -> None:
    owner = sign_in(service, api_database, client)
    person = add_person(api_database, client, "owner")
    other = sign_in(service, api_database, client, person_id=person)
    assert other.get("/dashboard/people").status == 200
    assert owner.post("/dashboard/people", {"change": "role", "person": str(person), "role": "viewer"}).status == 303
    assert other.get("/dashboard/people").status == 403
    refused = other.post("/dashboard/people", {"change": "remove", "person": str(person)})
    assert (refused.status, "a viewer of Tester" in refused.body.decode()) == (403, True)
    job = service.submit({"text": "hi"}, client.api_key)
    assert other.request("POST", f"/jobs/{job}/cancel", X_CSRF_Token=other.csrf_token).status == 403
    assert other.get(f"/dashboard/jobs/{job}").status == 200
    owner.post("/dashboard/people", {"change": "remove", "person": str(person)})
    assert other.get("/dashboard").status == 303
    gone = api_database.run(Statement("SELECT 1 FROM person WHERE id = %(id)s", {"id": person}))
    assert gone == []


def test_who_is_no_longer_an_owner_when_the_change_comes_changes_nobody(api_database: Database, client: Payer) -> None:
    former, other = (add_person(api_database, client, role) for role in ("editor", "owner"))
    actor, run = Actor(client.account_id, former), api_database.run_together
    member = next(one for one in api_database.run(list_people(client.account_id)) if one.id == other)
    assert not run(set_role(actor, member, Role.VIEWER))[1]
    assert not run(remove_person(actor, member))[1]
    assert not run(invite(actor, "eve@x.example", Role.OWNER, "token", lasts=timedelta(days=1)))[-1]
    assert api_database.run(list_invitations(client.account_id)) == []
    assert member in api_database.run(list_people(client.account_id))


@pytest.mark.parametrize("form", [{"change": "remove"}, {"change": "role", "role": "editor"}])
def test_an_account_keeps_an_owner(
    service: Service, api_database: Database, client: Payer, form: dict[str, str]
) -> None:
    owner = sign_in(service, api_database, client)
    person = re.findall(r'name="person" value="([^"]+)"', owner.get("/dashboard/people").body.decode())[0]
    assert owner.post("/dashboard/people", {"person": person, **form}).status == 303
    assert "needs an owner" in owner.get("/dashboard/people").body.decode()
    owner.post("/dashboard/account/leave", {})
    assert owner.get("/dashboard").status == 200


def test_a_key_ends_with_the_person_who_made_it_where_that_was_wanted(
    service: Service, api_database: Database, client: Payer
) -> None:
    owner = sign_in(service, api_database, client)
    person = add_person(api_database, client, "owner", f"{uuid4().hex}@x.example")
    maker = sign_in(service, api_database, client, person_id=person)
    pages = [
        maker.post("/dashboard/keys", form).body.decode()
        for form in ({"name": "a"}, {"name": "b", "ends_with_person": "yes"})
    ]
    stays, ends = (re.findall(r"pr_live_\w{38}", page)[0] for page in pages)
    made = service.post("/keys", {"name": "c"}, ends)
    assert (made.status, made.json["ends_with_person"]) == (201, True)

    owner.post("/dashboard/people", {"change": "remove", "person": str(person)})
    assert [service.get("/jobs", key).status for key in (stays, ends, made.json["api_key"])] == [200, 401, 401]


def test_a_person_of_two_accounts_changes_from_one_to_the_other(
    service: Service, api_database: Database, client: Payer
) -> None:
    other, strange = open_account(api_database, name="Agency"), open_account(api_database)
    browser = sign_in(service, api_database, client)
    person = re.findall(r'name="person" value="([^"]+)"', browser.get("/dashboard/people").body.decode())[0]
    joined = (
        "INSERT INTO membership (account_id, person_id, role) VALUES (%(account)s, %(person)s, 'viewer') RETURNING 1"
    )
    api_database.run(Statement(joined, {"account": other.account_id, "person": person}))

    assert "Change the account" in browser.get("/dashboard").body.decode()
    assert browser.post("/dashboard/account/change", {"account": str(strange.account_id)}).status == 404
    assert browser.post("/dashboard/account/change", {"account": str(other.account_id)}).status == 303
    assert "This is Agency" in browser.get("/dashboard").body.decode()
    assert browser.get("/dashboard/people").status == 403
