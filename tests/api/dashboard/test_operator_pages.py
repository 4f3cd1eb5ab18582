"""The operators' pages: for operators alone, with true figures, and with changes that do what they say."""

import html
import json
import re
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import redis
from api_kinds import KINDS
from browser import Browser, sign_in
from http_service import Service
from manual_worker import ManualWorker, refuse
from payers import Payer, balance, open_account
from waiting import wait_for

from api.dashboard.pages.operators.queues import make_plots
from capabilities.index_check.providers import pacing
from capabilities.index_check.providers.circuit_breaker import Event, note
from pipeline import job_log
from pipeline.accounts.keys import KeyLimits, add_key, make_key, revoke_key
from pipeline.database import Database, Statement
from pipeline.offers.offers import Offer, publish_offers
from pipeline.operations.endpoints import read_stored
from pipeline.operations.metrics import TOKENS, Metrics
from pipeline.operations.model_requests import ModelRequest, ModelRequests
from pipeline.operations.processes import HASH, ProcessReporter, downloads
from pipeline.operations.samples import QueuePoint
from pipeline.registry import load_kinds
from pipeline.settings import Settings
from pipeline.wakes.broker import WakeBroker, connect
from scripts.system.mass_changing import MassChanging

BASE = "/dashboard/operators"
PAGES = ("queues", "processes", "engines", "models", "failures", "accounts")


@pytest.fixture
def operator(service: Service, api_database: Database) -> Browser:
    """A browser in which an operator is signed in."""
    return sign_in(service, api_database, open_account(api_database, name="Operator"), operator=True)


def text_of(browser: Browser, path: str) -> str:
    answer = browser.get(f"{BASE}/{path}")
    assert answer.status == 200, answer.body
    return answer.body.decode()


def words_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_only_operators_see_these_pages(service: Service, api_database: Database, client: Payer) -> None:
    anybody = sign_in(service, api_database, client)
    for path in (f"accounts/{client.account_id}", f"job-log/{uuid4()}"):  # test_dashboard has those of the navigation
        assert Browser(service).get(f"{BASE}/{path}").status == 303
        refused = anybody.get(f"{BASE}/{path}")
        assert refused.status == 403
        assert b"operators_only" in refused.body
    changes: dict[str, dict[str, str]] = {"models/captioning": {}}
    changes |= {"failures/changes": {}, "processes/scale": {}, f"accounts/{client.account_id}": {"change": "top-up"}}
    for path, form in changes.items():
        assert anybody.post(f"{BASE}/{path}", form).status == 403
    assert "Operators" not in anybody.get("/dashboard").body.decode()


def test_an_operator_asks_for_the_model_that_suits_and_sees_how_much_has_come(
    operator: Browser, api_database: Database, redis_server: str
) -> None:
    model = {"model": "small-gguf", "bytes": 1_000}
    api_database.run(publish_offers([Offer("captioning", "llama", ready=False, content={"install": model})]))
    path = f"{BASE}/models/captioning"
    # The API keeps its copy of the offers for some seconds
    wait_for(lambda: operator.get(path).json["install"] is not None, seconds=30)

    answer = operator.post(path, {})
    assert (answer.status, answer.json) == (202, {"install": {**model, "done": None}})
    with redis.Redis.from_url(redis_server) as client:
        assert ModelRequests(client).take("captioning") == ModelRequest("fetch", "small-gguf")
        told = ProcessReporter(lambda: "vision", Settings())
        downloads["small-gguf"] = (250, 1_000)
        client.hset(HASH, told.field, told.tell())
        downloads.clear()
    assert operator.get(path).json == {"install": {**model, "done": 250}}
    assert operator.get(f"{BASE}/models/synthesis").json == {"install": None}
    assert operator.post(f"{BASE}/models/synthesis", {}).status == 400


def test_a_change_needs_the_forms_token(operator: Browser, api_database: Database, client: Payer) -> None:
    forged = operator.post(
        f"{BASE}/accounts/{client.account_id}", {"change": "top-up", "credits": "5"}, token="somebody else's"
    )
    assert forged.status == 403
    assert balance(api_database, client) == 1_000


