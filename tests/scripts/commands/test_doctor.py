"""`pressroom doctor` says what is ready, what is missing, and whether the ledger is right."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from payers import Payer
from ran import Ran

from pipeline.database import Database, Statement
from pipeline.kinds.index_check import pacing
from pipeline.kinds.index_check.circuit_breaker import note
from pipeline.kinds.index_check.transitions import Event
from pipeline.offers import Offer, publish_offers
from pipeline.settings import Settings
from scripts.commands import doctor
from scripts.system.control import SupervisorSilent
from workers.engines.search.duckduckgo import DuckDuckGo
from workers.engines.search.serper import Serper


def test_the_doctor_finds_everything_ready(pressroom: Callable[..., Ran]) -> None:
    ran = pressroom("doctor")

    assert ran.code == 0
    for subject in ("PostgreSQL", "Redis", "ledger", "artifact store", "ffmpeg", "synthesis: espeak"):
        assert subject in ran.out


def test_the_doctor_makes_nothing_where_it_looks(pressroom: Callable[..., Ran], tmp_path: Path) -> None:
    ran = pressroom("doctor", "--data", str(tmp_path / "not" / "there"))

    assert "will be made when it is needed" in ran.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("PRESSROOM_DATA", "/dev/null/x", "can't be made"),
        ("PRESSROOM_FFMPEG", "/nowhere/ffmpeg", "is no program"),
        ("REDIS_URL", "nonsense", "Redis"),
    ],
)
def test_the_doctor_says_what_is_missing(
    pressroom: Callable[..., Ran], monkeypatch: Any, setting: str, value: str, said: str
) -> None:
    monkeypatch.setenv(setting, value)

    ran = pressroom("doctor")

    assert ran.code == 1
    assert said in ran.out


def test_the_doctor_tells_what_a_pool_has_found_missing(pressroom: Callable[..., Ran], database: Database) -> None:
    database.run(publish_offers([Offer("synthesis", "espeak", ready=False, needs="a voice of its own")]))

    ran = pressroom("doctor")

    assert "the pool says: a voice of its own" in " ".join(ran.out.replace("│", " ").split())


def test_the_doctor_looks_at_engines_of_other_packages(pressroom: Callable[..., Ran], monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "plug_in")
    monkeypatch.setenv("PRESSROOM_SYNTHESIS__ENGINES", "hum,broken")

    ran = pressroom("doctor")

    said = " ".join(ran.out.replace("│", " ").split())
    assert "ok synthesis: hum ready" in said
    assert "-- synthesis: broken pressroom_hum:Missing can't be loaded" in said


def test_the_doctor_tells_which_search_provider_rests(
    pressroom: Callable[..., Ran], database: Database, monkeypatch: Any
) -> None:
    monkeypatch.setenv("PRESSROOM_SEARCH__PROVIDERS", "duckduckgo")
    name = DuckDuckGo.from_settings(Settings()).pace_name
    database.run(pacing.add_providers([name]))
    database.run(note(name, Event.BLOCKED, Settings().search, reason="captcha"))

    ran = pressroom("doctor")

    said = " ".join(ran.out.replace("│", " ").split())
    assert "UTC, the search engine asked for a captcha" in said
    # What the default without a key can't promise.
    assert "what they miss may be indexed all the same" in said
    assert "nobody answers for Google: set PRESSROOM_SEARCH__SERPER__API_KEY" in said


def test_the_doctor_tells_whose_account_is_empty_and_what_helps(
    pressroom: Callable[..., Ran], database: Database, monkeypatch: Any
) -> None:
    monkeypatch.setenv("PRESSROOM_SEARCH__PROVIDERS", "")
    monkeypatch.setenv("PRESSROOM_SEARCH__SERPER__API_KEY", "canary-key")
    name = Serper.from_settings(Settings()).pace_name
    database.run(pacing.add_providers([name]))
    database.run(note(name, Event.REFUSED, Settings().search, reason="config:credits"))

    ran = pressroom("doctor")

    said = " ".join(ran.out.replace("│", " ").split())
    assert "nothing left to pay with: top its account up, or set another PRESSROOM_SEARCH__SERPER__API_KEY" in said
    assert "ok search: duckduckgo ready, answers from the index duckduckgo" in said
    assert "nobody answers for Google" not in said
    assert "canary" not in said


def test_the_doctor_waits_once_for_a_database_that_is_away(
    pressroom: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    def counted(url: str, **options: Any) -> Database:
        opened.append(url)
        return Database(url, **options)

    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:9/nothing")
    monkeypatch.setattr(doctor, "Database", counted)
    monkeypatch.setattr(doctor, "PATIENCE", timedelta())

    ran = pressroom("doctor")

    assert ran.code == 1
    assert "The database does not answer" in ran.out
    assert len(opened) == 1


def test_the_doctor_looks_at_servers_that_are_set_though_the_system_stands_still(
    pressroom: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(data: Path) -> None:
        raise SupervisorSilent("It did not answer.")

    monkeypatch.setattr(doctor, "find_system", silent)

    ran = pressroom("doctor")

    assert ran.code == 1
    assert "It did not answer." in ran.out
    assert "every balance is the sum of its entries" in ran.out


def test_the_doctor_fails_when_a_balance_is_not_the_sum_of_its_entries(
    pressroom: Callable[..., Ran], payer: Payer, database: Database
) -> None:
    database.run(
        Statement(
            "UPDATE account SET available = available + 1 WHERE id = %(id)s RETURNING 1", {"id": payer.account_id}
        )
    )

    ran = pressroom("doctor")

    assert ran.code == 1
    assert str(payer.account_id) in ran.out
