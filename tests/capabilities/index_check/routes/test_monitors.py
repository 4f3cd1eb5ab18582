"""Index checks by the clock: when they are made, who pays, what counts as a change, and who is told of it."""

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from http_service import Answer, Service, Start
from payers import Payer, discrepancies_of, open_account
from web_server import web_server
from webhook_receiver import webhook_receiver

from capabilities.index_check.kinds.index_check import IndexCheck
from capabilities.index_check.monitors.running import MonitorRuns
from pipeline.accounts.keys import KeyLimits, add_key, make_key, revoke_key
from pipeline.database import Database, Statement
from pipeline.lifecycle import ClaimedItem, Outcome, claim, grant_credits, report
from pipeline.offers.offers import Offer, publish_offers
from pipeline.settings import Settings
from pipeline.webhooks.signing import sign
from workers.webhooks.sending import WebhookSending

A, B, C = (f"https://e.example/{name}" for name in "abc")
SETTINGS = Settings(fetch={"allow_networks": "127.0.0.0/8"})

#: What an engine says of a URL: whether it is indexed, None for a block.
Says = Mapping[str, bool | None]


def run(database: Database) -> int:
    """Do what a sweep does for monitors."""
    return MonitorRuns(IndexCheck(), SETTINGS).run(database)


@pytest.fixture(autouse=True)
def _no_monitors_of_earlier_tests(api_database: Database) -> None:
    api_database.run(Statement("DELETE FROM index_monitor RETURNING id"))


def send(service: Service, method: str, path: str, key: str | None, document: object = None) -> Answer:
    body = b"" if document is None else json.dumps(document).encode()
    headers = {"Content-Type": "application/json"} | ({"X-API-Key": key} if key else {})
    return service.request(method, f"/indexing/monitors{path}", body, headers)


def create(service: Service, client: Payer, *urls: str, **more: object) -> Any:
    answer = send(service, "POST", "", client.api_key, {"urls": urls, "every": "day", **more})
    assert answer.status == 201, answer.body
    return answer.json


def read(service: Service, client: Payer, monitor: Any, path: str = "") -> Any:
    answer = send(service, "GET", f"/{monitor['id']}{path}", client.api_key)
    assert answer.status == 200, answer.body
    return answer.json


def make_due(database: Database, monitor: Any, late: timedelta = timedelta(seconds=1)) -> None:
    query = "UPDATE index_monitor SET next_at = now() - %(late)s WHERE id = %(id)s RETURNING id"
    database.run(Statement(query, {"late": late, "id": monitor["id"]}))


def jobs_of(service: Service, client: Payer, monitor: Any) -> list[Any]:
    found: list[Any] = service.get(f"/jobs?request_id=monitor-{monitor['id']}", client.api_key).json
    return found


def answer_all(database: Database, says: Says, *, index: str = "bing", lane: str = "index_check") -> None:
    """Have an engine answer all that is asked."""

    def answer(item: ClaimedItem) -> Outcome:
        found = says.get(item.input["url"], False)
        if found is None:
            error = {"status": 500, "error": "x", "message": "Blocked.", "code": "captcha", "reason": "rate_limited"}
            return Outcome(item.item_id, "failed", 0, error=error)
        output = {"reason": "indexed" if found else "not_indexed", "provider": f"{index}_api", "index": index}
        return Outcome(item.item_id, "done", 1, output | ({"proofUrl": "https://proof.example/"} if found else {}))

    while items := database.run(claim({lane: 1_000}, lease_for=timedelta(seconds=30))):
        database.run(report(items[0].lease_id, [answer(item) for item in items]))


@pytest.fixture
def check_again(service: Service, api_database: Database) -> Callable[..., None]:
    """A function that makes a monitor due, has its URLs answered, and looks at the answers."""

    def check(monitor: Any, says: Says, **answering: Any) -> None:
        make_due(api_database, monitor)
        run(api_database)
        answer_all(api_database, says, **answering)
        run(api_database)

    return check


def changes(service: Service, client: Payer, monitor: Any) -> list[tuple[str, str]]:
    """Return the changes of a monitor, newest first."""
    return [(one["change"], one["url"]) for one in read(service, client, monitor, "/changes")]