def test_the_queues_are_as_the_rows_say(operator: Browser, service: Service, client: Payer) -> None:
    def ready(queue: str) -> int:
        found = re.search(
            rf'<th scope="row" class="whole">{queue}</th>\s*<td class="number">([\d,]+)', text_of(operator, "queues")
        )
        assert found
        return int(found[1].replace(",", ""))

    before = ready("echo")
    for _ in range(2):
        service.submit({"text": "hi"}, client.api_key)

    assert ready("echo") == before + 2


def test_a_plot_has_a_gap_where_there_was_no_sample() -> None:
    now = datetime(2026, 5, 4, 12, 0, 30, tzinfo=UTC)

    def point(minutes: int, *, waited: float | None) -> QueuePoint:
        at = now.replace(second=0) - timedelta(minutes=minutes)
        return QueuePoint("synthesis", at, 3, 2, 1, 4.5, 7, 1, waited, 0.5)

    plots = make_plots([point(10, waited=1.5), point(5, waited=None)], timedelta(hours=1), now)

    rows = {plot.title: dict(plot.rows) for plot in plots}
    assert rows["Items waiting"]["11:50"] == "5"
    assert rows["Items waiting"]["11:52"] == "–"
    assert (rows["Waiting time"]["11:50"], rows["Waiting time"]["11:55"]) == ("1.5", "–")
    assert rows["Items failed"]["11:55"] == "1"
    assert all(plot.is_empty for plot in make_plots([], timedelta(hours=1), now))


def test_processes_tell_of_themselves_and_a_pool_nobody_supervises_is_not_scaled(
    operator: Browser, redis_server: str
) -> None:
    with redis.Redis.from_url(redis_server) as connection:
        connection.hset(HASH, "elsewhere:7", ProcessReporter(lambda: "synthesis <b>", Settings()).tell())

    said = words_of(text_of(operator, "processes"))
    assert "synthesis &lt;b&gt;" in said
    assert "was not started by `pressroom up`" in said
    refused = operator.post(f"{BASE}/processes/scale", {"pool": "synthesis", "processes": "2"})
    assert refused.status == 303
    assert "was not started by `pressroom up`" in words_of(text_of(operator, "processes"))
    operator.post(f"{BASE}/processes/scale", {"pool": "synthesis", "processes": "257"})
    assert "choose 0 to 256" in words_of(text_of(operator, "processes"))
    metrics = operator.get("/metrics").body.decode()
    assert 'pressroom_processes{program="synthesis <b>"} 1.0' in metrics
    assert 'pressroom_process_memory_bytes{program="synthesis <b>"}' in metrics


def test_engines_and_services_are_as_pools_have_told(operator: Browser, api_database: Database) -> None:
    fetchable = [{"model": "piper-anna", "languages": ["de"], "voices": ["anna"]}]
    content = {"fetchable": fetchable, "voices": [{}, {}], "models": ["piper-bert"]}
    api_database.run(
        publish_offers(
            [
                Offer("made_up_family", "one", ready=True, content=content),
                Offer("made_up_family", "other", ready=False, needs="a <key> of yours", place=1),
            ]
        )
    )
    api_database.run(pacing.add_providers(["well:1", "blocked:2"]))
    api_database.run(note("well:1", Event.ANSWERED, Settings().search))
    api_database.run(note("blocked:2", Event.BLOCKED, Settings().search, reason="captcha"))

    said = words_of(text_of(operator, "engines"))

    assert "one ready 2 voices piper-bert pressroom models fetch piper-anna" in said
    assert "other not ready a &lt;key&gt; of yours" in said
    assert said.count("well 1 ready") == 1
    assert "blocked 2 open" in said
    assert "asked for a captcha" in said


def change_jobs(service: Service, database: Database, redis_url: str, operator: Browser, **form: str) -> str:
    """Have all jobs changed that match, and return what the page says then."""
    operator.post(f"{BASE}/failures/changes", form)
    broker = WakeBroker(connect(redis_url))
    changing = MassChanging(database, broker, load_kinds(Settings(kinds=KINDS)), Settings(), lambda job_id: None)
    while changing.work():
        pass
    return words_of(text_of(operator, "failures?period=hour"))


