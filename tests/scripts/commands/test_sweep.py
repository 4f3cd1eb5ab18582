"""`pressroom sweep` does what is due by the clock, and keeps on after a fault."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import redis
from payers import Payer
from ran import Ran
from systems import clean_environment, command
from webhook_receiver import webhook_receiver

from capabilities.index_check.monitors.monitor import add_monitor
from pipeline import lifecycle
from pipeline.accounts.keys import Caller
from pipeline.database import Database, Statement
from pipeline.lifecycle.jobs import find_job
from pipeline.operations.processes import HASH, SIGN, ProcessReporter
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store
from pipeline.wakes.broker import WakeBroker, connect
from pipeline.webhooks.accounts import NewWebhook, add_webhook
from pipeline.webhooks.deliveries import add_delivery
from scripts.commands.sweep import Sweep


def test_a_sweep_takes_items_back_and_ends_what_is_late(
    pressroom: Callable[..., Ran], submit: Callable[[], str], database: Database
) -> None:
    late, dead = submit(), submit()
    database.run(lifecycle.claim({"speech": 4}, lease_for=timedelta(seconds=-1)))
    database.run(
        Statement("UPDATE job SET deadline = now() - interval '1 s' WHERE id = %(id)s RETURNING 1", {"id": late})
    )

    said = dict(line.split() for line in pressroom("sweep").out.splitlines())

    assert (said["expired"], said["crashed"]) == ("1", "4") or (said["expired"], said["crashed"]) == ("1", "2")
    for job_id, state in ((late, "expired"), (dead, "running")):
        job = database.run(find_job(UUID(job_id)))
        assert job.state == state


def test_a_sweep_that_goes_on_counts_no_crash_of_what_was_lost_before_it(
    submit: Callable[[], str], database: Database, redis_url: str, tmp_path: Path
) -> None:
    submit()
    database.run(lifecycle.claim({"speech": 4}, lease_for=timedelta(seconds=-1)))
    settings = Settings(data=tmp_path)

    Sweep(database, WakeBroker(connect(redis_url)), Artifacts(open_store(settings)), {}, settings).step()

    rows = database.run(Statement("SELECT state, crashes FROM item"))
    assert {(row["state"], row["crashes"]) for row in rows} <= {("waiting", 0), ("ready", 0)}


def test_an_item_of_another_machine_has_crashed_only_if_that_machine_lives(
    submit: Callable[[], str], database: Database, redis_url: str, tmp_path: Path
) -> None:
    submit()
    settings = Settings(data=tmp_path)
    client = connect(redis_url)
    sweep = Sweep(database, WakeBroker(client), Artifacts(open_store(settings)), {}, settings)
    seen = []
    for lives in (False, True):
        database.run(lifecycle.claim({"speech": 4}, lease_for=timedelta(seconds=-1)))
        other = "UPDATE item SET lease_id = overlay(lease_id::text PLACING '89abcdef' FROM 29)::uuid RETURNING 1"
        database.run(Statement(other))
        if lives:
            client.set(SIGN + "89abcdef", b"", ex=60)
        done = sweep.once()
        seen.append((done["recovered"], done["crashed"]))
        database.run(Statement("UPDATE item SET state = 'ready', run_at = NULL RETURNING 1"))

    assert seen == [(2, 0), (0, 2)] or seen == [(1, 0), (0, 1)]


def test_a_sweep_that_slept_counts_no_crash_of_what_was_lost_meanwhile(
    submit: Callable[[], str], database: Database, redis_url: str, tmp_path: Path
) -> None:
    submit()
    settings = Settings(data=tmp_path)
    sweep = Sweep(database, WakeBroker(connect(redis_url)), Artifacts(open_store(settings)), {}, settings)
    sweep.step()
    database.run(lifecycle.claim({"speech": 4}, lease_for=timedelta(seconds=-1)))
    sweep._began -= timedelta(minutes=5)
    sweep._stepped -= timedelta(minutes=5)

    sweep.step()

    rows = database.run(Statement("SELECT state, crashes FROM item"))
    assert {row["crashes"] for row in rows} == {0}


def test_a_sweep_sums_what_has_come_to_the_ledger(
    sweep: Callable[[], dict[str, str]], submit: Callable[[], str], database: Database
) -> None:
    submit()
    earlier = "UPDATE credit_entry SET created_at = created_at - interval '1 h' RETURNING 1"
    database.run(Statement(earlier))

    sweep()

    (summed,) = database.run(Statement("SELECT sum(requests) AS requests FROM usage_day"))
    assert summed["requests"] == 1


def test_a_sweep_ends_a_deletion_that_broke_off_after_its_rows(
    sweep: Callable[[], dict[str, str]], submit: Callable[..., str], database: Database, payer: Payer, tmp_path: Path
) -> None:
    job_id = UUID(submit())
    database.run(lifecycle.cancel(job_id, payer.account_id))
    picture = tmp_path / "artifacts" / "2999-01-01" / str(job_id) / "0-cover.webp"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(b"x")
    while database.run(lifecycle.erase(job_id, payer.account_id)).goes_on:
        pass

    assert sweep().get("deleted", "0") == "0"  # the API may be at it
    assert picture.exists()
    database.run(Statement("UPDATE job SET deleted_at = deleted_at - interval '1 min' RETURNING 1"))
    assert sweep()["deleted"] == "1"

    assert not picture.exists()
    job = database.run(find_job(job_id))
    assert (job.state, job.deleted_at is not None) == ("cancelled", True)
    assert sweep().get("deleted", "0") == "0"


def test_a_sweep_deletes_orphans_and_passes_over_what_is_none(
    sweep: Callable[[], dict[str, str]], submit: Callable[..., str], database: Database, tmp_path: Path
) -> None:
    orphan = uuid4()
    (tmp_path / "artifacts" / "uploads" / str(orphan)).mkdir(parents=True)
    (tmp_path / "artifacts" / "uploads" / ".DS_Store").write_bytes(b"")
    os.utime(tmp_path / "artifacts" / "uploads" / str(orphan), (0, 0))
    late = submit()
    database.run(
        Statement("UPDATE job SET deadline = now() - interval '1 s' WHERE id = %(id)s RETURNING 1", {"id": late})
    )

    said = sweep()

    assert (said["expired"], said["uploads_deleted"]) == ("1", "1")
    assert not (tmp_path / "artifacts" / "uploads" / str(orphan)).exists()
    assert (tmp_path / "artifacts" / "uploads" / ".DS_Store").exists()


def test_a_sweep_deletes_what_the_kinds_keep_for_a_while(
    sweep: Callable[[], dict[str, str]], database: Database
) -> None:
    query = (
        "INSERT INTO verdict (page, provider, output, checked_at)"
        " SELECT name::bytea, 'it', '{}', now() - age"
        " FROM unnest(%(names)s::text[], %(ages)s::interval[]) AS t (name, age) RETURNING 1"
    )
    ages = [timedelta(days=8), timedelta(days=9), timedelta(days=6)]
    database.run(Statement(query, {"names": ["a", "b", "c"], "ages": ages}))

    said = sweep()

    assert said["verdicts"] == "2"
    assert [bytes(row["page"]) for row in database.run(Statement("SELECT page FROM verdict"))] == [b"c"]


def test_a_sweep_makes_the_jobs_of_monitors_and_sends_events(
    sweep: Callable[..., dict[str, str]], database: Database, payer: Payer
) -> None:
    columns = dict.fromkeys(("name", "sitemap_url", "webhook_id"))
    columns |= {"every": "day", "request": {}, "urls": ["https://e.example/"], "until_indexed": False}
    caller = Caller(payer.account_id, payer.api_key_id, "free")
    database.run(add_monitor(uuid4(), caller, columns, most=1))
    with webhook_receiver() as receiver:
        webhook = NewWebhook(payer.account_id, receiver.url)
        database.run(add_webhook(webhook))
        database.run(add_delivery(webhook.id, "{}"))

        first = sweep(PRESSROOM_FETCH__ALLOW_NETWORKS="127.0.0.0/8")
        second = sweep(PRESSROOM_FETCH__ALLOW_NETWORKS="127.0.0.0/8")

    assert [(said["monitors"], said["webhooks"]) for said in (first, second)] == [("1", "1"), ("0", "0")]
    assert [event.body for event in receiver.events] == [b"{}"]
    jobs = database.run(Statement("SELECT kind, account_id, items_total FROM job"))
    assert jobs == [{"kind": "index_check", "account_id": payer.account_id, "items_total": 1}]


def test_a_sweep_that_goes_on_for_ever_survives_a_database_without_tables(
    make_database: Callable[..., str], redis_url: str, tmp_path: Path
) -> None:
    settings = {
        "DATABASE_URL": make_database(template="template0"),
        "REDIS_URL": redis_url,
        "PRESSROOM_DATA": str(tmp_path),
        "PRESSROOM_WORK__SWEEP_SECONDS": "0.05",
    }
    with subprocess.Popen(
        command("sweep", "--forever"), env=clean_environment(extra=settings), stderr=subprocess.PIPE, text=True
    ) as sweeper:
        lines = [sweeper.stderr.readline() for _ in range(3)]
        sweeper.terminate()

    assert all("put off" in line for line in lines)


def test_functions_of_another_version_stay_while_a_process_of_it_may_run(
    sweep: Callable[..., dict[str, str]], database_url: str, redis_url: str
) -> None:
    old = "lifecycle_ba9876543210"
    with psycopg.connect(database_url) as connection:
        connection.execute(f"CREATE SCHEMA {old}; COMMENT ON SCHEMA {old} IS '2020-01-01 00:00:00+00'")
    told = json.loads(ProcessReporter(lambda: "synthesis", Settings()).tell())

    def swept(**changed: Any) -> str:
        with redis.Redis.from_url(redis_url) as client:
            client.hset(HASH, "elsewhere:1", json.dumps(told | {"told_at": time.time()} | changed))
        return sweep()["schemas_dropped"]

    assert swept(schema=None) == "0"  # an older one does not tell
    assert swept(schema=lifecycle.SCHEMA, told_at=time.time() - 600) == "1"
