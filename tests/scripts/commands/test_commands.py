"""The command line, over a real database and Redis."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import structlog
from payers import Payer
from systems import clean_environment, command

from pipeline import lifecycle
from pipeline.broker import connect
from pipeline.database import Database, Statement
from pipeline.jobs import find_job
from pipeline.kinds.index_check import pacing
from pipeline.kinds.index_check.circuit_breaker import note
from pipeline.kinds.index_check.transitions import Event
from pipeline.notices import CHANNEL, read_notice
from pipeline.offers import Offer, publish_offers
from pipeline.settings import Settings
from scripts.commands import doctor
from scripts.main import main
from scripts.system.control import SupervisorSilent
from workers.engines.search.duckduckgo import DuckDuckGo


@dataclass
class Ran:
    """What a command printed, and its exit code."""

    out: str
    err: str
    code: int


@pytest.fixture
def pressroom(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> Iterator[Callable[..., Ran]]:
    """A function that runs a command in this process, on this test's servers."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("PRESSROOM_DATA", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "250")

    # Some commands send this process's log to their own standard error, which the test's end closes.
    handlers = logging.getLogger().handlers[:]

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["pressroom", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        code = ended.value.code
        return Ran(captured.out, captured.err, code if isinstance(code, int) else 0)

    yield run
    logging.getLogger().handlers[:] = handlers
    structlog.reset_defaults()


@pytest.fixture
def sweep(database_url: str, redis_url: str, tmp_path: Path) -> Callable[[], dict[str, str]]:
    """A function that sweeps in a process of its own, because its log goes to that; returns what was done."""
    servers = {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "PRESSROOM_DATA": str(tmp_path)}

    def run() -> dict[str, str]:
        ran = subprocess.run(
            command("sweep"), env=clean_environment(extra=servers), capture_output=True, text=True, check=True
        )
        return dict(line.split() for line in ran.stdout.splitlines())

    return run


@pytest.fixture
def submit(database: Database, payer: Payer) -> Callable[..., str]:
    """A function that submits a job of two items and returns its id."""

    def run(kind: str = "speech") -> str:
        submission = lifecycle.Submission(
            account_id=payer.account_id,
            api_key_id=payer.api_key_id,
            kind=kind,
            route="/tts",
            request={"speed": 2.0},
            request_id="test",
            request_hash=b"hash",
            items=[({"text": "one"}, 1), ({"text": "two"}, 1)],
            deadline=timedelta(hours=1),
            keep_for=timedelta(hours=1),
            slice_size=1,
        )
        return str(database.run(lifecycle.submit(submission)).job_id)

    return run


def test_an_account_is_opened_topped_up_put_into_another_tier_and_listed(pressroom: Callable[..., Ran]) -> None:
    made = json.loads(pressroom("accounts", "create", "Acme [x]", "--tier", "pro", "--credits", "50", "--json").out)
    assert set(made) == {"account_id", "api_key"}

    assert pressroom("accounts", "top-up", made["account_id"], "2500", "--note", "invoice 7").out == "balance 2,550\n"
    assert pressroom("accounts", "set-tier", made["account_id"], "enterprise").out == "tier enterprise\n"
    listed = pressroom("accounts", "list").out
    assert f"{made['account_id']}\tAcme [x]\tenterprise\t2550\t" in listed
    assert made["api_key"] not in listed


def test_the_version_is_told(pressroom: Callable[..., Ran]) -> None:
    assert pressroom("--version").out == f"pressroom {version('pressroom')}\n"


def test_a_key_is_created_listed_and_revoked(pressroom: Callable[..., Ran], payer: Payer) -> None:
    made = json.loads(pressroom("keys", "create", str(payer.account_id), "--name", "robot", "--json").out)
    listed = pressroom("keys", "list", str(payer.account_id)).out
    assert "robot" in listed
    assert made["api_key"] not in listed

    assert pressroom("keys", "revoke", made["key_id"]).out.startswith("revoked robot")


def test_a_key_that_is_listed_for_a_program_is_the_one_to_revoke(pressroom: Callable[..., Ran], payer: Payer) -> None:
    pressroom("keys", "create", str(payer.account_id), "--name", "two\twords")

    header, *lines = pressroom("keys", "list", str(payer.account_id)).out.splitlines()
    keys = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]

    (made,) = (key for key in keys if key["name"] == "two words")
    assert pressroom("keys", "revoke", made["id"]).code == 0


@pytest.mark.parametrize("arguments", [["accounts", "list"], ["jobs", "list"], ["settings"]])
def test_a_program_gets_a_header_and_as_many_values_a_line(
    pressroom: Callable[..., Ran], submit: Callable[..., str], arguments: list[str]
) -> None:
    submit()

    lines = pressroom(*arguments).out.splitlines()

    assert len(lines) >= 2
    assert len({line.count("\t") for line in lines}) == 1


