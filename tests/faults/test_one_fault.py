"""One fault at a time, each with what must come of it, on a whole system of real processes."""

import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from systems import FAST, Running, children, clean_environment, kill, only, system
from waiting import wait_for

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Row, Statement
from pipeline.operations import supervision
from pipeline.settings import Settings
from scripts.system import programs

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A system with two made-up processes; the books must balance after all that was done to it."""
    folder = tmp_path_factory.mktemp("shared")
    extra = {**FAST, "PRESSROOM_KINDS": "made_up:MadeUp,killing:Killing", "KILL_FILE": str(folder / "kill")}
    extra["MADE_UP_RUN_LIMIT"] = "3600"
    with system(folder / "data", "--pool", "made_up=2", *only("made_up"), extra=extra) as running:
        yield running
        with Database(running.database_url) as database:
            assert database.run(discrepancies()) == []


#: How often items have crashed, in all.
CRASHES: Statement[list[Row]] = Statement("SELECT sum(crashes) AS crashes FROM item")


def wait_for_job(running: Running, request_id: str) -> list[dict[str, Any]]:
    """Return the job that a request makes, in a list, once it is there."""

    def found() -> list[dict[str, Any]]:
        with suppress(OSError, HTTPException):  # a killed API is starting again
            answer = running.ask(f"/jobs?request_id={request_id}")
            return list(answer.json) if answer.status == HTTPStatus.OK else []
        return []

    return list(wait_for(found, about=lambda: f"no job of {request_id}"))


def test_a_poison_item_is_given_up_and_its_neighbours_are_done(shared: Running) -> None:
    job_id = shared.submit({"items": [{}, {"do": "exit"}, {}, {}]})

    job = shared.wait_for_state(job_id)

    assert job["state"] == "partial"
    assert job["credits"] == {"held": 4, "captured": 3, "released": 1}
    results = shared.ask(f"/jobs/{job_id}/result").json["results"]
    assert [result.get("code") for result in results] == [None, "worker_crashed", None, None]


def test_a_worker_that_was_frozen_past_its_lease_changes_nothing_when_it_wakes(shared: Running) -> None:
    workers = shared.workers("made_up")
    for pid in workers:
        kill(pid, signal.SIGSTOP)
    job_id = shared.submit({"items": [{"do": "sleep", "seconds": 6}]})
    try:
        kill(workers[0], signal.SIGCONT)
        shared.wait_for_state(job_id, "running")
        kill(workers[0], signal.SIGSTOP)
        kill(workers[1], signal.SIGCONT)
        job = shared.wait_for_state(job_id)
    finally:
        for pid in workers:
            kill(pid, signal.SIGCONT)

    assert job["state"] == "succeeded"
    first = shared.ask(f"/jobs/{job_id}/result").json
    assert first["results"][0]["pid"] == workers[1]
    # The one that was frozen goes on and reports; it has only one slot, so by the time it has done another job.
    kill(workers[1], signal.SIGSTOP)
    try:
        other = shared.submit({"count": 1})
        assert shared.wait_for_state(other)["state"] == "succeeded"
    finally:
        kill(workers[1], signal.SIGCONT)
    assert shared.ask(f"/jobs/{other}/result").json["results"][0]["pid"] == workers[0]
    assert shared.ask(f"/jobs/{job_id}/result").json == first
    assert shared.ask(f"/jobs/{job_id}").json["credits"] == {"held": 1, "captured": 1, "released": 0}


def test_a_process_that_loses_its_master_while_it_starts_takes_no_work(tmp_path: Path) -> None:
    # It would be ended in the midst of it: its items would wait for their lease, and count a crash.
    with system(tmp_path / "data", "--pool", "made_up=1", *only("made_up"), extra=FAST) as running:
        running.wait_for_line("pool process ready")
        kill(running.workers("made_up")[0])
        job_ids = [running.submit({"items": [{"do": "sleep", "seconds": 2.5}]}) for _ in range(2)]
        for seconds in (0.3, 0.5, 0.7, 1.0):  # its process is made after a quarter of a second
            while not (masters := running.pids("made_up")):
                time.sleep(0.01)
            time.sleep(seconds)
            kill(masters[0])

        assert [running.wait_for_state(job_id)["state"] for job_id in job_ids] == ["succeeded"] * 2
        with Database(running.database_url) as database:
            assert database.run(CRASHES) == [{"crashes": 0}]


def test_a_process_that_loses_its_master_keeps_what_it_holds_and_gives_it_back(shared: Running) -> None:
    # It is told of the death up to once a thread of its master.
    for _ in range(3):
        job_id = shared.submit({"items": [{"do": "sleep", "seconds": 2.5}]})
        shared.wait_for_state(job_id, "running")
        for pid in shared.pids("made_up"):
            kill(pid)

        assert shared.wait_for_state(job_id)["state"] == "succeeded"
        with Database(shared.database_url) as database:
            crashes = Statement("SELECT crashes FROM item WHERE job_id = %(job)s", {"job": job_id}, list)
            assert database.run(crashes) == [{"crashes": 0}]
    shared.wait_for_line("items given back")  # in the system's log, though its master is dead


@contextmanager
def lone_process(running: Running, log: Path) -> Iterator[int]:
    """Start a process of the made-up pool whose master waits until it has started; yield the master's pid."""
    servers = {"DATABASE_URL": running.database_url, "REDIS_URL": running.redis_url}
    command = (*programs.pool(Settings(), "made_up"), "--worker-fork-timeout=60000")
    environment = clean_environment(running.mark, {**FAST, "PRESSROOM_DATA": str(running.data)}) | servers
    with log.open("wb") as output, subprocess.Popen(command, env=environment, stdout=output, stderr=output) as master:
        found: list[int] = []
        try:
            while not found:
                found = children(master.pid)
            yield master.pid
        finally:
            for pid in (master.pid, *found):
                kill(pid)