def test_a_group_of_failures_is_tried_again_once(
    operator: Browser,
    service: Service,
    api_database: Database,
    redis_server: str,
    manual_worker: ManualWorker,
    client: Payer,
) -> None:
    failed = [service.submit({"text": "hi"}, client.api_key) for _ in range(2)]
    for _ in failed:
        manual_worker.work(refuse)
    group = {
        "change": "retry",
        "kind": "echo",
        "code": "cannot_be_done",
        "hours": "1.0",
        "account": str(client.account_id),
    }

    page = text_of(operator, "failures?period=hour")
    told = change_jobs(service, api_database, redis_server, operator, **group)
    again = change_jobs(service, api_database, redis_server, operator, **group)

    assert "cannot_be_done" in page
    assert "It can&#39;t be done." in page
    assert "Retry echo, failed or partial or expired, cannot_be_done" in told
    assert "2 retried_before" in again
    jobs = service.get("/jobs", client.api_key).json
    assert len(jobs) == 4
    assert balance(api_database, client) == 1_000 - 2 * 3
    assert {job["state"] for job in jobs if job["id"] not in failed} == {"queued"}

    cancelled = change_jobs(
        service, api_database, redis_server, operator, change="cancel", account=str(client.account_id)
    )

    assert "Cancel all kinds, queued or running" in cancelled
    assert balance(api_database, client) == 1_000
    assert {job["state"] for job in service.get("/jobs", client.api_key).json} == {"failed", "cancelled"}
    assert "is for jobs that are" in change_jobs(
        service, api_database, redis_server, operator, change="cancel", state="succeeded"
    )


def test_a_change_of_many_jobs_is_stopped(operator: Browser, client: Payer) -> None:
    path = f"{BASE}/failures/changes"
    for name in ("account", "hours"):
        operator.post(path, {"change": "cancel", name: "many"})
        assert "&#39;many&#39; is not a" in text_of(operator, "failures")
    operator.post(path, {"change": "cancel", "account": str(client.account_id)})
    row = text_of(operator, "failures").partition(str(client.account_id))[2].partition("</tr>")[0]
    (change_id,) = re.findall(r'name="id" value="([^"]+)"', row)
    assert operator.post(path, {"change": "stop", "id": change_id}).status == 303
    assert "It is stopped." in text_of(operator, "failures")
    assert operator.post(path, {"change": "stop", "id": change_id}).status == 303
    assert "ended already" in text_of(operator, "failures")


