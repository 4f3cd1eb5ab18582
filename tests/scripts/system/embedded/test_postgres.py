"""The embedded PostgreSQL: private, kept over restarts and crashes, and able to run for root from anywhere."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from servers import running, start_postgres, wait_for_end

from pipeline.operations.child_processes import shimmed
from scripts.system.embedded import postgres
from scripts.system.embedded.roles import OWNER
from scripts.system.programs import environment

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root steps down")


def write_note(url: str, text: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS note (text text)")
        connection.execute("INSERT INTO note VALUES (%s)", [text])


def notes(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [row[0] for row in connection.execute("SELECT text FROM note ORDER BY text")]


def setting(url: str, name: str) -> str:
    with psycopg.connect(url) as connection:
        return str(connection.execute("SELECT current_setting(%s)", [name]).fetchone()[0])


def postmaster(folder: Path) -> int:
    return int((folder / "postgres" / postgres.VERSION / "postmaster.pid").read_text().split()[0])


def test_it_listens_on_a_private_socket_alone_and_flushes_what_is_committed_however_deep_its_folder(tmp_path: Path):
    deep = tmp_path / "/".join(["a-folder-with-a-long-name"] * 6)
    with start_postgres(deep, is_durable=True) as url:
        assert setting(url, "listen_addresses") == ""
        assert setting(url, "fsync") == setting(url, "synchronous_commit") == setting(url, "full_page_writes") == "on"
        sockets = Path(setting(url, "unix_socket_directories"))
        assert sockets.stat().st_mode & 0o777 == 0o700
        assert not sockets.is_relative_to(deep)
        assert sockets.parent.stat().st_mode & 0o077 in (0, 0o010)
        shutil.rmtree(sockets.parent)


def test_its_everyday_role_runs_no_programs_and_takes_over_what_a_superuser_had(tmp_path: Path):
    server = postgres.server(tmp_path)
    with running(server, tmp_path, lambda: postgres.create_database(server.url)):
        with psycopg.connect(server.url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("COPY (SELECT 1) TO PROGRAM 'true'")
        with psycopg.connect(server.url, user=OWNER) as connection:  # as earlier releases did everything
            connection.execute(f"ALTER DATABASE {OWNER} OWNER TO {OWNER}")
            connection.execute("CREATE TABLE note (id serial, number bigint GENERATED ALWAYS AS IDENTITY, text text)")
            connection.execute("CREATE SCHEMA lifecycle_0 CREATE SEQUENCE alone")
            connection.execute("CREATE FUNCTION lifecycle_0.one(text) RETURNS integer LANGUAGE sql AS 'SELECT 1'")
        postgres.create_database(server.url)
        with psycopg.connect(server.url) as connection:
            connection.execute("INSERT INTO note (text) VALUES ('kept')")
            connection.execute("DROP SCHEMA lifecycle_0 CASCADE")
            connection.execute("ALTER TABLE note ADD COLUMN more text")


def test_what_was_committed_survives_the_kill_of_every_process(tmp_path: Path):
    server = postgres.server(tmp_path)
    with running(server, tmp_path, lambda: postgres.create_database(server.url)) as process:
        write_note(server.url, "kept")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    with start_postgres(tmp_path) as url:
        assert notes(url) == ["kept"]


def test_a_server_whose_launcher_was_killed_ends_and_the_next_one_waits_for_it(tmp_path: Path):
    server = postgres.server(tmp_path)
    launcher = (
        "import subprocess, sys, time\n"
        "from pipeline.operations.child_processes import shimmed\n"
        "from scripts.system.embedded import postgres\n"
        "from pathlib import Path\n"
        "server = postgres.server(Path(sys.argv[1]))\n"
        "subprocess.Popen(shimmed(server.argv, sent=server.stopped_by))\n"
        "time.sleep(600)\n"
    )
    with start_postgres(tmp_path) as url:
        write_note(url, "kept")
    with subprocess.Popen([sys.executable, "-c", launcher, str(tmp_path)], env=environment()) as process:
        wait_for_answer(server.url)
        orphan = postmaster(tmp_path)
        process.kill()
    with start_postgres(tmp_path) as url:
        assert notes(url) == ["kept"]
        assert postmaster(tmp_path) != orphan
    wait_for_end(orphan)


def wait_for_answer(url: str) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with suppress(psycopg.OperationalError), psycopg.connect(url):
            return
        time.sleep(0.05)


def test_a_pid_file_that_names_another_program_is_no_obstacle(tmp_path: Path):
    with start_postgres(tmp_path) as url:
        write_note(url, "kept")
        pid_file = tmp_path / "postgres" / postgres.VERSION / "postmaster.pid"
        lines = pid_file.read_text().split("\n")
    with subprocess.Popen(["sleep", "60"], **_same_user(tmp_path)) as other:
        pid_file.write_text("\n".join([str(other.pid), *lines[1:]]))
        with start_postgres(tmp_path) as url:
            assert notes(url) == ["kept"]
        other.kill()


def _same_user(folder: Path) -> dict[str, int]:
    owner = (folder / "postgres").stat().st_uid
    return {"user": owner} if os.geteuid() == 0 else {}


def test_a_cluster_cut_short_while_it_was_made_is_begun_again(tmp_path: Path):
    unfinished = tmp_path / "postgres" / f"{postgres.VERSION}.unfinished"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text(postgres.VERSION)
    if os.geteuid() == 0:
        for path in (unfinished.parent, unfinished, unfinished / "PG_VERSION"):
            shutil.chown(path, pwd.getpwnam("nobody").pw_uid)
    with start_postgres(tmp_path) as url:
        assert setting(url, "server_encoding") == "UTF8"


@as_root
def test_as_root_it_runs_unprivileged_and_lets_nobody_else_in_not_even_its_own_user():
    with tempfile.TemporaryDirectory() as folder, start_postgres(Path(folder)) as url:
        server = Path(f"/proc/{postmaster(Path(folder))}").stat()
        assert server.st_uid != 0
        assert "Peer authentication failed" in refusal_as(server, url)


def refusal_as(user: os.stat_result, url: str) -> str:
    """Return why another user can't connect."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(user.st_gid)
            os.setuid(user.st_uid)
            psycopg.connect(url)
        except (OSError, psycopg.OperationalError) as error:
            os.write(writer, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)  # and no other child of this process: servers are among them
    os.close(writer)
    with os.fdopen(reader) as text:
        return text.read()


@as_root
def test_as_root_its_files_may_be_under_a_private_home_and_unreadable_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """As a wheel is that was installed with umask 077."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    wheel = postgres.find_binaries().parent.parent
    for folder in (wheel, wheel.parent / f"{wheel.name}.libs"):
        shutil.copytree(folder, home / folder.name, symlinks=True, ignore=shutil.ignore_patterns("pginstall", "*.a"))
    subprocess.run(["chmod", "-R", "go=", str(home)], check=True)
    monkeypatch.setenv("PYTHONPATH", str(home))
    with start_postgres(home / "data") as url:
        write_note(url, "kept")
        program = Path(f"/proc/{postmaster(home / 'data')}/exe").readlink()
        assert program.is_relative_to(home)
    assert home.stat().st_mode & 0o777 == 0o700


def test_the_launcher_says_in_one_line_why_it_can_not_start(tmp_path: Path):
    (tmp_path / "data").write_text("a file, not a folder")
    server = postgres.server(tmp_path / "data")
    run = subprocess.run(shimmed(server.argv), env=environment(), capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert "--data" in run.stderr