def test_a_monitor_is_made_listed_and_shown(service: Service, client: Payer) -> None:
    first = create(service, client, A, B, A, name="Shop", index="bing")
    answer = send(service, "POST", "", None, {"urls": [C], "every": "week", "api_key": client.api_key})

    assert answer.status == 201
    assert answer.headers["location"] == f"/indexing/monitors/{answer.json['id']}"
    assert read(service, client, first) == first
    shown = [first[name] for name in ("name", "state", "every", "engine", "index", "total_urls", "last_job_id")]
    assert shown == ["Shop", "active", "day", None, "bing", 2, None]
    assert "webhook_secret" not in first
    listed = send(service, "GET", "?limit=1", client.api_key)
    assert [one["id"] for one in listed.json] == [answer.json["id"]]
    assert listed.headers["x-total-count"] == "2"
    assert send(service, "HEAD", "", client.api_key).headers["x-total-count"] == "2"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"urls": [A]}, "invalid_request"),
        ({"urls": [A], "every": "hour"}, "invalid_request"),
        ({"urls": [], "every": "day"}, "invalid_request"),
        ({"every": "day"}, "urls_or_sitemap"),
        ({"urls": [A], "sitemap_url": A, "every": "day"}, "urls_or_sitemap"),
        ({"urls": ["ftp://e.example/"], "every": "day"}, "urls_invalid"),
        ({"sitemap_url": "sitemap.xml", "every": "day"}, "url_invalid"),
        ({"sitemap_url": "example.org:22/sitemap.xml", "every": "day"}, "url_invalid"),
        ({"urls": [A], "every": "day", "webhook_url": "file:///etc/passwd"}, "url_invalid"),
        ({"urls": [A], "every": "day", "webhook_url": "http://169.254.169.254/latest"}, "url_invalid"),
        ({"urls": [A], "every": "day", "webhook_url": "https://hook.example:5432/"}, "url_invalid"),
        ({"sitemap_url": "http://localhost/sitemap.xml", "every": "day"}, "url_invalid"),
        ({"urls": [A], "every": "day", "engine": "altavista"}, "engine_unknown"),
        ({"urls": [A], "every": "day", "index": "altavista"}, "index_unknown"),
        ({"urls": [A], "every": "day", "name": "x" * 201}, "invalid_request"),
        ({"urls": [A], "every": "day", "name": "a\nb"}, "invalid_request"),
    ],
)
def test_what_is_no_monitor_is_refused(service: Service, client: Payer, body: object, code: str) -> None:
    answer = send(service, "POST", "", client.api_key, body)

    assert (answer.status, answer.code) == (400, code)


def test_a_monitor_belongs_to_its_account(service: Service, client: Payer, api_database: Database) -> None:
    monitor = create(service, client, A)
    stranger = open_account(api_database)

    for method, path in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("GET", "/changes")):
        answer = send(service, method, f"/{monitor['id']}{path}", stranger.api_key)
        assert (answer.status, answer.code) == (404, "monitor_not_found")
        assert send(service, method, f"/{monitor['id']}{path}", None).status == 401
    assert send(service, "GET", "/nonsense", client.api_key).code == "monitor_not_found"
    assert send(service, "GET", "", stranger.api_key).json == []


def test_an_account_has_as_many_monitors_as_it_may_have(start: Start, client: Payer, api_database: Database) -> None:
    with start(LIMITS__INDEX_MONITORS="2") as service:
        body = {"urls": [A], "every": "day", "webhook_url": "https://hook.example/"}
        with ThreadPoolExecutor(6) as threads:
            made = list(threads.map(lambda _: send(service, "POST", "", client.api_key, body), range(6)))

        assert sorted(answer.status for answer in made) == [201, 201, 409, 409, 409, 409]
        assert {answer.code for answer in made if answer.status == 409} == {"too_many_monitors"}
        hooks = Statement("SELECT count(*) AS n FROM webhook WHERE account_id = %(id)s", {"id": client.account_id})
        assert api_database.run(hooks) == [{"n": 2}]