def test_a_process_that_can_not_tell_a_dead_master_that_it_has_started_takes_no_work(tmp_path: Path) -> None:
    log = tmp_path / "lone.log"
    with system(tmp_path / "data", "--pool", "made_up=0", *only("made_up"), extra=FAST) as running:
        job_id = running.submit({})
        with lone_process(running, log) as master:
            time.sleep(0.1)  # it waits from a millisecond after its start
            kill(master)
            wait_for(lambda: "pool process ready" in log.read_text(), about=log.read_text)
            time.sleep(1)
            assert running.ask(f"/jobs/{job_id}").json["state"] == "queued"

        supervision.scale(running.data, "made_up", 1)
        assert running.wait_for_state(job_id)["state"] == "succeeded"


def test_an_api_killed_between_the_commit_and_the_wake_up_costs_a_moment(shared: Running) -> None:
    marker = shared.data.parent / "kill"
    marker.touch()

    with suppress(OSError, HTTPException):  # the answer may have left before the process died
        shared.ask("/killing", {"count": 2}, Prefer="respond-async", X_Request_Id="killed")

    wait_for(lambda: not marker.exists())
    [job] = wait_for_job(shared, "killed")
    assert shared.wait_for_state(job["id"])["state"] == "succeeded"


def test_redis_killed_while_requests_wait_costs_a_moment(shared: Running) -> None:
    answers = []
    body = {"items": [{"do": "sleep", "seconds": 1}]}
    waiting = threading.Thread(target=lambda: answers.append(shared.ask("/made-up", body, X_Request_Id="redis-away")))
    waiting.start()
    wait_for_job(shared, "redis-away")
    kill(shared.pids("redis")[0])
    waiting.join()

    assert answers[0].status == 200


def test_a_system_works_where_redis_never_was(tmp_path: Path) -> None:
    nowhere = "redis://127.0.0.1:1/0"
    extra = {**FAST, "REDIS_URL": nowhere, "PRESSROOM_API__PROCESSES": "1"}
    with system(tmp_path / "data", *only("made_up"), extra=extra, answers="/healthz") as running:
        answer = running.ask("/made-up", {"count": 3})
        assert answer.status == 200
        assert len(answer.json["results"]) == 3
