"""Prepare: the database is waited for, and begun with again when it goes away in the middle."""

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from servers import WAITS_FOR_US, running

from pipeline.errors import NotReady
from pipeline.lifecycle.migrations import TURN
from pipeline.settings import Settings
from scripts.system import prepare
from scripts.system.embedded import postgres
from scripts.system.embedded.postgres import create_database


@pytest.mark.parametrize("embedded", [True, False], ids=["ours", "of somebody else"])
def test_a_server_that_dies_while_its_database_is_prepared_is_waited_for(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, embedded: bool
) -> None:
    monkeypatch.setattr(prepare, "PATIENCE", timedelta())  # it has answered, and is waited for beyond all patience
    server = postgres.server(tmp_path)
    settings = Settings(data=tmp_path, database_url=server.url)
    found: list[object] = []
    preparing = threading.Thread(
        target=lambda: found.append(prepare.prepare_patiently(settings, "http://127.0.0.1:8000", embedded=embedded)),
        daemon=True,
    )

    with running(server, tmp_path, lambda: create_database(server.url)) as process:
        with closing(psycopg.connect(server.url, autocommit=True)) as other:
            other.execute("SELECT pg_advisory_lock(hashtext(%s))", [TURN])  # as another system does that migrates
            preparing.start()
            while not other.execute(WAITS_FOR_US).fetchall():
                assert preparing.is_alive()
            process.send_signal(signal.SIGQUIT)  # at once, every connection cut
            process.wait(timeout=60)
        time.sleep(1)
        assert preparing.is_alive()
    with running(server, tmp_path, lambda: create_database(server.url)):
        preparing.join(timeout=120)

        with psycopg.connect(server.url) as database:
            assert database.execute("SELECT count(*) FROM account").fetchone() == (1,)
    assert len(found) == 1
    told = capfd.readouterr()
    assert told.out.count(prepare.ANSWERS) == 2
    assert "the database went away while it was prepared, beginning again: " in told.err


#: Answers so often as a server that recovers from a crash does, and then no more.
RECOVERING = """
import socket, struct, sys
listener = socket.socket(fileno=int(sys.argv[1]))
text = b"SFATAL\\0VFATAL\\0C57P03\\0Mthe database system is starting up\\0\\0"
for _ in range(6):
    connection, _ = listener.accept()
    with connection:
        connection.recv(10_000)
        connection.sendall(b"E" + struct.pack("!i", len(text) + 4) + text)
"""


@contextmanager
def recovering_server() -> Iterator[str]:
    """Run such a server in a process of its own, because libpq keeps the interpreter while it asks; yields its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        descriptor = listener.fileno()
        command = [sys.executable, "-c", RECOVERING, str(descriptor)]
        with subprocess.Popen(command, pass_fds=[descriptor]) as process:
            url = f"postgresql://127.0.0.1:{listener.getsockname()[1]}/x?sslmode=disable&gssencmode=disable"
            listener.close()
            yield url
            assert process.wait(timeout=60) == 0


def test_a_server_that_recovers_is_waited_for_beyond_all_patience(capsys: pytest.CaptureFixture[str]) -> None:
    with recovering_server() as url, pytest.raises(NotReady, match="does not answer"):
        prepare.wait_for_database(url, embedded=False, patience=timedelta())

    assert "waiting for the database: " in capsys.readouterr().err
