"""`pressroom doctor` says what is ready, what is missing, and whether the ledger is right."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from payers import Payer
from ran import Ran

from capabilities.index_check import doctor
from capabilities.index_check.engines.search.keyed_apis import Serper
from capabilities.index_check.engines.search.result_pages import DuckDuckGo
from capabilities.index_check.providers import pacing
from capabilities.index_check.providers.circuit_breaker import Event, note
from pipeline.database import Database, Statement
from pipeline.errors import PressroomError
from pipeline.offers.offers import Offer, publish_offers
from pipeline.operations.supervision import SupervisorSilent
from pipeline.settings import Settings
from scripts.doctor import examination, servers
from scripts.doctor.servers import check_disk, check_memory
from workers.models.machine import Machine


def said_by(ran: Ran) -> str:
    """Return the words of a table."""
    return " ".join(ran.out.replace("│", " ").split())


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
        ("PRESSROOM_FFMPEG", "/nowhere/ffmpeg", "is not a program"),
        ("REDIS_URL", "nonsense", "REDIS_URL"),
    ],
)
def test_the_doctor_says_what_is_missing(
    pressroom: Callable[..., Ran], monkeypatch: Any, setting: str, value: str, said: str
) -> None:
    monkeypatch.setenv(setting, value)

    ran = pressroom("doctor")

    assert ran.code == 1
    assert said in ran.out + ran.err


def test_the_doctor_tells_what_a_pool_has_found_missing(pressroom: Callable[..., Ran], database: Database) -> None:
    database.run(publish_offers([Offer("synthesis", "espeak", ready=False, needs="a voice of its own")]))

    assert "the pool says: a voice of its own" in said_by(pressroom("doctor"))


def test_the_doctor_looks_at_engines_of_other_packages(pressroom: Callable[..., Ran], monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "plug_in")
    monkeypatch.setenv("PRESSROOM_SYNTHESIS__ENGINES", "hum,broken")

    said = said_by(pressroom("doctor"))

    assert "ok synthesis: hum ready" in said
    assert "-- synthesis: broken pressroom_hum:Missing can't be loaded" in said


def test_the_doctor_tells_which_search_provider_rests(
    pressroom: Callable[..., Ran], database: Database, monkeypatch: Any
) -> None:
    monkeypatch.setenv("PRESSROOM_SEARCH__PROVIDERS", "duckduckgo")
    name = DuckDuckGo.from_settings(Settings()).pace_name
    database.run(pacing.add_providers([name]))
    assert "ok search: duckduckgo set up; it has not been asked within the hour" in said_by(pressroom("doctor"))
    database.run(note(name, Event.ANSWERED, Settings().search))
    assert "ok search: duckduckgo ready, it answered 0 min ago" in said_by(pressroom("doctor"))
    database.run(note(name, Event.BLOCKED, Settings().search, reason="captcha"))

    said = said_by(pressroom("doctor"))

    assert "UTC, the search engine asked for a captcha" in said
    # The default, without a key, can't promise it.
    assert "a page that they miss may still be indexed" in said
    assert "nobody answers for Google: set PRESSROOM_SEARCH__SERPER__API_KEY" in said


def test_the_doctor_tells_whose_account_is_empty_and_what_helps(
    pressroom: Callable[..., Ran], database: Database, monkeypatch: Any
) -> None:
    monkeypatch.setenv("PRESSROOM_SEARCH__PROVIDERS", "")
    monkeypatch.setenv("PRESSROOM_SEARCH__SERPER__API_KEY", "canary-key")
    name = Serper.from_settings(Settings()).pace_name
    database.run(pacing.add_providers([name]))
    database.run(note(name, Event.REFUSED, Settings().search, reason="config:credits"))

    said = said_by(pressroom("doctor"))

    assert (
        "account at the search provider is empty: top its account up, or set another PRESSROOM_SEARCH__SERPER__API_KEY"
        in said
    )
    assert "nobody answers for Google" not in said
    assert "canary" not in said


def test_the_doctor_says_what_would_start_while_the_system_is_off(
    pressroom: Callable[..., Ran], monkeypatch: Any
) -> None:
    monkeypatch.delenv("DATABASE_URL")
    monkeypatch.delenv("REDIS_URL")

    ran = pressroom("doctor")

    said = said_by(ran)
    assert ran.code == 0
    assert "-- system off: `pressroom up` starts it" in said
    assert "-- PostgreSQL comes with the system (pginstall18); it will be made at the first start" in said
    assert "ok synthesis: espeak ready to be set up; no pool has done so yet" in said
    assert "-- optional and not found" in said


def test_the_doctor_waits_once_for_a_database_that_is_away(
    pressroom: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    def counted(url: str, **options: Any) -> Database:
        opened.append(url)
        return Database(url, **options)

    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:9/nothing")
    for place in (doctor, servers, examination):
        monkeypatch.setattr(place, "Database", counted)
    monkeypatch.setattr(servers, "PATIENCE", timedelta())

    ran = pressroom("doctor")

    assert ran.code == 1
    assert "The database does not answer: connection failed" in said_by(ran)
    assert "port 9 failed: Connection refused" in said_by(ran)
    assert len(opened) == 1


def test_the_doctor_says_how_much_memory_and_disk_are_needed_and_here(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "enough for a small system" in check_memory(Machine(1_000_000_000, cores=2))
    assert "hibari" in check_memory(Machine(4_000_000_000, cores=2))
    with pytest.raises(PressroomError, match=r"600 MB here.*needs 900 MB"):
        check_memory(Machine(600_000_000, cores=2))
    monkeypatch.setattr(servers.shutil, "disk_usage", lambda folder: SimpleNamespace(free=3_000_000))
    with pytest.raises(PressroomError, match=r"3 MB free on the disk of /srv/press; keep 1\.0 GB free"):
        check_disk(Path("/srv/press"))


def test_the_doctor_looks_at_servers_that_are_set_though_the_system_stands_still(
    pressroom: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(data: Path) -> None:
        raise SupervisorSilent("It did not answer.")

    monkeypatch.setattr(examination, "find_system", silent)

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