def test_the_first_job_is_made_at_once_paid_by_the_account_and_asks_anew(
    service: Service, client: Payer, api_database: Database
) -> None:
    monitor = create(service, client, A, B, name="Shop")
    before = datetime.now(UTC)

    run(api_database)

    (job,) = jobs_of(service, client, monitor)
    assert (job["kind"], job["credits"]["held"]) == ("index_check", 2)
    shown = read(service, client, monitor)
    assert shown["last_job_id"] == job["id"]
    assert timedelta(hours=23) < datetime.fromisoformat(shown["next_at"]) - before < timedelta(hours=25)
    rows = Statement("SELECT input FROM item WHERE job_id = %(id)s ORDER BY index", {"id": job["id"]})
    assert [(row["input"]["url"], row["input"]["fresh"]) for row in api_database.run(rows)] == [(A, True), (B, True)]
    answer_all(api_database, {A: True, B: None})
    usage = service.get("/usage", client.api_key).json
    assert (usage["total_credits_used"], usage["credits_held"]) == (1, 0)
    shown = service.get(f"/indexing/jobs/{job['id']}", client.api_key).json
    assert (shown["status"], shown["name"]) == ("complete", "Shop")


def test_what_is_newly_indexed_and_what_was_dropped_is_listed_newest_first(
    service: Service, client: Payer, check_again: Callable[..., None]
) -> None:
    monitor = create(service, client, A, B, C)

    check_again(monitor, {A: True, B: False, C: False})
    assert changes(service, client, monitor) == []  # nobody knows what was before
    check_again(monitor, {A: False, B: True, C: False})
    check_again(monitor, {A: False, B: True, C: True})

    assert changes(service, client, monitor) == [("newly_indexed", C), ("newly_indexed", B), ("dropped", A)]
    newest = read(service, client, monitor, "/changes?limit=1")[0]
    assert newest["job_id"] == read(service, client, monitor)["last_job_id"]
    assert (newest["index"], newest["provider"], newest["proof_url"]) == ("bing", "bing_api", "https://proof.example/")
    assert newest["before_at"] < newest["checked_at"]
    dropped = read(service, client, monitor, "/changes?change=dropped")
    assert [(one["url"], one["proof_url"]) for one in dropped] == [(A, None)]
    assert send(service, "GET", f"/{monitor['id']}/changes?change=x", client.api_key).code == "parameter_invalid"


def test_errors_are_no_changes_and_what_was_known_stays_known(
    service: Service, client: Payer, check_again: Callable[..., None]
) -> None:
    monitor = create(service, client, A, B, C)

    check_again(monitor, {A: True, B: False, C: None})
    check_again(monitor, {A: None, B: None, C: None})
    check_again(monitor, {A: True, B: False, C: True})
    assert changes(service, client, monitor) == []
    check_again(monitor, {A: None, B: True, C: None})
    check_again(monitor, {A: False, B: True, C: True})

    assert changes(service, client, monitor) == [("dropped", A), ("newly_indexed", B)]


def test_what_another_index_says_is_no_change(
    service: Service, client: Payer, check_again: Callable[..., None]
) -> None:
    monitor = create(service, client, A)

    check_again(monitor, {A: True}, index="google")
    check_again(monitor, {A: False}, index="bing")
    check_again(monitor, {A: True}, index="google")
    assert changes(service, client, monitor) == []
    check_again(monitor, {A: True}, index="bing")

    assert [(one["change"], one["index"]) for one in read(service, client, monitor, "/changes")] == [
        ("newly_indexed", "bing")
    ]


def test_however_many_sweeps_there_are_a_due_time_has_one_job_and_an_end_one_look(
    service: Service, client: Payer, api_database: Database, api_database_url: str
) -> None:
    monitors = [create(service, client, A) for _ in range(3)]
    sweeps = 4
    for round_number in range(1, 4):
        barrier = threading.Barrier(sweeps)

        def sweep(barrier: threading.Barrier = barrier) -> None:
            with Database(api_database_url) as database:
                database.run(Statement("SELECT 1"))
                barrier.wait(60)
                run(database)
                run(database)

        with ThreadPoolExecutor(sweeps) as threads:
            for swept in [threads.submit(sweep) for _ in range(sweeps)]:
                swept.result()

        for monitor in monitors:
            assert len(jobs_of(service, client, monitor)) == round_number
            # By now the answers of the round before were looked at, once.
            assert len(read(service, client, monitor, "/changes")) == max(0, round_number - 2)
            make_due(api_database, monitor)
        answer_all(api_database, {A: round_number % 2 == 0})
    assert discrepancies_of(api_database, client) == []


