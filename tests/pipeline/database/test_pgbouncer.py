"""A real PgBouncer in transaction mode, older than 1.21, between us and PostgreSQL; skipped where there is none."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from payers import open_account
from servers import start_postgres, wait_until
from workbench import submission

from pipeline import lifecycle
from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database
from pipeline.lifecycle import Outcome
from pipeline.lifecycle.migrations import migrate
from pipeline.operations.supervision import sockets_folder
from scripts.system.embedded.roles import OWNER, ROLE

PGBOUNCER = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin")
#: Fewer connections than threads, so that sessions change hands.
CONNECTIONS, THREADS, JOBS = 2, 8, 80


@pytest.fixture
def pooled_url() -> Iterator[str]:
    if PGBOUNCER is None:
        pytest.skip("pgbouncer is not installed")
    # Not pytest's folder, which only this user may enter.
    with tempfile.TemporaryDirectory() as name, start_postgres(folder := Path(name)) as url, socket.socket() as free:
        migrate(url)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        sockets = sockets_folder(folder) / "postgres"
        _let_in(folder, url)
        rules = sockets / "pgbouncer.ini"  # which the server's user can read
        rules.write_text(
            f"[databases]\n{OWNER} = host={sockets} user={ROLE}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
            f"listen_port = {port}\nauth_type = any\npool_mode = transaction\nunix_socket_dir =\n"
            f"default_pool_size = {CONNECTIONS}\nmax_db_connections = {CONNECTIONS}\n"
        )
        log = folder / "pgbouncer.log"
        with log.open("wb") as output:
            owner = sockets.stat()
            who: dict[str, Any] = (
                {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
            )
            process = subprocess.Popen(
                [PGBOUNCER, str(rules)], stdout=output, stderr=output, **(who if os.geteuid() == 0 else {})
            )
        pooled = f"postgresql://{ROLE}@127.0.0.1:{port}/{OWNER}"
        try:
            wait_until(lambda: psycopg.connect(pooled).close(), process, log)
            yield pooled
        finally:
            process.terminate()
            process.wait()


def _let_in(folder: Path, url: str) -> None:
    """Let the server's own user in, as whom PgBouncer runs: it refuses to run as root."""
    (rules,) = folder.glob("postgres/*/pg_ident.conf")
    name = rules.owner()
    rules.write_text(f'{rules.read_text()}system "{name}" {ROLE}\n')
    with psycopg.connect(url, user=OWNER) as connection:
        connection.execute("SELECT pg_reload_conf()")


def test_work_goes_through_a_pgbouncer_in_transaction_mode(pooled_url: str) -> None:
    with Database(pooled_url, connections=THREADS, prepare=False) as database:
        payer = open_account(database)

        def work(_: int) -> int:
            database.run(lifecycle.submit(submission(payer)))
            claimed = database.run(lifecycle.claim({"sketch": 1}, lease_for=timedelta(seconds=30)))
            for item in claimed:
                database.run(lifecycle.report(item.lease_id, [Outcome(item.item_id, "done", credits=1)]))
            return len(claimed)

        with ThreadPoolExecutor(THREADS) as threads:
            done = sum(threads.map(work, range(JOBS)))
        assert done == JOBS
        assert database.run(discrepancies()) == []