def test_a_job_is_listed_shown_cancelled_and_tried_again(
    pressroom: Callable[..., Ran], submit: Callable[[], str], database: Database
) -> None:
    job_id = submit()
    assert job_id in pressroom("jobs", "list", "--kind", "speech", "--state", "queued").out
    assert json.loads(pressroom("jobs", "show", job_id).out)["items_total"] == 2

    assert pressroom("jobs", "retry", job_id).code == 1
    assert pressroom("jobs", "cancel", job_id).out == "cancelled\n"
    assert "ended already" in pressroom("jobs", "cancel", job_id).err

    again = pressroom("jobs", "retry", job_id).out.split()[1]
    retried = database.run(find_job(UUID(again)))
    assert retried is not None
    assert (retried.state, retried.items_total, retried.request, retried.credits_held) == (
        "queued",
        2,
        {"speed": 2.0},
        2,
    )


def test_a_job_whose_files_are_gone_is_not_tried_again(
    pressroom: Callable[..., Ran], submit: Callable[..., str]
) -> None:
    job_id = submit("speech_with_music")
    pressroom("jobs", "cancel", job_id)

    refused = pressroom("jobs", "retry", job_id)

    assert refused.code == 1
    assert "came with files" in refused.err


def test_who_waits_for_a_cancelled_job_is_told_and_its_upload_deleted(
    pressroom: Callable[..., Ran], submit: Callable[..., str], redis_url: str, tmp_path: Path
) -> None:
    job_id = UUID(submit("speech_with_music"))
    upload = tmp_path / "artifacts" / "uploads" / str(job_id)
    upload.mkdir(parents=True)
    (upload / "music").write_bytes(b"la")
    with connect(redis_url).pubsub() as listener:
        listener.subscribe(CHANNEL)
        listener.get_message(timeout=30)

        assert pressroom("jobs", "cancel", str(job_id)).out == "cancelled\n"

        message = listener.get_message(timeout=30)
    assert message is not None
    assert read_notice(message["data"]) == [job_id]
    assert not upload.exists()


def test_a_job_is_cancelled_without_redis_too(
    pressroom: Callable[..., Ran], submit: Callable[..., str], monkeypatch: Any
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:9/0")

    ran = pressroom("jobs", "cancel", submit())

    assert (ran.code, ran.out) == (0, "cancelled\n")
    assert "by the clock" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["accounts", "create", "x", "--tier", "gold"], "There is no tier 'gold'"),
        (["accounts", "set-tier", "ACCOUNT", "gold"], "There is no tier 'gold'"),
        (["accounts", "set-tier", "123e4567-e89b-12d3-a456-426614174000", "pro"], "There is no account"),
        (["accounts", "top-up", "nonsense", "1"], "'nonsense' is not an id"),
        (["accounts", "top-up", "123e4567-e89b-12d3-a456-426614174000", "1"], "There is no account"),
        (["accounts", "top-up", "ACCOUNT", "-5000"], "fewer than 5,000 credits"),
        (["keys", "create", "123e4567-e89b-12d3-a456-426614174000"], "There is no account"),
        (["keys", "revoke", "123e4567-e89b-12d3-a456-426614174000"], "There is no key"),
        (["jobs", "show", "123e4567-e89b-12d3-a456-426614174000"], "There is no job"),
        (["jobs", "cancel", "123e4567-e89b-12d3-a456-426614174000"], "There is no job"),
        (["jobs", "list", "--state", "zzz"], "there is queued, running, succeeded"),
        (["scale", "synthesis"], "write POOL=N"),
        (["scale", "synthesis=2"], "pressroom up"),
        (["pools"], "pressroom up"),
        (["up", "--pool", "nonsense=1"], "There is no pool nonsense"),
        (["up", "--port", "99999"], "There is no port 99999"),
        (["up", "--port", "-1"], "There is no port -1"),
        (["accounts", "create", ""], "A name is needed"),
        (["accounts", "create", "caf\udce9"], "UTF-8"),
        (["accounts", "create", "x", "--credits", "99999999999999999999"], "too many"),
        (["accounts", "top-up", "ACCOUNT", "99999999999999999999"], "too many"),
        (["accounts", "top-up", "ACCOUNT", "-99999999999999999999"], "too many"),
        (["accounts", "top-up", "ACCOUNT", "9223372036854775807"], "which is the most"),
        (["keys", "create", "ACCOUNT", "--name", " "], "A name is needed"),
        (["say", "TEXT", "-o", "/missing/o.mp3"], "no folder that you may write to"),
        (["say", "TEXT", "-o", "/tmp"], "/tmp is a folder"),
        (["say", "TEXT", "-o", "OUT", "--url", "nonsense"], "'nonsense' is not the address of a service"),
        (["say", "TEXT", "-o", "OUT", "--url", "http://[::1"], "is not the address of a service"),
        (["say", "TEXT", "-o", "OUT", "--url", "http://host:port"], "is not the address of a service"),
        (["accounts", "create", "x", "--data", "/dev/null/x"], "No system is running"),
        (["up", "--data", "/dev/null/x"], "can't be made"),
    ],
)
def test_an_error_is_one_clear_line_and_exit_code_1(
    pressroom: Callable[..., Ran], payer: Payer, tmp_path: Path, monkeypatch: Any, arguments: list[str], said: str
) -> None:
    monkeypatch.setenv("PRESSROOM_API_KEY", "pr_live_x")
    text = tmp_path / "text.txt"
    text.write_text("Hello.")
    words = {"ACCOUNT": str(payer.account_id), "TEXT": str(text), "OUT": str(tmp_path / "out.mp3")}
    if "No system" in said:
        monkeypatch.delenv("DATABASE_URL")

    ran = pressroom(*(words.get(word, word) for word in arguments))

    assert ran.code == 1
    assert ran.err.startswith("pressroom: ")
    assert ran.err.count("\n") == 1
    assert said in ran.err