def test_what_was_missed_is_made_up_for_once_and_the_clock_goes_on_as_it_did(
    service: Service, client: Payer, api_database: Database
) -> None:
    monitor = create(service, client, A)
    make_due(api_database, monitor, timedelta(days=10, hours=3))
    due = datetime.fromisoformat(read(service, client, monitor)["next_at"])

    run(api_database)
    run(api_database)

    assert len(jobs_of(service, client, monitor)) == 1
    following = datetime.fromisoformat(read(service, client, monitor)["next_at"])
    assert following - due == timedelta(days=11)
    answer_all(api_database, {})


def test_a_run_that_the_account_can_not_pay_for_is_skipped_and_the_next_is_tried(
    service: Service, api_database: Database
) -> None:
    poor = open_account(api_database, credits=1)
    monitor = create(service, poor, A, B)

    run(api_database)

    shown = read(service, poor, monitor)
    assert jobs_of(service, poor, monitor) == []
    assert shown["skipped"]["code"] == "insufficient_credits"
    assert "needs 2 credits; the balance is 1" in shown["skipped"]["message"]
    assert shown["last_run_at"] is None
    assert run(api_database) == 0  # not before the next time
    api_database.run(grant_credits(poor.account_id, 1))
    make_due(api_database, monitor)
    run(api_database)
    assert len(jobs_of(service, poor, monitor)) == 1
    assert read(service, poor, monitor)["skipped"] is None
    answer_all(api_database, {})


def test_a_job_that_still_runs_has_no_second_beside_it(service: Service, client: Payer, api_database: Database) -> None:
    monitor = create(service, client, A)
    run(api_database)
    make_due(api_database, monitor)

    run(api_database)

    assert len(jobs_of(service, client, monitor)) == 1
    assert read(service, client, monitor)["skipped"]["code"] == "still_running"
    answer_all(api_database, {})
    make_due(api_database, monitor)
    run(api_database)
    assert len(jobs_of(service, client, monitor)) == 2
    answer_all(api_database, {})


def test_a_key_that_is_revoked_leaves_the_account_s_other_keys_to_pay(
    service: Service, client: Payer, api_database: Database
) -> None:
    monitor = create(service, client, A)
    key = make_key()
    api_database.run(add_key(client.account_id, key, "other"))
    api_database.run(revoke_key(client.api_key_id))
    run(api_database)
    answer_all(api_database, {})
    other = Payer(client.account_id, key.id, key.secret)
    (job,) = jobs_of(service, other, monitor)
    paid = Statement("SELECT api_key_id FROM job WHERE id = %(id)s", {"id": job["id"]})
    assert api_database.run(paid) == [{"api_key_id": key.id}]

    # One with limits is for its own use.
    api_database.run(add_key(client.account_id, make_key(), "limited", KeyLimits(routes=("/tts",))))
    api_database.run(revoke_key(key.id))
    make_due(api_database, monitor)
    run(api_database)

    assert skipped_for(api_database, monitor) == "unauthorized"


def test_a_monitor_keeps_within_its_keys_month(service: Service, client: Payer, api_database: Database) -> None:
    limited = make_key()
    api_database.run(add_key(client.account_id, limited, "limited", KeyLimits(credits_per_month=1)))
    monitor = create(service, Payer(client.account_id, limited.id, limited.secret), A, B)
    run(api_database)

    assert skipped_for(api_database, monitor) == "key_credit_limit"
    assert jobs_of(service, client, monitor) == []


def skipped_for(database: Database, monitor: Any) -> Any:
    """Return why a monitor has made no job."""
    read = Statement("SELECT skipped->>'code' AS code FROM index_monitor WHERE id = %(id)s", {"id": monitor["id"]})
    return database.run(read)[0]["code"]


def test_a_monitor_rests_while_it_is_paused(service: Service, client: Payer, api_database: Database) -> None:
    monitor = create(service, client, A)
    paused = send(service, "PATCH", f"/{monitor['id']}", client.api_key, {"state": "paused"}).json

    assert (paused["state"], paused["next_at"]) == ("paused", None)
    assert run(api_database) == 0
    active = send(service, "PATCH", f"/{monitor['id']}", None, {"state": "active", "api_key": client.api_key}).json
    assert active["next_at"] is not None
    assert run(api_database) == 1
    answer_all(api_database, {})