def test_what_is_asked_again_is_paid_by_no_key_that_is_for_other_routes(
    operator: Browser,
    service: Service,
    api_database: Database,
    redis_server: str,
    manual_worker: ManualWorker,
    client: Payer,
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    manual_worker.work(refuse)
    other = make_key()
    api_database.run(add_key(client.account_id, other, "other", KeyLimits(routes=("/many",))))
    api_database.run(revoke_key(client.api_key_id))

    form = {"change": "retry", "account": str(client.account_id)}
    assert "1 no_valid_key" in change_jobs(service, api_database, redis_server, operator, **form)

    query = "SELECT id FROM job WHERE account_id = %(account)s"
    assert [str(row["id"]) for row in api_database.run(Statement(query, {"account": client.account_id}))] == [job_id]
    assert balance(api_database, client) == 1_000


def test_the_log_of_a_job_is_shown_without_a_line_of_others(
    operator: Browser, service: Service, redis_server: str, client: Payer
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    with redis.Redis.from_url(redis_server) as connection:
        for named, event in ((job_id, "run <i>started</i>"), (str(uuid4()), "not ours")):
            line = f'{{"job_id":"{named}","event":"{event}","level":"info","timestamp":"2026-05-04T12:00:00Z"}}'
            connection.xadd(job_log.STREAM, {"line": line})

    page = text_of(operator, f"job-log/{job_id}")

    assert "run &lt;i&gt;started" in page
    assert "not ours" not in page
    assert operator.get(f"{BASE}/job-log?job={job_id}").headers["location"] == f"{BASE}/job-log/{job_id}"
    assert operator.get(f"{BASE}/job-log/{uuid4()}").status == 404
    assert operator.get(f"{BASE}/job-log?job=nonsense").status == 404


def test_an_account_gets_credits_and_gives_them_back_with_a_note(
    operator: Browser, api_database: Database, client: Payer
) -> None:
    path = f"{BASE}/accounts/{client.account_id}"

    def change(credits: str, note: str = "") -> str:
        assert operator.post(path, {"change": "top-up", "credits": credits, "note": note}).status == 303
        return words_of(text_of(operator, f"accounts/{client.account_id}"))

    assert "The balance is now 2,500 credits." in change("1,500", "invoice <7>")
    assert "invoice &lt;7&gt;" in words_of(text_of(operator, f"accounts/{client.account_id}"))
    assert "fewer than 9,999 credits to take back" in change("-9999")
    for wrong in ("0", "1.5", "1,5", "many", "9" * 30, ""):
        assert "is not a number of credits" in change(wrong)
    assert balance(api_database, client) == 2_500


def test_an_account_is_put_into_another_tier_and_suspended(
    operator: Browser, service: Service, api_database: Database
) -> None:
    payer = open_account(api_database, name="Rogue <b>")
    theirs = sign_in(service, api_database, payer)
    path = f"{BASE}/accounts/{payer.account_id}"

    assert operator.post(path, {"change": "tier", "tier": "free"}).status == 303
    assert operator.post(path, {"change": "suspend"}).status == 303
    refused = service.post("/echo", {"text": "hi"}, payer.api_key)
    listed = words_of(text_of(operator, "accounts?search=rogue"))

    assert (refused.status, refused.code) == (403, "account_suspended")
    assert theirs.get("/dashboard").status == 303
    assert "Rogue &lt;b&gt; suspended" in listed
    assert "free" in listed
    assert operator.post(path, {"change": "resume"}).status == 303
    assert "suspended" not in words_of(text_of(operator, "accounts?search=rogue"))
    assert operator.post(path, {"change": "invite"}).status == 200
    log = sign_in(service, api_database, payer).get("/dashboard/people/log?action=account+changed").body.decode()
    assert re.findall(r'class="what">([^<]+)<', log) == ["sign-in link", "resumed", "suspended", "tier free"]
    assert operator.get(f"{BASE}/accounts/{uuid4()}").status == 404
    assert operator.get(f"{BASE}/accounts/x").status == 404


def test_nobody_suspends_the_own_account(service: Service, api_database: Database) -> None:
    payer = open_account(api_database)
    own = sign_in(service, api_database, payer, operator=True)

    own.post(f"{BASE}/accounts/{payer.account_id}", {"change": "suspend"})

    assert "your own account" in words_of(text_of(own, f"accounts/{payer.account_id}"))
    assert service.get("/jobs", payer.api_key).status == 200


def test_accounts_come_page_by_page_and_are_found_by_name_and_id(operator: Browser, api_database: Database) -> None:
    payer = open_account(api_database, name="Needle 100%")
    for _ in range(50):
        open_account(api_database, name="Hay")

    assert "Needle" not in text_of(operator, "accounts")
    assert "Needle" in text_of(operator, "accounts?offset=50")
    assert "Needle" in text_of(operator, "accounts?search=needle+100%25")
    assert "Needle" in text_of(operator, f"accounts?search={str(payer.account_id)[:13]}")
    assert "No matching accounts" in text_of(operator, "accounts?search=%25%25")
    cleared = operator.get(f"{BASE}/accounts?search=+")
    assert (cleared.status, cleared.headers["location"]) == (303, f"{BASE}/accounts")


def test_pages_answer_while_redis_is_away(service_without_redis: Service, api_database: Database) -> None:
    payer = open_account(api_database)
    browser = sign_in(service_without_redis, api_database, payer, operator=True)
    for path in PAGES:
        assert browser.get(f"{BASE}/{path}").status == 200
    assert "Redis does not answer" in text_of(browser, "processes")


@pytest.mark.parametrize("scope", ["queue", "kind", "provider", "account"])
def test_something_is_paused_seen_on_every_page_and_resumed(
    operator: Browser, service: Service, api_database: Database, client: Payer, scope: str
) -> None:
    api_database.run(pacing.add_providers(["bing:1"]))
    name = {"queue": "synthesis", "kind": "speech", "provider": "bing"}.get(scope, str(client.account_id))
    form = {"scope": scope, "name": name, "back": f"{BASE}/engines"}

    paused = operator.post(f"{BASE}/pauses", {**form, "change": "pause", "reason": "<b>repairs"})

    assert paused.headers["location"] == f"{BASE}/engines"
    assert f"Paused: {scope}" in words_of(text_of(operator, "accounts"))
    assert "&lt;b&gt;repairs" in text_of(operator, "queues")
    label = "" if scope == "account" else name  # nobody reads ids of accounts there
    assert f'pressroom_paused{{name="{label}",scope="{scope}"}} 1.0' in service.get("/metrics").body.decode()

    operator.post(f"{BASE}/pauses", {**form, "change": "resume", "back": "https://elsewhere.example"})

    assert "Paused:" not in text_of(operator, "queues")
    assert "pressroom_paused{" not in service.get("/metrics").body.decode()
    refused = operator.post(f"{BASE}/pauses", {**form, "change": "pause", "name": "nonsense"})
    assert refused.status == 303
    assert "Paused:" not in text_of(operator, "queues")


def test_a_machine_short_of_disk_is_named_to_operators_alone(
    operator: Browser, service: Service, api_database: Database, client: Payer, redis_server: str
) -> None:
    told = json.loads(ProcessReporter(lambda: "vision", Settings()).tell()) | {"host": "attic", "free_bytes": 5_000_000}
    with redis.Redis.from_url(redis_server) as connection:
        connection.hset(HASH, "attic:7", json.dumps(told))
        operator.post(f"{BASE}/pauses", {"change": "resume", "scope": "queue", "name": "vision"})  # reads anew
        page = text_of(operator, "queues")
        anybody = sign_in(service, api_database, client).get("/dashboard").body.decode()
        connection.hdel(HASH, "attic:7")

    assert "The disk of attic is nearly full: 5 MB are left." in page
    assert "attic" not in anybody


def test_an_endpoint_is_added_tried_and_removed_and_its_key_never_shown(
    operator: Browser, service: Service, api_database: Database, client: Payer, redis_server: str
) -> None:
    key, path = f"sk-{uuid4()}", f"{BASE}/endpoints"
    form = {"change": "add", "name": "attic", "url": "http://user:pw@10.0.0.7:11434/v1", "key": key, "captions": "eyes"}
    assert sign_in(service, api_database, client).post(path, form).status == 403

    def change(**fields: str) -> str:
        operator.post(path, {**form, **fields})
        return words_of(text_of(operator, "engines"))

    assert "has to begin with http" in change()
    assert "begin with http" in change(url="file:///etc/passwd")
    assert "begin with http" in change(url="http://[attic/v1")
    assert "is not a valid name" in change(url="http://10.0.0.7:11434/v1", name="Attic!")
    assert "at least one use" in change(url="http://10.0.0.7:11434/v1", captions="")
    added = change(url="http://10.0.0.7:11434/v1")
    assert "attic is added." in added
    assert "Pictures to 10.0.0.7:11434" in added
    counted = Metrics()
    counted.count(TOKENS, 1_200, engine="attic", use="prompt")
    with connect(redis_server) as connection:
        counted.flush(connection)
    assert "1,200 / 0" in words_of(text_of(operator, "engines"))
    assert "There is an endpoint attic already." in change(url="http://10.0.0.8/v1")
    (row,) = api_database.run(read_stored())
    assert row.sealed_key is not None
    assert key.encode() not in row.sealed_key
    assert "key" not in row.settings
    assert "Each pool asks attic now" in change(change="try")
    assert operator.post(f"{BASE}/pauses", {"change": "pause", "scope": "provider", "name": "attic"}).status == 303
    assert "Paused: provider attic" in words_of(text_of(operator, "queues"))
    operator.post(f"{BASE}/pauses", {"change": "resume", "scope": "provider", "name": "attic"})

    removed = change(change="remove")

    assert "attic and its key are removed." in removed
    assert api_database.run(read_stored()) == []
    assert "No endpoint 'attic'" in html.unescape(change(change="remove"))
    assert key not in service.log.read_text()


def test_an_account_is_made_and_its_owner_signs_in_by_the_link_once(
    operator: Browser, service: Service, api_database: Database
) -> None:
    name, email = f"Press <{uuid4()}>", f"{uuid4()}@example.org"
    form = {"name": name, "email": email, "tier": "pro", "credits": "1,500"}

    page = operator.post(f"{BASE}/accounts", form).body.decode()
    (link,) = set(re.findall(r"http://[^\s\"<]+/dashboard/sign-in/link\?token=[\w-]+", page))
    again = operator.post(f"{BASE}/accounts", form)
    owner = Browser(service)
    token = link.partition("token=")[2]
    shown = owner.get(f"/dashboard/sign-in/link?token={token}").body.decode()
    csrf = re.search(r'name="csrf_token" value="([^"]+)"', shown)
    assert csrf
    signed_in = owner.post("/dashboard/sign-in/link", {"token": token}, token=csrf[1])

    assert html.escape(name) in page
    assert again.status == 303
    assert "Another person has the e-mail" in words_of(text_of(operator, "accounts"))
    assert signed_in.headers["location"] == "/dashboard/account"
    assert "1,500" in owner.get("/dashboard").body.decode()
    assert token not in text_of(operator, "accounts")
    assert token not in service.log.read_text()
    query = "SELECT a.id, a.tier FROM account a JOIN person p ON p.id = a.id WHERE p.email = %(email)s"
    (row,) = api_database.run(Statement(query, {"email": email}))
    assert row["tier"] == "pro"
    invited = operator.post(f"{BASE}/accounts/{row['id']}", {"change": "invite"}).body.decode()
    assert "sign-in/link?token=" in invited
    assert "Keys 0" in words_of(invited)  # beside the browser's own, which nobody sees
    for wrong in ({"name": ""}, {"tier": "gold"}, {"credits": "-5"}, {"credits": "many"}, {"email": "nobody"}):
        assert operator.post(f"{BASE}/accounts", {**form, "email": f"{uuid4()}@x.example", **wrong}).status == 303


def test_models_are_fetched_and_removed_with_size_progress_and_fault(
    operator: Browser, api_database: Database, redis_server: str
) -> None:
    stock = [
        {"model": name, "bytes": size, "gives": f"voice {name}", "licence": "MIT", "is_here": is_here,
         "is_removable": is_here, "fault": None if is_here else "the hub <b>is away"}
        for name, size, is_here in (("alba", 63_000_000, True), ("zora", 1_700_000_000, False))
    ]  # fmt: skip
    for family in ("synthesis", "transcription"):
        api_database.run(publish_offers([Offer(family, "piper", ready=True, content={"stock": stock})]))

    page = text_of(operator, "models")
    assert "63 MB" in page
    assert "the hub &lt;b&gt;is away" in page
    assert "synthesis (piper), transcription (piper)" in page

    with redis.Redis.from_url(redis_server) as client:
        for change, model in (("fetch", "zora"), ("remove", "alba"), ("remove", "nothing"), ("burn", "alba")):
            assert operator.post(f"{BASE}/models", {"change": change, "model": model}).status == 303
        requests = ModelRequests(client)
        found = [requests.take("synthesis") for _ in range(3)]
        assert found == [ModelRequest("fetch", "zora"), ModelRequest("remove", "alba"), None]
        told = ProcessReporter(lambda: "synthesis", Settings())
        downloads["zora"] = (425_000_000, 1_700_000_000)
        client.hset(HASH, told.field, told.tell())
        downloads.clear()
    assert "425 MB" in text_of(operator, "models")
