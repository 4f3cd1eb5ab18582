"""All commands: errors of one line, output for programs, settings and the version."""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from payers import Payer
from ran import Ran
from systems import run_command


def test_the_version_is_told(pressroom: Callable[..., Ran]) -> None:
    assert pressroom("--version").out == f"pressroom {version('pressroom')}\n"


@pytest.mark.parametrize("arguments", [["accounts", "list"], ["jobs", "list"], ["settings"]])
def test_a_program_gets_a_header_and_as_many_values_a_line(
    pressroom: Callable[..., Ran], submit: Callable[..., str], arguments: list[str]
) -> None:
    submit()

    lines = pressroom(*arguments).out.splitlines()

    assert len(lines) >= 2
    assert len({line.count("\t") for line in lines}) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["accounts", "create", "x", "--tier", "gold"], "There is no tier 'gold'"),
        (["accounts", "set-tier", "ACCOUNT", "gold"], "There is no tier 'gold'"),
        (["accounts", "set-tier", "123e4567-e89b-12d3-a456-426614174000", "pro"], "There is no account"),
        (["accounts", "top-up", "nonsense", "1"], "There is no account nonsense"),
        (["jobs", "show", "nonsense"], "'nonsense' is not an id"),
        (["accounts", "top-up", "123e4567-e89b-12d3-a456-426614174000", "1"], "There is no account"),
        (["accounts", "top-up", "ACCOUNT", "-5000"], "fewer than 5,000 credits"),
        (["keys", "create", "123e4567-e89b-12d3-a456-426614174000"], "There is no account"),
        (["keys", "revoke", "123e4567-e89b-12d3-a456-426614174000"], "There is no key"),
        (["jobs", "show", "123e4567-e89b-12d3-a456-426614174000"], "There is no job"),
        (["jobs", "cancel", "123e4567-e89b-12d3-a456-426614174000"], "There is no job"),
        (["jobs", "list", "--state", "zzz"], "choose queued, running, succeeded"),
        (["scale", "synthesis"], "write POOL=N"),
        (["scale", "synthesis=2"], "pressroom up"),
        (["pools"], "pressroom up"),
        (["models", "fetch"], "--recommended"),
        (["models", "list", "espeak"], "No model is for 'espeak'"),
        (["up", "--pool", "nonsense=1"], "There is no pool nonsense"),
        (["up", "--port", "99999"], "There is no port 99999"),
        (["up", "--port", "-1"], "There is no port -1"),
        (["accounts", "create", ""], "The name is empty"),
        (["accounts", "create", "caf\udce9"], "UTF-8"),
        (["accounts", "create", "x", "--credits", "99999999999999999999"], "too many"),
        (["accounts", "top-up", "ACCOUNT", "99999999999999999999"], "too many"),
        (["accounts", "top-up", "ACCOUNT", "-99999999999999999999"], "too many"),
        (["accounts", "top-up", "ACCOUNT", "9223372036854775807"], "the most an account can have"),
        (["keys", "create", "ACCOUNT", "--name", " "], "The name is empty"),
        (["say", "TEXT", "-o", "/missing/o.mp3"], "not a folder that you may write to"),
        (["say", "TEXT", "-o", "/tmp"], "/tmp has no known suffix"),
        (["say", "TEXT", "-o", "FOLDER"], "is a folder"),
        (["say", "TEXT", "-o", "TAKEN"], "exists already. Pass --overwrite"),
        (["say", "-"], "Name the file to write: --output OUT.mp3"),
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
    words |= {"FOLDER": str(tmp_path / "folder.mp3"), "TAKEN": str(tmp_path / "taken.mp3")}
    (tmp_path / "folder.mp3").mkdir()
    (tmp_path / "taken.mp3").touch()
    if "No system" in said:
        monkeypatch.delenv("DATABASE_URL")

    ran = pressroom(*(words.get(word, word) for word in arguments))

    assert ran.code == 1
    assert ran.err.startswith("pressroom: ")
    assert ran.err.count("\n") == 1
    assert said in ran.err


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
    ran = run_command("jobs", "list", **away)
    assert (ran.returncode, ran.stderr.count("\n")) == (1, 1), ran.stderr
    assert "Connection refused" in ran.stderr


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [(KeyboardInterrupt(), 130, ""), (OSError(28, "No space left on device", "/full"), 1, "No space left on device")],
)
def test_an_interrupt_and_a_full_disk_are_no_tracebacks(
    pressroom: Callable[..., Ran], monkeypatch: Any, fault: BaseException, code: int, said: str
) -> None:
    def settings_for(_: Path | None) -> None:
        raise fault

    monkeypatch.setattr("scripts.commands.settings.settings_for", settings_for)

    ran = pressroom("settings")

    assert ran.code == code
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_settings_are_listed_without_secrets(pressroom: Callable[..., Ran], monkeypatch: Any) -> None:
    monkeypatch.setenv("PRESSROOM_STORE__ACCESS_KEY_ID", "id")
    monkeypatch.setenv("PRESSROOM_STORE__SECRET_ACCESS_KEY", "hush")
    monkeypatch.setenv("PRESSROOM_WORK__LEASE_SECONDS", "45")

    listed = pressroom("settings").out

    assert "PRESSROOM_WORK__LEASE_SECONDS" in listed
    assert "45" in listed
    assert "hush" not in listed
    assert "PRESSROOM_WORK__LEASE_SECONDS\t45\t30\t" in listed


def test_an_address_is_listed_without_its_password(pressroom: Callable[..., Ran], monkeypatch: Any) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://editor:hush@db.example/press?sslpassword=hush&sslmode=require")

    listed = pressroom("settings").out

    assert "postgresql://editor:***@db.example/press?sslpassword=***&sslmode=require" in listed
    assert "hush" not in listed
