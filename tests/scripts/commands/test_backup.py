"""Backup and restore, of systems that run and of those that don't, and over a major version of PostgreSQL."""

import tarfile
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from payers import open_account
from ran import Ran
from servers import running
from systems import only, system

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database
from pipeline.lifecycle.migrations import migrate
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store
from scripts.system.embedded import postgres
from scripts.system.embedded.postgres import create_database, find_versions


@pytest.mark.system
def test_a_restored_system_has_accounts_results_and_ledger(command_here: Callable[..., Ran], tmp_path: Path) -> None:
    file, data = tmp_path / "press.tar", tmp_path / "data"
    with system(data, *only("synthesis")) as running_system:
        key = running_system.key
        made = running_system.ask("/tts", {"text": "Kept words."})
        job = made.headers["X-Job-ID"]
        (data / "secrets.key").write_text("a key of stored credentials")
        taken = command_here("backup", str(file), "--data", str(data))
        assert (taken.code, taken.err) == (0, "")
        again = command_here("backup", str(file), "--data", str(data))
        assert (again.code, "exists already" in again.err) == (1, True)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.glob("*press*")] == ["press.tar"]

    restored = command_here("restore", str(file), "--data", str(tmp_path / "other"))
    assert (restored.code, restored.err) == (0, "")
    with system(tmp_path / "other", *only()) as other:
        other.__dict__["key"] = key  # the account's, restored with it
        assert other.ask(f"/jobs/{job}/result").body == made.body
        with Database(other.database_url) as database:
            assert database.run(discrepancies()) == []
    assert (tmp_path / "other" / "secrets.key").read_text() == "a key of stored credentials"

    # There is a system now; and one without PostgreSQL running can be backed up as well.
    refused = command_here("restore", str(file), "--data", str(tmp_path / "other"))
    assert (refused.code, "--replace" in refused.err) == (1, True)
    off = command_here("backup", str(tmp_path / "off.tar"), "--data", str(tmp_path / "other"))
    assert (off.code, off.err) == (0, "")
    (tmp_path / "other" / "secrets.key").write_text("a key that was made since")
    (tmp_path / "other" / "first-key").write_text("an account's key")
    replaced = command_here("restore", str(tmp_path / "off.tar"), "--replace", "--data", str(tmp_path / "other"))
    assert (replaced.code, replaced.err) == (0, "")
    (aside,) = (tmp_path / "other" / "postgres").glob("before-restore-*")
    assert (aside / postgres.VERSION / "PG_VERSION").exists()
    # The database aside has its keys beside it.
    assert (aside / "secrets.key").read_text() == "a key that was made since"
    assert (aside / "first-key").read_text() == "an account's key"
    assert (tmp_path / "other" / "secrets.key").read_text() == "a key of stored credentials"


def test_an_older_postgresql_is_not_passed_over_and_moves_by_backup_and_restore(
    command_here: Callable[..., Ran], tmp_path: Path
) -> None:
    data, file = tmp_path / "data", tmp_path / "old.tar"
    old = postgres.server(data, "16")
    with running(old, data, lambda: create_database(old.url)):
        migrate(old.url)
        with Database(old.url) as database:
            account = open_account(database).account_id
    assert find_versions(data) == ["16"]

    up = command_here("up", "--port", "0", "--data", str(data))
    assert up.code == 1
    assert "PostgreSQL 16's" in up.out + up.err
    assert find_versions(data) == ["16"]

    assert command_here("backup", str(file), "--data", str(data)).code == 0
    moved = command_here("restore", str(file), "--replace", "--data", str(data))
    assert (moved.code, moved.err) == (0, "")
    assert find_versions(data) == [postgres.VERSION]
    new = postgres.server(data)
    with running(new, data, lambda: create_database(new.url)), psycopg.connect(new.url) as connection:
        assert connection.execute("SELECT id FROM account").fetchone() == (account,)


def test_a_file_that_is_no_backup_changes_nothing(command_here: Callable[..., Ran], tmp_path: Path) -> None:
    data, artifacts = tmp_path / "data", Artifacts(open_store(Settings(data=tmp_path / "data")))
    (tmp_path / "text.tar").write_text("no tar")
    with tarfile.open(tmp_path / "half.tar", "w") as archive:
        archive.add(tmp_path / "text.tar", "artifacts/2026-01-01/x")
    for name in ("text.tar", "half.tar"):
        refused = command_here("restore", str(tmp_path / name), "--data", str(data))
        assert (refused.code, "not a complete backup" in refused.err) == (1, True)
    assert list(artifacts.keys()) == []


def test_a_database_of_others_that_has_a_system_is_left_alone(command_here: Callable[..., Ran], tmp_path: Path) -> None:
    server = postgres.server(tmp_path)
    with running(server, tmp_path, lambda: create_database(server.url)):
        assert command_here("migrate", DATABASE_URL=server.url, REDIS_URL="redis://127.0.0.1:1").code == 0
        file = tmp_path / "set.tar"
        assert command_here("backup", str(file), DATABASE_URL=server.url).code == 0
        refused = command_here("restore", str(file), DATABASE_URL=server.url)
        assert (refused.code, "Set it to an empty one" in refused.err) == (1, True)
