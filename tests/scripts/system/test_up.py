"""Up, as a user runs it: the whole system as real processes."""

import json
import os
import pty
import re
import shlex
import signal
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, chdir, suppress
from datetime import timedelta
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import psycopg
import pytest
from ran import Ran
from systems import Running, clean_environment, command, only, system
from waiting import wait_for

from pipeline.accounts.sessions import begin_session, csrf_token_of, find_owner, make_token
from pipeline.accounts.sign_in import use_link
from pipeline.database import Database, Statement
from pipeline.operations import supervision
from pipeline.operations.supervision import Pool
from pipeline.registry import load_kinds, queues
from pipeline.settings import Settings
from scripts.system import control, programs
from scripts.system.programs import ROOT, Server
from scripts.system.up import _hopeless, in_turn

pytestmark = pytest.mark.system

KEY = re.compile(r"API key +(pr_\S+)")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of somebody else, with code under the names of ours and of gunicorn's settings."""
    folder = tmp_path_factory.mktemp("hostile")
    for name in (
        "api/__init__",
        "api/server",
        "workers/__init__",
        "scripts/__init__",
        "gunicorn.conf",
        "sitecustomize",
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(f"open({str(folder / 'ran')!r}, 'a').write({name!r})\n")
    return folder


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, hostile: Path) -> Iterator[Running]:
    """A system for the tests that leave it as it was, started in a hostile folder."""
    with ExitStack() as stack:
        with chdir(hostile):
            running = stack.enter_context(system(tmp_path_factory.mktemp("shared") / "data", as_shipped=True))
        yield running


def status(address: str) -> int:
    try:
        with urlopen(f"{address}/readyz", timeout=60) as answer:
            return answer.status
    except HTTPError as error:
        with error:
            return error.code


def accounts(url: str) -> int:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT count(*) FROM account").fetchone()[0]


def test_a_first_start_says_where_it_is_and_puts_the_key_in_a_private_file(shared: Running):
    shared.wait_for_line("hello.wav")
    file = shared.data / "first-key"
    key = file.read_text().strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert str(file) in shared.written()
    assert key not in shared.written()
    link = (shared.data / "first-sign-in").read_text().strip()
    assert stat.S_IMODE((shared.data / "first-sign-in").stat().st_mode) == 0o600
    assert link.startswith(f"{shared.address}/dashboard/sign-in/link?token=")
    assert link not in shared.written()
    assert "curl" in shared.written()
    assert status(shared.address) == 200


def test_no_code_of_the_current_folder_is_run(shared: Running, hostile: Path) -> None:
    shared.wait_for_line("pool process ready")

    assert not (hostile / "ran").exists()


def test_pools_start_beside_the_api_where_a_processor_is_free():
    sizes = {"vision": 1, "search_check": 1, "synthesis": 0, "transcription": 2}

    assert in_turn(sizes, processors=1) == ([], ["vision", "search_check", "synthesis", "transcription"])
    assert in_turn(sizes, processors=2) == (["vision"], ["search_check", "synthesis", "transcription"])
    assert in_turn(sizes, processors=4) == (["vision", "search_check", "synthesis"], ["transcription"])
    assert in_turn(sizes, processors=5) == (["vision", "search_check", "synthesis", "transcription"], [])


def test_the_first_pools_start_before_the_system_is_ready(shared: Running):
    lines = [line.partition("| ")[2] for line in shared.written().splitlines() if line.startswith("pressroom ")]
    told = " ".join(line for line in lines if line.startswith(("starting the pools", "ready on")))
    beside = told.partition("ready on")[0]

    assert all(queue in beside for queue in queues(load_kinds(Settings())))


def test_a_command_finds_the_running_system_by_its_folder(shared: Running):
    found = control.find_system(shared.data)
    assert (found.pid, found.address) == (shared.process.pid, shared.address)
    assert accounts(found.database_url) == 1


