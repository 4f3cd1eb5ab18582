"""Upgrade: jobs of the release before end after it, also while workers of both releases run side by side.

releases/0004 has that release's life-cycle functions, and items as its API and its workers stored them.
"""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from alembic import command
from payers import Payer
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url
from workbench import LEASE, submission

from pipeline import lifecycle
from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Statement
from pipeline.jobs.job_ends import tell_ends
from pipeline.kind import as_json
from pipeline.lifecycle import Outcome
from pipeline.lifecycle.jobs import find_items, find_job
from pipeline.lifecycle.migrations import alembic_config, migrate
from pipeline.registry import lanes_of, load_kinds
from pipeline.settings import Settings

RELEASE = Path(__file__).parent / "releases" / "0004"
STORED = json.loads((RELEASE / "items.json").read_text("utf-8"))
KINDS = load_kinds(Settings())
LANES = dict.fromkeys(lanes_of(KINDS), 5)
PRICE = 3


class ReleaseBefore:
    """The life cycle as the release before calls it."""

    schema = "lifecycle_0004"

    def __init__(self, url: str) -> None:
        self.url = url
        self._connection = psycopg.connect(url, autocommit=True, row_factory=dict_row)

    def close(self) -> None:
        self._connection.close()

    def install(self) -> None:
        """Make its functions."""
        source = (RELEASE / "lifecycle.sql").read_text("utf-8").replace("lifecycle.", f"{self.schema}.")
        self._connection.execute(f"CREATE SCHEMA {self.schema};\n{source}".encode())

    def open_account(self) -> Payer:
        payer = Payer(uuid4(), uuid4(), "")
        self._connection.execute(
            f"SELECT {self.schema}.open_account(%s, 'old', 'pro', 100000, %s, 'key', 'hash', 'hint')",
            (payer.account_id, payer.api_key_id),
        )
        return payer

    def submit(self, payer: Payer, stored: dict[str, Any], *, items: int = 1) -> UUID:
        """Ask for what was stored, so many times."""
        job = uuid4()
        found = self._connection.execute(
            f"SELECT * FROM {self.schema}.submit(%s, %s, %s, %s, '/old', NULL, '{{}}', 'old', NULL, 'hash', '1 day',"
            " '1 hour', '1 hour', 10, 100000, %s, %s)",
            (job, payer.account_id, payer.api_key_id, stored["job_kind"], Jsonb([[stored["input"], PRICE]] * items),
             stored["item_kind"]),
        ).fetchone()  # fmt: skip
        assert found is not None
        assert found["outcome"] == "accepted"
        return job

    def claim(self, kinds: list[str]) -> list[dict[str, Any]]:
        lease = uuid4()
        rows = self._connection.execute(
            f"SELECT * FROM {self.schema}.claim(%s, %s, %s, %s, true, false)", (kinds, [5] * len(kinds), lease, LEASE)
        ).fetchall()
        return [{**row, "lease": str(lease)} for row in rows]

    def deliver(self, items: list[dict[str, Any]]) -> None:
        outcomes = [
            {"lease": item["lease"], "item": item["item_id"], "outcome": "done", "credits": PRICE,
             "output": {"by": "before"}, "after": 0} for item in items
        ]  # fmt: skip
        self._connection.execute(f"SELECT * FROM {self.schema}.report(%s)", (Jsonb(outcomes),))


@pytest.fixture
def before(make_database: Callable[..., str]) -> Iterator[ReleaseBefore]:
    """A database of the release before, with its functions."""
    url = make_database(template="template0")
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        command.upgrade(alembic_config(connection), "0004")
    engine.dispose()
    release = ReleaseBefore(url)
    release.install()
    yield release
    release.close()


@pytest.fixture
def database(before: ReleaseBefore) -> Iterator[Database]:
    with Database(before.url) as database:
        yield database


def upgrade(before: ReleaseBefore) -> None:
    migrate(before.url)


def deliver(database: Database, items: list[lifecycle.ClaimedItem], outputs: dict[UUID, Any]) -> None:
    outcomes = [
        Outcome(item.item_id, "done", PRICE, output=outputs.get(item.job_id, {"by": "after"})) for item in items
    ]
    database.run(lifecycle.report(items[0].lease_id, outcomes))