def test_what_is_sent_is_changed_and_all_else_stays(
    service: Service, client: Payer, api_database: Database, check_again: Callable[..., None]
) -> None:
    monitor = create(service, client, A, name="Shop", every="week", engine="bing")
    run(api_database)
    answer_all(api_database, {A: True}, lane="index_check_bing")

    def patch(**fields: object) -> Any:
        answer = send(service, "PATCH", f"/{monitor['id']}", client.api_key, fields)
        assert answer.status == 200, answer.body
        return answer.json

    weekly = read(service, client, monitor)
    daily = patch(every="day")
    assert datetime.fromisoformat(weekly["next_at"]) - datetime.fromisoformat(daily["next_at"]) > timedelta(days=5)
    changed = patch(urls=[A, B], engine=None, name=None)
    assert [changed[name] for name in ("name", "engine", "total_urls", "every")] == [None, None, 2, "day"]
    # What a monitor can't be without is not taken away by null.
    assert patch(every=None, state=None, urls=None, sitemap_url=None) == changed
    # What is known of a URL stays known.
    check_again(monitor, {A: False, B: True})
    assert changes(service, client, monitor) == [("dropped", A)]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"state": "deleted"}, "invalid_request"),
        ({"urls": [A], "sitemap_url": A}, "urls_or_sitemap"),
        ({"urls": ["no url"]}, "urls_invalid"),
        ({"engine": "altavista"}, "engine_unknown"),
        ({"webhook_url": "https://user:secret@hook.example/"}, "url_invalid"),
    ],
)
def test_a_change_that_can_not_be_is_refused(
    service: Service, client: Payer, fields: Mapping[str, object], code: str
) -> None:
    monitor = create(service, client, A)

    answer = send(service, "PATCH", f"/{monitor['id']}", client.api_key, fields)

    assert (answer.status, answer.code) == (400, code)
    assert read(service, client, monitor) == monitor


def test_a_monitor_whose_engine_is_gone_makes_no_job_that_nobody_does_and_can_be_paused(
    service: Service, start: Start, client: Payer, api_database: Database
) -> None:
    monitor = create(service, client, A, engine="bing")
    api_database.run(publish_offers([Offer("search", "duckduckgo", ready=True)]))
    try:
        run(api_database)
        with start() as other:  # which has read no offers yet
            assert jobs_of(other, client, monitor) == []
            assert read(other, client, monitor)["skipped"]["code"] == "engine_unknown"
            paused = send(other, "PATCH", f"/{monitor['id']}", client.api_key, {"state": "paused"})
            assert (paused.status, paused.json["state"]) == (200, "paused")
            refused = send(other, "PATCH", f"/{monitor['id']}", client.api_key, {"urls": [B]})
            assert refused.code == "engine_unknown"
    finally:
        api_database.run(Statement("DELETE FROM offer WHERE engine = 'duckduckgo' RETURNING 1 AS gone"))


def test_a_deleted_monitor_makes_no_more_jobs_and_its_last_one_ends(
    service: Service, client: Payer, api_database: Database
) -> None:
    monitor = create(service, client, A, webhook_url="https://hook.example/")
    run(api_database)

    assert send(service, "DELETE", f"/{monitor['id']}", client.api_key).status == 204

    assert send(service, "GET", f"/{monitor['id']}", client.api_key).status == 404
    answer_all(api_database, {A: True})
    assert run(api_database) == 0
    (job,) = jobs_of(service, client, monitor)
    assert job["state"] == "succeeded"
    hooks = Statement("SELECT count(*) AS n FROM webhook WHERE account_id = %(id)s", {"id": client.account_id})
    assert api_database.run(hooks) == [{"n": 0}]


def test_a_webhook_is_told_what_has_changed_and_nothing_else(
    open_service: Service, client: Payer, api_database: Database, check_again: Callable[..., None]
) -> None:
    service = open_service
    with webhook_receiver() as receiver:
        monitor = create(service, client, A, B, C, name="Shop", webhook_url=receiver.url)
        secret = monitor["webhook_secret"]
        assert "webhook_secret" not in read(service, client, monitor)
        check_again(monitor, {A: True, B: False, C: False})
        check_again(monitor, {A: True, B: None, C: False})
        WebhookSending(SETTINGS).send_due(api_database)
        assert receiver.events == []

        check_again(monitor, {A: False, B: True, C: False})
        WebhookSending(SETTINGS).send_due(api_database)

        (event,) = receiver.events
    body = event.body.decode()
    seconds, message_id = int(event.headers["webhook-timestamp"]), event.headers["webhook-id"]
    assert event.headers["webhook-signature"] == sign(secret, message_id, seconds, body)
    told = json.loads(body)
    shown = read(service, client, monitor)
    assert told["type"] == "index_monitor.changed"
    data = told["data"]
    assert (data["monitor_id"], data["monitor_name"], data["job_id"]) == (monitor["id"], "Shop", shown["last_job_id"])
    assert (data["newly_indexed"], data["dropped"], data["all_listed"]) == (1, 1, True)
    listed = read(service, client, monitor, "/changes")
    assert data["changes"] == [
        {name: value for name, value in one.items() if name not in {"id", "job_id"}} for one in reversed(listed)
    ]
    assert (shown["last_delivery"]["state"], shown["last_delivery"]["status"]) == ("delivered", 204)
    assert shown["last_delivery"]["next_at"] is None


