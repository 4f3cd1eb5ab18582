"""A whole system under mixed load for as long as is wished: nothing that it holds may grow. `make soak HOURS=2`."""

import os
import platform
import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from mixed_load import MixedLoad, made_up, real_kinds
from search_engine import search_engine
from soak_measures import BY_DESIGN, Measures, files_in, judge, page
from soak_users import Users
from storm_report import revision
from storm_site import SETTINGS, wait_for_offers
from systems import system
from webhook_receiver import webhook_receiver

from pipeline.artifacts import Artifacts, open_store
from pipeline.database import Database
from pipeline.ledger import discrepancies
from pipeline.settings import Settings

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "soak.md"
MINUTES = 60 * float(os.environ.get("HOURS", "0"))
#: Measurements are so far apart; a short run takes some all the same.
APART_SECONDS = 15.0 if MINUTES else 1.0
SHORT_MINUTES = 0.15
#: What is kept, is kept so briefly that deleting begins within the warm-up.
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
def test_nothing_that_a_system_holds_grows(tmp_path: Path) -> None:
    with search_engine() as engine, webhook_receiver() as receiver:
        extra = SETTINGS | BRIEF | engine.environment()
        with system(tmp_path / "data", "--pool", "made_up=2", extra=extra, credits=100_000_000) as running:
            _ = running.key
            wait_for_offers(running)
            measures = Measures(running)
            with (
                MixedLoad(running, [made_up(), *real_kinds(engine)], webhook=receiver.url) as load,
                Users(running) as users,
            ):
                while measures.minutes < (MINUTES or SHORT_MINUTES):
                    load.check()
                    assert users.error is None, users.error
                    measures.take()
                    time.sleep(APART_SECONDS)
                load.stop()
            with Database(running.database_url) as database:
                assert database.run(discrepancies()) == []
    answered = len(load.ended) + users.done
    assert answered
    artifacts = tmp_path / "data" / "artifacts"
    assert files_in(artifacts)
    # Each lies in the folder of a day, with which it goes; in a run no day ends.
    Artifacts(open_store(Settings(data=tmp_path / "data"))).delete_expired(datetime.now(UTC).date() + timedelta(days=3))
    assert files_in(artifacts) == files_in(artifacts / "uploads")
    assert {"API: memory MiB", "PostgreSQL: schemas", "Redis: keys", "table job: rows kB"} <= measures.series.keys()
    if MINUTES:
        judged = measures.judged()
        day = time.strftime("%d %B %Y", time.gmtime())
        machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
        PAGE.write_text(page(judged, measures.minutes, answered, f"{day}, commit {revision()}, {machine}"))
        grown = {name: one for name, one in judged.items() if one.grows and not BY_DESIGN.search(name)}
        assert not grown


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