def test_an_operator_scales_a_pool_from_the_dashboard_and_sees_its_processes(shared: Running):
    token = make_token()
    with Database(shared.database_url) as database:
        operator = Statement("UPDATE account SET is_operator = true WHERE name = 'first' RETURNING id")
        owner = database.run(find_owner(database.run(operator)[0]["id"]))
        database.run(begin_session(owner.id, owner.account_id, token, lasts=timedelta(hours=1)))

    def show(path: str, form: dict[str, str] | None = None) -> str:
        body = urlencode(form | {"csrf_token": csrf_token_of(token)}).encode() if form else None
        cookie = {"Cookie": f"pressroom_session={token}"}
        request = Request(f"{shared.address}/dashboard/operators/{path}", body, cookie)
        with urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    try:
        # The next page is where the redirect leads; the message comes by a cookie, which nobody keeps here.
        assert 'name="pool" value="synthesis"' in show("processes/scale", {"pool": "synthesis", "processes": "2"})
        assert next(pool.wanted for pool in supervision.pools(shared.data) if pool.name == "synthesis") == 2
        show("processes/scale", {"pool": "api", "processes": "5"})
        assert next(pool.wanted for pool in supervision.pools(shared.data) if pool.name == "api") == 1
    finally:
        supervision.scale(shared.data, "synthesis", 1)
    wanted = [f'class="whole">{name}</th>' for name in ("api", "sweep", "synthesis")]
    wait_for(lambda: all(one in show("processes").split("<h2>All processes")[1] for one in wanted))


def test_every_program_runs_once_a_queue_has_a_pool_of_one(shared: Running):
    programs_and_pools = {"postgres", "redis", "api", "sweep", *queues(load_kinds(Settings()))}
    expected = dict.fromkeys(programs_and_pools, (1, 1))

    def found() -> dict[str, tuple[int, int]]:
        return {one.name: (one.wanted, len(one.pids)) for one in supervision.pools(shared.data)}

    # A surplus process ends its work first: the test before scales a pool.
    wait_for(lambda: found() == expected, about=found)


def test_a_second_system_on_the_same_folder_is_refused_in_one_line(shared: Running, command_here: Callable[..., Ran]):
    run = command_here("up", "--port", "0", "--data", str(shared.data))
    assert run.code == 1
    assert "running on" in run.err
    assert run.err.count("\n") == 1
    assert status(shared.address) == 200


def test_a_taken_port_is_an_error(shared: Running, command_here: Callable[..., Ran], tmp_path: Path):
    run = command_here("up", "--port", shared.address.rpartition(":")[2], "--data", str(tmp_path / "data"))
    assert (run.code, "--port" in run.err) == (1, True)


def test_requests_wait_while_the_api_starts_again(shared: Running):
    (api,) = (pool.pids[0] for pool in supervision.pools(shared.data) if pool.name == "api")
    os.kill(api, signal.SIGKILL)
    assert status(shared.address) in (200, 503)
    wait_for(lambda: status(shared.address) == 200)


def test_a_server_that_was_killed_is_started_again_with_its_data(shared: Running):
    found = control.find_system(shared.data)
    for name in ("postgres", "redis"):
        (victim,) = (pool.pids[0] for pool in supervision.pools(shared.data) if pool.name == name)
        os.kill(victim, signal.SIGKILL)

    def is_back() -> bool:
        with suppress(psycopg.OperationalError):
            return accounts(found.database_url) == 1
        return False

    wait_for(is_back)
    wait_for(lambda: status(shared.address) == 200)


def test_nothing_but_data_is_left_after_a_stop_or_a_kill_and_the_next_start_finds_everything(
    shared: Running, tmp_path: Path
):
    data = tmp_path / "data"
    taken = ("--port", shared.address.rpartition(":")[2], "--any-port")
    with system(data, *taken, "--pool", "synthesis=2", *only("synthesis")) as first:
        assert first.address != shared.address
        assert status(first.address) == status(shared.address) == 200
        # Pools start behind the API, one after another.
        wait_for(lambda: len(next(pool for pool in supervision.pools(data) if pool.name == "synthesis").pids) == 2)
        key = (data / "first-key").read_text()
        assert first.stop() == 0
        assert first.processes() == []
        assert control.find_system(data) is None
        assert not (data / "system.json").exists()
    with system(data, *only("synthesis")) as killed:
        # Nobody has signed in: the link is told of again, with the address of this start.
        killed.wait_for_line("hello.wav")
        assert "Sign in" in killed.written()
        link = (data / "first-sign-in").read_text().strip()
        assert link.startswith(f"{killed.address}/dashboard/sign-in/link?token=")
        assert (data / "first-key").read_text() == key
        assert accounts(killed.database_url) == 1
        assert len(killed.processes()) >= 7
        with Database(killed.database_url) as database:
            assert database.run(use_link(link.partition("token=")[2]))
        killed.process.kill()
        killed.process.wait()
        port = killed.address.rpartition(":")[2]
        # At once, while the killed one drains.
        with system(data, "--port", port, *only()) as again:
            assert again.address == killed.address
            assert accounts(again.database_url) == 1
            # Somebody has signed in: the link is not told of again.
            again.wait_for_line("hello.wav")
            assert "Sign in" not in again.written()
    assert killed.processes() == []


