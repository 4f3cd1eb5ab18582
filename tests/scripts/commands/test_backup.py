"""Backup and restore, of systems that run and of those that don't, and over a major version of PostgreSQL."""

import tarfile
from pathlib import Path

import psycopg
import pytest
from payers import open_account
from servers import running
from systems import only, run_command, system

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database
from pipeline.lifecycle.migrations import migrate
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store
from scripts.system.embedded import postgres
from scripts.system.embedded.postgres import create_database, find_versions


@pytest.mark.system
def test_a_restored_system_has_accounts_results_and_ledger(tmp_path: Path) -> None:
    file, data = tmp_path / "press.tar", tmp_path / "data"
    with system(data, *only("synthesis")) as running_system:
        key = running_system.key
        made = running_system.ask("/tts", {"text": "Kept words."})
        job = made.headers["X-Job-ID"]
        (data / "secrets.key").write_text("a key of stored credentials")
        taken = run_command("backup", str(file), "--data", str(data))
        assert (taken.returncode, taken.stderr) == (0, "")
        again = run_command("backup", str(file), "--data", str(data))
        assert (again.returncode, "exists already" in again.stderr) == (1, True)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.glob("*press*")] == ["press.tar"]

    restored = run_command("restore", str(file), "--data", str(tmp_path / "other"))
    assert (restored.returncode, restored.stderr) == (0, "")
    with system(tmp_path / "other", *only()) as other:
        other.__dict__["key"] = key  # the account's, restored with it
        assert other.ask(f"/jobs/{job}/result").body == made.body
        with Database(other.database_url) as database:
            assert database.run(discrepancies()) == []
    assert (tmp_path / "other" / "secrets.key").read_text() == "a key of stored credentials"

    # There is a system now; and one without PostgreSQL running can be backed up as well.
    refused = run_command("restore", str(file), "--data", str(tmp_path / "other"))
    assert (refused.returncode, "--replace" in refused.stderr) == (1, True)
    off = run_command("backup", str(tmp_path / "off.tar"), "--data", str(tmp_path / "other"))
    assert (off.returncode, off.stderr) == (0, "")
    (tmp_path / "other" / "secrets.key").write_text("a key that was made since")
    (tmp_path / "other" / "first-key").write_text("an account's key")
    replaced = run_command("restore", str(tmp_path / "off.tar"), "--replace", "--data", str(tmp_path / "other"))
    assert (replaced.returncode, replaced.stderr) == (0, "")
    (aside,) = (tmp_path / "other" / "postgres").glob("before-restore-*")
    assert (aside / postgres.VERSION / "PG_VERSION").exists()
    # The database aside has its keys beside it.
    assert (aside / "secrets.key").read_text() == "a key that was made since"
    assert (aside / "first-key").read_text() == "an account's key"
    assert (tmp_path / "other" / "secrets.key").read_text() == "a key of stored credentials"


def test_an_older_postgresql_is_not_passed_over_and_moves_by_backup_and_restore(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "old.tar"
    old = postgres.server(data, "16")
    with running(old, data, lambda: create_database(old.url)):
        migrate(old.url)
        with Database(old.url) as database:
            account = open_account(database).account_id
    assert find_versions(data) == ["16"]

    up = run_command("up", "--port", "0", "--data", str(data))
    assert up.returncode == 1
    assert "PostgreSQL 16's" in up.stdout + up.stderr
    assert find_versions(data) == ["16"]

    assert run_command("backup", str(file), "--data", str(data)).returncode == 0
    moved = run_command("restore", str(file), "--replace", "--data", str(data))
    assert (moved.returncode, moved.stderr) == (0, "")
    assert find_versions(data) == [postgres.VERSION]
    new = postgres.server(data)
    with running(new, data, lambda: create_database(new.url)), psycopg.connect(new.url) as connection:
        assert connection.execute("SELECT id FROM account").fetchone() == (account,)


def test_a_file_that_is_no_backup_changes_nothing(tmp_path: Path) -> None:
    data, artifacts = tmp_path / "data", Artifacts(open_store(Settings(data=tmp_path / "data")))
    (tmp_path / "text.tar").write_text("no tar")
    with tarfile.open(tmp_path / "half.tar", "w") as archive:
        archive.add(tmp_path / "text.tar", "artifacts/2026-01-01/x")
    for name in ("text.tar", "half.tar"):
        refused = run_command("restore", str(tmp_path / name), "--data", str(data))
        assert (refused.returncode, "no complete backup" in refused.stderr) == (1, True)
    assert list(artifacts.keys()) == []


def test_a_database_of_others_that_has_a_system_is_left_alone(tmp_path: Path) -> None:
    server = postgres.server(tmp_path)
    with running(server, tmp_path, lambda: create_database(server.url)):
        assert run_command("migrate", DATABASE_URL=server.url, REDIS_URL="redis://127.0.0.1:1").returncode == 0
        file = tmp_path / "set.tar"
        assert run_command("backup", str(file), DATABASE_URL=server.url).returncode == 0
        refused = run_command("restore", str(file), DATABASE_URL=server.url)
        assert (refused.returncode, "Make an empty one" in refused.stderr) == (1, True)
