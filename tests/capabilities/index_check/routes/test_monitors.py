"""Index checks by the clock: when they are made, who pays, what counts as a change, and who is told of it."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from http_service import Service, Start
from index_monitors import SETTINGS, A, B, C, Monitors
from payers import Payer, discrepancies_of, open_account
from web_server import web_server
from webhook_receiver import webhook_receiver

from capabilities.index_check.kinds.index_check import IndexCheck
from capabilities.index_check.monitors.running import MonitorRuns
from pipeline.accounts.keys import KeyLimits, add_key, make_key, revoke_key
from pipeline.database import Database, Statement
from pipeline.lifecycle import grant_credits
from pipeline.offers.offers import Offer, publish_offers
from pipeline.webhooks.events import sign
from workers.webhooks.sending import WebhookSending


def test_a_monitor_is_made_listed_and_shown(monitors: Monitors) -> None:
    first = monitors.create(A, B, A, name="Shop", index="bing")
    answer = monitors.send(
        "POST", "", key=None, document={"urls": [C], "every": "week", "api_key": monitors.client.api_key}
    )

    assert answer.status == 201
    assert answer.headers["location"] == f"/indexing/monitors/{answer.json['id']}"
    assert monitors.read(first) == first
    shown = [first[name] for name in ("name", "state", "every", "engine", "index", "total_urls", "last_job_id")]
    assert shown == ["Shop", "active", "day", None, "bing", 2, None]
    assert "webhook_secret" not in first
    listed = monitors.send("GET", "?limit=1")
    assert [one["id"] for one in listed.json] == [answer.json["id"]]
    assert listed.headers["x-total-count"] == "2"
    assert monitors.send("HEAD", "").headers["x-total-count"] == "2"


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
def test_what_is_no_monitor_is_refused(monitors: Monitors, body: object, code: str) -> None:
    answer = monitors.send("POST", "", body)

    assert (answer.status, answer.code) == (400, code)


def test_a_monitor_belongs_to_its_account(monitors: Monitors) -> None:
    monitor = monitors.create(A)
    stranger = open_account(monitors.database)

    for method, path in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("GET", "/changes")):
        answer = monitors.send(method, f"/{monitor['id']}{path}", key=stranger.api_key)
        assert (answer.status, answer.code) == (404, "monitor_not_found")
        assert monitors.send(method, f"/{monitor['id']}{path}", key=None).status == 401
    assert monitors.send("GET", "/nonsense").code == "monitor_not_found"
    assert monitors.send("GET", "", key=stranger.api_key).json == []


def test_an_account_has_as_many_monitors_as_it_may_have(start: Start, client: Payer, api_database: Database) -> None:
    with start(LIMITS__INDEX_MONITORS="2") as service:
        monitors = Monitors(service, client, api_database)
        body = {"urls": [A], "every": "day", "webhook_url": "https://hook.example/"}
        with ThreadPoolExecutor(6) as threads:
            made = list(threads.map(lambda _: monitors.send("POST", "", body), range(6)))

        assert sorted(answer.status for answer in made) == [201, 201, 409, 409, 409, 409]
        assert {answer.code for answer in made if answer.status == 409} == {"too_many_monitors"}
        hooks = Statement("SELECT count(*) AS n FROM webhook WHERE account_id = %(id)s", {"id": client.account_id})
        assert api_database.run(hooks) == [{"n": 2}]
        finished = next(answer.json for answer in made if answer.status == 201)
        finish = "UPDATE index_monitor SET state = 'paused', finished_at = now() WHERE id = %(id)s RETURNING id"
        api_database.run(Statement(finish, {"id": finished["id"]}))
        monitors.create(A)
        assert monitors.send("PATCH", f"/{finished['id']}", {"state": "active"}).code == "too_many_monitors"


def test_the_first_job_is_made_at_once_paid_by_the_account_and_asks_anew(monitors: Monitors) -> None:
    monitor = monitors.create(A, B, name="Shop")
    before = datetime.now(UTC)

    monitors.run()

    (job,) = monitors.jobs(monitor)
    assert (job["kind"], job["credits"]["held"]) == ("index_check", 2)
    shown = monitors.read(monitor)
    assert shown["last_job_id"] == job["id"]
    assert timedelta(hours=23) < datetime.fromisoformat(shown["next_at"]) - before < timedelta(hours=25)
    rows = Statement("SELECT input FROM item WHERE job_id = %(id)s ORDER BY index", {"id": job["id"]})
    assert [(row["input"]["url"], row["input"]["fresh"]) for row in monitors.database.run(rows)] == [
        (A, True),
        (B, True),
    ]
    monitors.answer({A: True, B: None})
    usage = monitors.service.get("/usage", monitors.client.api_key).json
    assert (usage["total_credits_used"], usage["credits_held"]) == (1, 0)
    shown = monitors.service.get(f"/indexing/jobs/{job['id']}", monitors.client.api_key).json
    assert (shown["status"], shown["name"]) == ("complete", "Shop")


def test_what_is_newly_indexed_and_what_was_dropped_is_listed_newest_first(monitors: Monitors) -> None:
    monitor = monitors.create(A, B, C)

    monitors.check_again(monitor, {A: True, B: False, C: False})
    assert monitors.changes(monitor) == []  # nobody knows what was before
    monitors.check_again(monitor, {A: False, B: True, C: False})
    monitors.check_again(monitor, {A: False, B: True, C: True})

    assert monitors.changes(monitor) == [("newly_indexed", C), ("newly_indexed", B), ("dropped", A)]
    newest = monitors.read(monitor, "/changes?limit=1")[0]
    assert newest["job_id"] == monitors.read(monitor)["last_job_id"]
    assert (newest["index"], newest["provider"], newest["proof_url"]) == ("bing", "bing_api", "https://proof.example/")
    assert newest["before_at"] < newest["checked_at"]
    dropped = monitors.read(monitor, "/changes?change=dropped")
    assert [(one["url"], one["proof_url"]) for one in dropped] == [(A, None)]
    assert monitors.send("GET", f"/{monitor['id']}/changes?change=x").code == "parameter_invalid"


def test_errors_are_no_changes_and_what_was_known_stays_known(monitors: Monitors) -> None:
    monitor = monitors.create(A, B, C)

    monitors.check_again(monitor, {A: True, B: False, C: None})
    monitors.check_again(monitor, {A: None, B: None, C: None})
    monitors.check_again(monitor, {A: True, B: False, C: True})
    assert monitors.changes(monitor) == []
    monitors.check_again(monitor, {A: None, B: True, C: None})
    monitors.check_again(monitor, {A: False, B: True, C: True})

    assert monitors.changes(monitor) == [("dropped", A), ("newly_indexed", B)]


def test_what_another_index_says_is_no_change(monitors: Monitors) -> None:
    monitor = monitors.create(A)

    monitors.check_again(monitor, {A: True}, index="google")
    monitors.check_again(monitor, {A: False}, index="bing")
    monitors.check_again(monitor, {A: True}, index="google")
    assert monitors.changes(monitor) == []
    monitors.check_again(monitor, {A: True}, index="bing")

    assert [(one["change"], one["index"]) for one in monitors.read(monitor, "/changes")] == [("newly_indexed", "bing")]


def test_many_sweeps_make_one_job(monitors: Monitors, api_database_url: str) -> None:
    made = [monitors.create(A) for _ in range(3)]
    sweeps = 4
    for round_number in range(1, 4):
        barrier = threading.Barrier(sweeps)

        def sweep(barrier: threading.Barrier = barrier) -> None:
            with Database(api_database_url) as database:
                database.run(Statement("SELECT 1"))
                barrier.wait(60)
                MonitorRuns(IndexCheck(), SETTINGS).run(database)
                MonitorRuns(IndexCheck(), SETTINGS).run(database)

        with ThreadPoolExecutor(sweeps) as threads:
            for swept in [threads.submit(sweep) for _ in range(sweeps)]:
                swept.result()

        for monitor in made:
            assert len(monitors.jobs(monitor)) == round_number
            # By now the answers of the round before were looked at, once.
            assert len(monitors.read(monitor, "/changes")) == max(0, round_number - 2)
            monitors.make_due(monitor)
        monitors.answer({A: round_number % 2 == 0})
    assert discrepancies_of(monitors.database, monitors.client) == []


def test_what_was_missed_is_made_up_for_once_and_the_clock_goes_on_as_it_did(monitors: Monitors) -> None:
    monitor = monitors.create(A)
    monitors.make_due(monitor, timedelta(days=10, hours=3))
    due = datetime.fromisoformat(monitors.read(monitor)["next_at"])

    monitors.run()
    monitors.run()

    assert len(monitors.jobs(monitor)) == 1
    following = datetime.fromisoformat(monitors.read(monitor)["next_at"])
    assert following - due == timedelta(days=11)


def test_a_run_that_nobody_can_pay_for_is_skipped(service: Service, api_database: Database) -> None:
    poor = open_account(api_database, credits=1)
    monitors = Monitors(service, poor, api_database)
    monitor = monitors.create(A, B)

    monitors.run()

    shown = monitors.read(monitor)
    assert monitors.jobs(monitor) == []
    assert shown["skipped"]["code"] == "insufficient_credits"
    assert "needs 2 credits; the balance is 1" in shown["skipped"]["message"]
    assert shown["last_run_at"] is None
    assert monitors.run() == 0  # not before the next time
    api_database.run(grant_credits(poor.account_id, 1))
    monitors.run_when_due(monitor)
    assert len(monitors.jobs(monitor)) == 1
    assert monitors.read(monitor)["skipped"] is None


def test_a_job_that_still_runs_has_no_second_beside_it(monitors: Monitors) -> None:
    monitor = monitors.create(A)
    monitors.run()
    monitors.run_when_due(monitor)

    assert len(monitors.jobs(monitor)) == 1
    assert monitors.read(monitor)["skipped"]["code"] == "still_running"
    monitors.answer({})
    monitors.run_when_due(monitor)
    assert len(monitors.jobs(monitor)) == 2


def test_a_key_that_is_revoked_leaves_the_account_s_other_keys_to_pay(monitors: Monitors) -> None:
    monitor = monitors.create(A)
    key = make_key()
    monitors.database.run(add_key(monitors.client.account_id, key, "other"))
    monitors.database.run(revoke_key(monitors.client.api_key_id))
    monitors.run()
    monitors.answer({})
    other = Payer(monitors.client.account_id, key.id, key.secret)
    (job,) = Monitors(monitors.service, other, monitors.database).jobs(monitor)
    paid = Statement("SELECT api_key_id FROM job WHERE id = %(id)s", {"id": job["id"]})
    assert monitors.database.run(paid) == [{"api_key_id": key.id}]

    # One with limits is for its own use.
    monitors.database.run(add_key(monitors.client.account_id, make_key(), "limited", KeyLimits(routes=("/tts",))))
    monitors.database.run(revoke_key(key.id))
    monitors.run_when_due(monitor)

    assert monitors.skipped(monitor) == "unauthorized"


def test_a_monitor_pauses_by_itself_once_every_url_is_indexed(monitors: Monitors) -> None:
    monitor = monitors.create(A, B, until_indexed=True, diagnose=True)

    monitors.check_again(monitor, {A: True, B: None})  # no answer is not enough
    assert (monitors.read(monitor)["state"], monitors.read(monitor)["finished_at"]) == ("active", None)
    monitors.check_again(monitor, {A: True, B: True})
    ended = monitors.read(monitor)
    assert (ended["state"], ended["next_at"], ended["diagnose"]) == ("paused", None, True)
    assert ended["finished_at"] is not None
    assert monitors.patch(monitor, state="active", until_indexed=False)["finished_at"] is None
    monitors.check_again(monitor, {A: True, B: True})
    assert monitors.read(monitor)["state"] == "active"


def test_a_monitor_rests_while_it_is_paused(monitors: Monitors) -> None:
    monitor = monitors.create(A)
    paused = monitors.patch(monitor, state="paused")

    assert (paused["state"], paused["next_at"]) == ("paused", None)
    assert monitors.run() == 0
    sent = {"state": "active", "api_key": monitors.client.api_key}
    active = monitors.send("PATCH", f"/{monitor['id']}", sent, key=None).json
    assert active["next_at"] is not None
    assert monitors.run() == 1


def test_what_is_sent_is_changed_and_all_else_stays(monitors: Monitors) -> None:
    monitor = monitors.create(A, name="Shop", every="week", engine="bing")
    monitors.run()
    monitors.answer({A: True}, lane="index_check_bing")

    weekly = monitors.read(monitor)
    daily = monitors.patch(monitor, every="day")
    assert datetime.fromisoformat(weekly["next_at"]) - datetime.fromisoformat(daily["next_at"]) > timedelta(days=5)
    changed = monitors.patch(monitor, urls=[A, B], engine=None, name=None)
    assert [changed[name] for name in ("name", "engine", "total_urls", "every")] == [None, None, 2, "day"]
    for wrong, code in (({"urls": [A], "sitemap_url": A}, "urls_or_sitemap"), ({"engine": "x"}, "engine_unknown")):
        assert monitors.send("PATCH", f"/{monitor['id']}", wrong).code == code
    # Null removes no field that a monitor needs.
    assert monitors.patch(monitor, every=None, state=None, urls=None, sitemap_url=None) == changed
    # Answers about a URL are kept.
    monitors.check_again(monitor, {A: False, B: True})
    assert monitors.changes(monitor) == [("dropped", A)]


def test_a_monitor_without_its_engine_makes_no_job(monitors: Monitors, start: Start) -> None:
    monitor = monitors.create(A, engine="bing")
    monitors.database.run(publish_offers([Offer("search", "duckduckgo", ready=True)]))
    try:
        monitors.run()
        with start() as other:  # which has read no offers yet
            fresh = Monitors(other, monitors.client, monitors.database)
            assert fresh.jobs(monitor) == []
            assert fresh.skipped(monitor) == "engine_unknown"
            paused = fresh.send("PATCH", f"/{monitor['id']}", {"state": "paused"})
            assert (paused.status, paused.json["state"]) == (200, "paused")
            refused = fresh.send("PATCH", f"/{monitor['id']}", {"urls": [B]})
            assert refused.code == "engine_unknown"
    finally:
        monitors.database.run(Statement("DELETE FROM offer WHERE engine = 'duckduckgo' RETURNING 1 AS gone"))


def test_a_deleted_monitor_makes_no_more_jobs_and_its_last_one_ends(monitors: Monitors) -> None:
    monitor = monitors.create(A, webhook_url="https://hook.example/")
    monitors.run()

    assert monitors.send("DELETE", f"/{monitor['id']}").status == 204

    assert monitors.send("GET", f"/{monitor['id']}").status == 404
    monitors.answer({A: True})
    assert monitors.run() == 0
    (job,) = monitors.jobs(monitor)
    assert job["state"] == "succeeded"
    hooks = Statement("SELECT count(*) AS n FROM webhook WHERE account_id = %(id)s", {"id": monitors.client.account_id})
    assert monitors.database.run(hooks) == [{"n": 0}]


def test_a_webhook_is_told_what_has_changed(open_service: Service, client: Payer, api_database: Database) -> None:
    monitors = Monitors(open_service, client, api_database)
    with webhook_receiver() as receiver:
        monitor = monitors.create(A, B, C, name="Shop", webhook_url=receiver.url)
        secret = monitor["webhook_secret"]
        assert "webhook_secret" not in monitors.read(monitor)
        monitors.check_again(monitor, {A: True, B: False, C: False})
        monitors.check_again(monitor, {A: True, B: None, C: False})
        WebhookSending(SETTINGS).send_due(api_database)
        assert receiver.events == []

        monitors.check_again(monitor, {A: False, B: True, C: False})
        WebhookSending(SETTINGS).send_due(api_database)

        (event,) = receiver.events
    body = event.body.decode()
    seconds, message_id = int(event.headers["webhook-timestamp"]), event.headers["webhook-id"]
    assert event.headers["webhook-signature"] == sign(secret, message_id, seconds, body)
    told = json.loads(body)
    shown = monitors.read(monitor)
    assert told["type"] == "index_monitor.changed"
    data = told["data"]
    assert (data["monitor_id"], data["monitor_name"], data["job_id"]) == (monitor["id"], "Shop", shown["last_job_id"])
    assert (data["newly_indexed"], data["dropped"], data["all_listed"]) == (1, 1, True)
    listed = monitors.read(monitor, "/changes")
    assert data["changes"] == [
        {name: value for name, value in one.items() if name not in {"id", "job_id"}} for one in reversed(listed)
    ]
    assert (shown["last_delivery"]["state"], shown["last_delivery"]["status"]) == ("delivered", 204)
    assert shown["last_delivery"]["next_at"] is None


def test_a_webhook_comes_goes_and_moves(monitors: Monitors) -> None:
    monitor = monitors.create(A)

    made = monitors.patch(monitor, webhook_url="https://one.example/")
    moved = monitors.patch(monitor, webhook_url="https://two.example/")
    assert made["webhook_secret"].startswith("whsec_")
    assert moved["webhook_url"] == "https://two.example/"
    assert "webhook_secret" not in moved
    monitors.check_again(monitor, {A: True})
    monitors.check_again(monitor, {A: False})
    assert monitors.read(monitor)["last_delivery"]["state"] == "pending"
    gone = monitors.patch(monitor, webhook_url=None)
    assert (gone["webhook_url"], gone["last_delivery"]) == (None, None)
    assert WebhookSending(SETTINGS).send_due(monitors.database) == 0


def test_a_sitemap_is_read_before_each_check(open_service: Service, client: Payer, api_database: Database) -> None:
    monitors = Monitors(open_service, client, api_database)
    with web_server() as site:

        def list_pages(*pages: str) -> str:
            return site.serve("/sitemap.xml", "\n".join(pages).encode())

        url = list_pages(A, B)
        answer = monitors.send("POST", "", {"sitemap_url": url, "every": "day"})
        monitor = answer.json
        assert (answer.status, monitor["total_urls"], monitor["sitemap_url"]) == (201, None, url)

        monitors.check_again(monitor, {A: True, B: True})
        list_pages(A, C)
        monitors.check_again(monitor, {A: False, B: False, C: True})

        assert monitors.read(monitor)["total_urls"] == 2
        assert monitors.changes(monitor) == [("dropped", A)]  # B is not asked for, and C was never known
        site.fail("/sitemap.xml", 404)
        monitors.run_when_due(monitor)
    skipped = monitors.read(monitor)["skipped"]
    assert (skipped["code"], "HTTP 404" in skipped["message"]) == ("sitemap_unreachable", True)


def test_a_change_of_a_monitor_while_its_run_is_made_has_it_made_anew(monitors: Monitors) -> None:
    monitor = monitors.create(A)

    class Changing(MonitorRuns):
        def _urls_of(self, due: Any) -> Any:
            answer = monitors.send("PATCH", f"/{monitor['id']}", {"urls": [B]})
            assert answer.status == 200
            return super()._urls_of(due)

    Changing(IndexCheck(), SETTINGS).run(monitors.database)
    assert monitors.jobs(monitor) == []

    monitors.run()

    (job,) = monitors.jobs(monitor)
    (record,) = monitors.service.get(f"/indexing/jobs/{job['id']}/urls", monitors.client.api_key).json
    assert record["url"] == B


def test_a_monitor_that_fails_keeps_no_other_from_its_time(monitors: Monitors) -> None:
    broken, sound = monitors.create(A), monitors.create(B)
    monitors.make_due(broken, timedelta(hours=1))

    class Failing(MonitorRuns):
        def _submission(self, due: Any, *more: Any) -> Any:
            if str(due.id) == broken["id"]:
                raise RuntimeError("a fault of ours")
            return super()._submission(due, *more)

    Failing(IndexCheck(), SETTINGS).run(monitors.database)

    assert monitors.jobs(broken) == []
    assert len(monitors.jobs(sound)) == 1