@pytest.mark.parametrize("stored", STORED, ids=lambda stored: stored["item_kind"])
def test_what_the_release_before_stored_is_read(stored: dict[str, Any]) -> None:
    kind = KINDS[stored["job_kind"]]

    assert as_json(kind.input.model_validate(stored["input"])) == stored["input"]
    assert holds(as_json(kind.output.model_validate(stored["output"])), stored["output"])


def holds(now: object, before: object) -> bool:
    """Return whether a document still says all that it said before; fields are only added."""
    if isinstance(before, dict) and isinstance(now, dict):
        return all(name in now and holds(now[name], value) for name, value in before.items())
    return now == before


def test_a_job_of_the_release_before_ends_after_the_upgrade(before: ReleaseBefore, database: Database) -> None:
    # Opened by the functions of the release before: those of this one are not there yet.
    payer = before.open_account()
    jobs = {before.submit(payer, stored): stored for stored in STORED}

    upgrade(before)
    outputs = {job_id: stored["output"] for job_id, stored in jobs.items()}
    while items := database.run(lifecycle.claim(LANES, lease_for=LEASE)):
        deliver(database, items, outputs)

    for job_id, stored in jobs.items():
        job = database.run(find_job(job_id))
        assert job is not None
        assert (job.state, job.kind, job.credits_captured) == ("succeeded", stored["job_kind"], PRICE)
        assert KINDS[job.kind].respond(job, database.run(find_items(job_id))).status == 200
    assert database.run(discrepancies()) == []


def test_workers_of_both_releases_share_the_work_of_both(before: ReleaseBefore, database: Database) -> None:
    payer = before.open_account()
    old = [before.submit(payer, stored, items=20) for stored in STORED]
    upgrade(before)
    new = [
        database.run(lifecycle.submit(submission(payer, [PRICE] * 20, kind=kind, lane=lane))).job_id
        for kind, lane in [("alt_text_batch", "alt_text"), ("index_check", "index_check_bing"), ("speech", None)]
    ]
    old_kinds = sorted({stored["item_kind"] for stored in STORED} | {stored["job_kind"] for stored in STORED})
    delivered: list[int] = []

    def work_as_before() -> None:
        while items := before.claim(old_kinds):
            delivered.extend(item["item_id"] for item in items)
            before.deliver(items)

    working = threading.Thread(target=work_as_before)
    working.start()
    while items := database.run(lifecycle.claim(LANES, lease_for=LEASE)):
        delivered.extend(item.item_id for item in items)
        deliver(database, items, {})
    working.join(timeout=60)

    jobs = [database.run(find_job(job_id)) for job_id in (*old, *new) if job_id is not None]
    assert [job.state for job in jobs if job] == ["succeeded"] * (len(old) + len(new))
    assert len(delivered) == len(set(delivered)) == 20 * (len(old) + len(new))
    assert database.run(discrepancies()) == []


def test_a_job_is_told_to_its_webhook_once_whichever_release_ends_it(before: ReleaseBefore, database: Database) -> None:
    payer = before.open_account()
    upgrade(before)
    url = "https://hooks.example.org/"
    jobs = [
        database.run(lifecycle.submit(submission(payer, [PRICE], kind="speech", webhook_url=url))).job_id
        for _ in range(2)
    ]

    before.deliver(before.claim(["speech"])[:1])
    database.run(Statement("UPDATE item SET state = 'ready', lease_id = NULL WHERE state = 'leased' RETURNING id"))
    deliver(database, database.run(lifecycle.claim(LANES, lease_for=LEASE)), {})
    tell_ends(database)

    query = "SELECT job_id, account_id, event, url, body::jsonb #>> '{data,state}' AS state FROM webhook_delivery"
    told = sorted(database.run(Statement(query)), key=lambda row: jobs.index(row["job_id"]))
    assert told == [
        {"job_id": job, "account_id": payer.account_id, "event": "job.completed", "url": url, "state": "succeeded"}
        for job in jobs
    ]
