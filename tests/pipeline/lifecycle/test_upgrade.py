"""Upgrade: jobs of the release before end after it, also while workers of both releases run side by side.

releases/0027 has that release's life-cycle functions, and items as API and workers stored them.
"""

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from alembic import command
from payers import Payer
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

RELEASE = Path(__file__).parent / "releases" / "0027"
STORED = json.loads((RELEASE / "items.json").read_text("utf-8"))
KINDS = load_kinds(Settings())
LANES = dict.fromkeys(lanes_of(KINDS), 5)
PRICE = 3
#: Arguments that this release's functions take beside those of the release before.
ADDED = re.compile(r",\s*%\((?:priority|queue|owners)\)s(?:::[a-z\[\]]+)?")


class ReleaseBefore:
    """The life cycle as the release before calls it: the same statements, on its own functions."""

    schema = "lifecycle_0027"

    def __init__(self, database: Database) -> None:
        self._database = database

    def run(self, statement: Statement[Any]) -> Any:
        sql = ADDED.sub("", statement.sql.replace(lifecycle.SCHEMA, self.schema))
        return self._database.run(Statement(sql, statement.parameters, statement.read))

    def open_account(self) -> Payer:
        payer = Payer(uuid4(), uuid4(), "")
        account = lifecycle.open_account(
            payer.account_id,
            "old",
            "pro",
            100_000,
            key_id=payer.api_key_id,
            key_name="key",
            key_hash=b"hash",
            hint="hint",
        )
        self.run(account)
        return payer

    def submit(self, payer: Payer, stored: dict[str, Any], *, items: int = 1) -> UUID:
        """Ask for what was stored, so many times."""
        lane = stored["item_kind"]
        asked = submission(
            payer, kind=stored["job_kind"], items=[(stored["input"], PRICE, lane)] * items, request_hash=uuid4().bytes
        )
        submitted = self.run(lifecycle.submit(asked))
        assert submitted.outcome == "accepted"
        return submitted.job_id

    def claim(self, lanes: Iterable[str]) -> list[lifecycle.ClaimedItem]:
        return self.run(lifecycle.claim(dict.fromkeys(lanes, 5), lease_for=LEASE))

    def deliver(self, items: list[lifecycle.ClaimedItem]) -> None:
        outcomes = [Outcome(item.item_id, "done", PRICE, output={"by": "before"}) for item in items]
        self.run(lifecycle.report(items[0].lease_id, outcomes))


@pytest.fixture
def url(make_database: Callable[..., str]) -> str:
    """A database with the tables and the functions of the release before."""
    url = make_database(template="template0")
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    functions = (RELEASE / "lifecycle.sql").read_text("utf-8").replace("lifecycle.", f"{ReleaseBefore.schema}.")
    with engine.begin() as connection:
        command.upgrade(alembic_config(connection), RELEASE.name)
        connection.exec_driver_sql(f"CREATE SCHEMA {ReleaseBefore.schema};\n{functions}")
    engine.dispose()
    return url


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    with Database(url) as database:
        yield database


@pytest.fixture
def before(database: Database) -> ReleaseBefore:
    return ReleaseBefore(database)


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


def test_a_job_of_the_release_before_ends_after_the_upgrade(
    url: str, before: ReleaseBefore, database: Database
) -> None:
    # Opened by the functions of the release before: those of this one are not there yet.
    payer = before.open_account()
    jobs = {before.submit(payer, stored): stored for stored in STORED}

    migrate(url)
    outputs = {job_id: stored["output"] for job_id, stored in jobs.items()}
    while items := database.run(lifecycle.claim(LANES, lease_for=LEASE)):
        deliver(database, items, outputs)

    for job_id, stored in jobs.items():
        job = database.run(find_job(job_id))
        assert job is not None
        assert (job.state, job.kind, job.credits_captured) == ("succeeded", stored["job_kind"], PRICE)
        assert KINDS[job.kind].respond(job, database.run(find_items(job_id))).status == 200
    assert database.run(discrepancies()) == []


def test_workers_of_both_releases_share_the_work_of_both(url, before, database):
    payer = before.open_account()
    old = [before.submit(payer, stored, items=20) for stored in STORED]
    migrate(url)
    new = [
        database.run(lifecycle.submit(submission(payer, [PRICE] * 20, kind=kind, lane=lane))).job_id
        for kind, lane in [("alt_text_batch", "alt_text"), ("index_check", "index_check_bing"), ("speech", None)]
    ]
    old_kinds = sorted({stored["item_kind"] for stored in STORED} | {stored["job_kind"] for stored in STORED})
    delivered: list[int] = []

    def work_as_before() -> None:
        while items := before.claim(old_kinds):
            delivered.extend(item.item_id for item in items)
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


def test_a_job_is_told_to_its_webhook_once_whichever_release_ends_it(
    url: str, before: ReleaseBefore, database: Database
) -> None:
    payer = before.open_account()
    migrate(url)
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