def test_on_a_terminal_the_key_is_shown_last_in_readable_lines_and_kept_in_a_private_file(tmp_path: Path):
    data = tmp_path / "data"
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command("up", "--port", "0", "--data", str(data), *only()),
        env=clean_environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        written = read_terminal(ours, "hello.wav")
        process.send_signal(signal.SIGINT)
        written += read_terminal(ours, None)
        assert process.wait(timeout=120) == 0
    os.close(ours)
    key = KEY.search(written).group(1)
    assert (data / "first-key").read_text().strip() == key
    assert stat.S_IMODE((data / "first-key").stat().st_mode) == 0o600
    assert written.index(key) > written.index("ready on")
    assert (data / "first-sign-in").read_text().strip() in written
    assert "\x1b[" in written
    assert '| {"' not in written
    assert '"request answered"' in (data / "up.log").read_text()
    for file in (file for file in data.rglob("*") if file.is_file() and file.name != "first-key"):
        assert key.encode() not in file.read_bytes(), file


def read_terminal(terminal: int, words: str | None) -> str:
    """Return what is written to a terminal until some words, or its end."""
    written = ""
    while words is None or words not in written:
        try:
            written += os.read(terminal, 4096).decode(errors="replace")
        except OSError:  # Linux's word for the end
            assert words is None, written
            break
    return written


def test_a_system_that_waits_for_its_database_says_so_and_can_be_stopped(tmp_path: Path):
    unreachable = {"DATABASE_URL": "postgresql://someone:secret@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1"}
    with subprocess.Popen(
        command("up", "--port", "0", "--data", str(tmp_path / "data")),
        env=clean_environment() | unreachable,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        lines = ""
        while "waiting for the database" not in lines:
            lines += (line := process.stdout.readline())
            assert line, lines
        assert "secret" not in lines
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 0


def test_the_procfile_has_the_same_programs():
    lines = (line for line in (ROOT / "Procfile").read_text().splitlines() if not line.startswith("#"))
    written = {name: shlex.split(text) for name, _, text in (line.partition(": ") for line in lines)}
    settings = Settings()
    assert set(written) == {"api", "sweep", *queues(load_kinds(settings))}
    for queue in queues(load_kinds(settings)):
        ours = ["pressroom", *programs.pool(queue)[4:]]
        assert written[queue] == ours
    assert written["sweep"][1:] == list(programs.sweep()[4:])
    varying = ("--bind=", "--workers=", "--chdir=")
    assert [word for word in written["api"] if not word.startswith(varying)] == [
        word for word in programs.api(settings, bind="")[3:] if not word.startswith(varying)
    ]


def test_the_state_file_holds_what_a_command_needs(shared: Running):
    assert set(json.loads((shared.data / "system.json").read_text())) == {
        "pid",
        "address",
        "database_url",
        "redis_url",
    }
    assert stat.S_IMODE((shared.data / "system.json").stat().st_mode) == 0o600


def test_only_a_server_that_does_not_start_ends_a_start() -> None:
    servers = [Server("postgres", [], {}, url=""), Server("redis", [], {}, url="")]

    def running(**restarts: int) -> list[Pool]:
        return [Pool(name, wanted=1, pids=[], restarts=times, scalable=False) for name, times in restarts.items()]

    assert _hopeless(servers, running(postgres=1, redis=0, api=9), {}) is None
    assert _hopeless(servers, running(postgres=9, redis=0, api=0), {}) == "postgres"
    assert _hopeless(servers, running(postgres=9, redis=0, api=0), {"postgres": 8}) is None