def test_a_webhook_comes_goes_and_moves(
    service: Service, client: Payer, api_database: Database, check_again: Callable[..., None]
) -> None:
    monitor = create(service, client, A)

    def patch(url: str | None) -> Any:
        return send(service, "PATCH", f"/{monitor['id']}", client.api_key, {"webhook_url": url}).json

    made, moved = patch("https://one.example/"), patch("https://two.example/")
    assert made["webhook_secret"].startswith("whsec_")
    assert moved["webhook_url"] == "https://two.example/"
    assert "webhook_secret" not in moved
    check_again(monitor, {A: True})
    check_again(monitor, {A: False})
    assert read(service, client, monitor)["last_delivery"]["state"] == "pending"
    gone = patch(None)
    assert (gone["webhook_url"], gone["last_delivery"]) == (None, None)
    assert WebhookSending(SETTINGS).send_due(api_database) == 0


def test_a_sitemap_is_read_before_each_check(
    open_service: Service, client: Payer, api_database: Database, check_again: Callable[..., None]
) -> None:
    service = open_service
    with web_server() as site:

        def list_pages(*pages: str) -> str:
            return site.serve("/sitemap.xml", "\n".join(pages).encode())

        url = list_pages(A, B)
        answer = send(service, "POST", "", client.api_key, {"sitemap_url": url, "every": "day"})
        monitor = answer.json
        assert (answer.status, monitor["total_urls"], monitor["sitemap_url"]) == (201, None, url)

        check_again(monitor, {A: True, B: True})
        list_pages(A, C)
        check_again(monitor, {A: False, B: False, C: True})

        assert read(service, client, monitor)["total_urls"] == 2
        assert changes(service, client, monitor) == [("dropped", A)]  # B is not asked for, and C was never known
        site.fail("/sitemap.xml", 404)
        make_due(api_database, monitor)
        run(api_database)
    skipped = read(service, client, monitor)["skipped"]
    assert (skipped["code"], "HTTP 404" in skipped["message"]) == ("sitemap_unreachable", True)


def test_a_change_of_a_monitor_while_its_run_is_made_has_it_made_anew(
    service: Service, client: Payer, api_database: Database
) -> None:
    monitor = create(service, client, A)

    class Changing(MonitorRuns):
        def _urls_of(self, due: Any) -> Any:
            answer = send(service, "PATCH", f"/{monitor['id']}", client.api_key, {"urls": [B]})
            assert answer.status == 200
            return super()._urls_of(due)

    Changing(IndexCheck(), SETTINGS).run(api_database)
    assert jobs_of(service, client, monitor) == []

    run(api_database)

    (job,) = jobs_of(service, client, monitor)
    (record,) = service.get(f"/indexing/jobs/{job['id']}/urls", client.api_key).json
    assert record["url"] == B
    answer_all(api_database, {})


def test_a_monitor_that_fails_keeps_no_other_from_its_time(
    service: Service, client: Payer, api_database: Database
) -> None:
    broken, sound = create(service, client, A), create(service, client, B)
    make_due(api_database, broken, timedelta(hours=1))

    class Failing(MonitorRuns):
        def _submission(self, due: Any, *more: Any) -> Any:
            if str(due.id) == broken["id"]:
                raise RuntimeError("a fault of ours")
            return super()._submission(due, *more)

    Failing(IndexCheck(), SETTINGS).run(api_database)

    assert jobs_of(service, client, broken) == []
    assert len(jobs_of(service, client, sound)) == 1
    answer_all(api_database, {})