def test_without_servers_commands_say_how_to_start_them(
    pressroom: Callable[..., Ran], monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.delenv("DATABASE_URL")

    ran = pressroom("accounts", "list", "--data", str(tmp_path))

    assert ran.code == 1
    assert "pressroom up" in ran.err


@pytest.mark.parametrize("arguments", [["accounts", "list"], ["accounts", "create", "x"], ["jobs", "list"]])
def test_a_database_without_tables_is_said_to_need_a_migration(
    pressroom: Callable[..., Ran], make_database: Callable[..., str], monkeypatch: Any, arguments: list[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", make_database(template="template0"))

    ran = pressroom(*arguments)

    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "pressroom migrate" in ran.err


def test_a_database_that_is_away_is_told_in_one_line(tmp_path: Path) -> None:
    away = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:9/nothing", "REDIS_URL": "redis://127.0.0.1:9/0"}
    ran = subprocess.run(
        command("jobs", "list"), env=clean_environment(extra=away), capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr.count("\n")) == (1, 1), ran.stderr
    assert "does not answer within" in ran.stderr


def test_a_database_that_is_away_can_not_be_migrated(pressroom: Callable[..., Ran], monkeypatch: Any) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:9/nothing")

    ran = pressroom("migrate")

    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "The database can't be used" in ran.err


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [(KeyboardInterrupt(), 130, ""), (OSError(28, "No space left on device", "/full"), 1, "No space left on device")],
)
def test_an_interrupt_and_a_full_disk_are_no_tracebacks(
    pressroom: Callable[..., Ran], monkeypatch: Any, fault: BaseException, code: int, said: str
) -> None:
    def settings_for(_: Path | None) -> None:
        raise fault

    monkeypatch.setattr("scripts.main.settings_for", settings_for)

    ran = pressroom("settings")

    assert ran.code == code
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_a_setting_that_can_not_be_read_is_named(pressroom: Callable[..., Ran], monkeypatch: Any) -> None:
    monkeypatch.setenv("PRESSROOM_API__PORT", "eight")

    ran = pressroom("settings")

    assert ran.code == 1
    assert "PRESSROOM_API__PORT" in ran.err


def test_settings_are_listed_without_secrets(pressroom: Callable[..., Ran], monkeypatch: Any) -> None:
    monkeypatch.setenv("PRESSROOM_STORE__SECRET_ACCESS_KEY", "hush")
    monkeypatch.setenv("PRESSROOM_WORK__LEASE_SECONDS", "45")

    listed = pressroom("settings").out

    assert "PRESSROOM_WORK__LEASE_SECONDS" in listed
    assert "45" in listed
    assert "hush" not in listed
    assert "postgresql://" not in listed


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


def test_the_doctor_tells_which_search_provider_rests(
    pressroom: Callable[..., Ran], database: Database, monkeypatch: Any
) -> None:
    monkeypatch.setenv("PRESSROOM_SEARCH__PROVIDERS", "duckduckgo")
    name = DuckDuckGo.from_settings(Settings()).pace_name
    database.run(pacing.add_providers([name]))
    database.run(note(name, Event.BLOCKED, Settings().search, reason="captcha"))

    ran = pressroom("doctor")

    assert "UTC: captcha" in " ".join(ran.out.replace("│", " ").split())


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
        assert job is not None
        assert job.state == state


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


def test_an_uploads_folder_that_is_a_file_does_not_end_a_sweep(
    sweep: Callable[[], dict[str, str]], submit: Callable[..., str], database: Database, tmp_path: Path
) -> None:
    (tmp_path / "artifacts").mkdir()
    (tmp_path / "artifacts" / "uploads").write_bytes(b"no folder")
    late = [submit(), submit()]
    database.run(Statement("UPDATE job SET deadline = now() - interval '1 s' RETURNING 1", {}))

    said = sweep()

    assert (said["expired"], said["uploads_deleted"]) == (str(len(late)), "0")


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
        assert sweeper.stderr is not None
        lines = [sweeper.stderr.readline() for _ in range(3)]
        sweeper.terminate()

    assert all("sweep put off" in line for line in lines)


def test_migrating_twice_changes_nothing(pressroom: Callable[..., Ran]) -> None:
    assert pressroom("migrate").out == "the database is up to date\n"
    assert pressroom("migrate").code == 0
