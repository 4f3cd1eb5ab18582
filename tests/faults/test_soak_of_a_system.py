"""A whole system under mixed load for as long as is wished: nothing that it holds may grow. `make soak HOURS=2`."""

import os
import random
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from mixed_load import MixedLoad, made_up, real_kinds
from revision import measured
from search_engine import search_engine
from soak_measures import (
    APART_SECONDS,
    HEADINGS,
    INTRODUCTION,
    LEAST,
    LOAD,
    Judgement,
    Measures,
    files_in,
    judge,
    page,
    temporary_files,
    verdict,
)
from soak_users import Users
from storm_site import SETTINGS, wait_for_offers
from systems import system
from webhook_receiver import webhook_receiver

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Row, Statement
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "soak.md"
MINUTES = 60 * float(os.environ.get("HOURS", "0"))
#: PostgreSQL's shared memory is what its settings ask for at most, in MiB, and a little that queries take for a while.
SHARED = "PostgreSQL: shared memory MiB"
SHARED_MEMORY: Statement[list[Row]] = Statement(
    "SELECT pg_size_bytes(current_setting('shared_memory_size')) / 1048576 AS mib"
)
#: Retention so short that deleting begins within the warm-up.
BRIEF = {
    "PRESSROOM_RETENTION__RESULT_HOURS": "0.01",
    "PRESSROOM_RETENTION__SUMMARY_DAYS": "0.0014",
    "PRESSROOM_RETENTION__INDEX_DAYS": "0.001",
    "PRESSROOM_RETENTION__PICTURE_DAYS": "0.001",
    "PRESSROOM_RETENTION__DELIVERY_DAYS": "0.001",
    "PRESSROOM_WORK__UPLOAD_ORPHAN_MINUTES": "1",
}


@pytest.mark.system
@pytest.mark.timeout(max(900, 90 * MINUTES))
@pytest.mark.skipif(not MINUTES, reason="it takes hours: make soak HOURS=2")
def test_nothing_that_a_system_holds_grows(tmp_path_factory: pytest.TempPathFactory) -> None:
    # Short names: the sockets of a longer one would be in the TMPDIR of whoever looks for them.
    data, temporary = tmp_path_factory.mktemp("soak") / "data", tmp_path_factory.mktemp("temporary")
    temporary.chmod(0o1777)  # PostgreSQL runs as another user
    with search_engine() as engine, webhook_receiver() as receiver:
        extra = SETTINGS | BRIEF | engine.environment() | {"TMPDIR": str(temporary)}
        with system(data, "--pool", "made_up=2", extra=extra, credits=100_000_000, as_shipped=True) as running:
            _ = running.key
            wait_for_offers(running)
            with (
                MixedLoad(running, [made_up(), *real_kinds(engine)], webhook=receiver.url) as load,
                Users(running) as users,
            ):
                measures = Measures(running, temporary, lambda: len(load.ended))
                while measures.minutes < MINUTES or LOAD not in measures.series:
                    load.check()
                    assert users.error is None, users.error
                    measures.take()
                    time.sleep(APART_SECONDS)
                minutes = measures.minutes
                load.stop()
            with Database(running.database_url) as database:
                assert database.run(discrepancies()) == []
                (settings,) = database.run(SHARED_MEMORY)
    answered = len(load.ended) + users.done
    assert answered
    artifacts = data / "artifacts"
    assert files_in(artifacts)
    # Each lies in the folder of a day, with which it goes; in a run no day ends.
    Artifacts(open_store(Settings(data=data))).delete_expired(datetime.now(UTC).date() + timedelta(days=3))
    assert files_in(artifacts) == files_in(artifacts / "uploads")
    expected = {"API: memory MiB", "PostgreSQL: schemas", "Redis: keys", "table job: rows kB", LOAD}
    assert expected <= measures.series.keys()
    # Each of the API's workers holds a file open there, so none at all would mean that another folder is used.
    assert min(measures.series["files: temporary"].values) > 0
    for memory in ("API: memory MiB", "API: mapped files MiB", "PostgreSQL: memory MiB", SHARED):
        assert min(measures.series[memory].values) > 1, memory
    assert max(measures.series[SHARED].values) <= settings["mib"] + LEAST["MiB"]
    judged = measures.judged()
    PAGE.write_text(page(judged, minutes, answered, measured()))
    failed = {name: one for name, one in judged.items() if one.fails(name)}
    assert not failed


def test_a_slow_leak_is_told_from_noise() -> None:
    choose = random.Random(1)
    at = [number / 4 for number in range(120)]

    def judged(name: str, per_minute: float, noise: float) -> bool:
        return judge(name, at, [200 + per_minute * moment + choose.uniform(-noise, noise) for moment in at]).grows

    assert judged("API: memory MiB", per_minute=3.0, noise=15)
    assert judged("API: descriptors", per_minute=2.0, noise=10)
    assert not judged("API: memory MiB", per_minute=0.0, noise=60)
    assert not judged("API: memory MiB", per_minute=0.2, noise=15)
    filled = [min(400.0, 200 + 60 * moment) for moment in at]  # a cache that fills at first
    assert not judge("API: memory MiB", at, filled).grows


def test_temporary_files_that_stay_make_a_run_fail(tmp_path: Path) -> None:
    counts, kilobytes = [], []
    for number in range(60):
        (tmp_path / f"pressroom-{number}").write_bytes(bytes(20_000))
        found = temporary_files(tmp_path, [])
        counts.append(found["files: temporary"])
        kilobytes.append(found["files: temporary kB"])
    assert counts == list(range(1, 61))
    at = [number / 4 for number in range(60)]
    for name, values in (("files: temporary", counts), ("files: temporary kB", kilobytes)):
        judged = judge(name, at, values)
        assert judged.fails(name)
        assert verdict(name, judged) == "**grows**"


def test_a_temporary_file_without_a_name_is_counted_while_it_is_open(tmp_path: Path) -> None:
    with tempfile.TemporaryFile(dir=tmp_path) as file:
        file.write(bytes(4_096))
        file.flush()
        assert temporary_files(tmp_path, [os.getpid()]) == {"files: temporary": 1.0, "files: temporary kB": 4.0}
    assert temporary_files(tmp_path, [os.getpid()]) == {"files: temporary": 0.0, "files: temporary kB": 0.0}


def test_a_load_that_falls_makes_a_run_fail() -> None:
    choose = random.Random(1)
    at = [number / 4 for number in range(120)]

    def judged(last: float) -> Judgement:
        """The load goes evenly from 40 answers a second to so many."""
        return judge(LOAD, at, [40 + (last - 40) * moment / at[-1] + choose.uniform(-4, 4) for moment in at])

    assert verdict(LOAD, judged(15)) == "**falls**"
    assert judged(15).fails(LOAD)
    assert not judged(40).fails(LOAD)
    assert not judged(80).fails(LOAD)


def test_the_page_says_what_the_next_run_will_say() -> None:
    text = PAGE.read_text()
    assert text.startswith(INTRODUCTION)
    assert "\n".join(HEADINGS) in text
