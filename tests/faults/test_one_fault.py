"""One fault at a time, each with what must come of it, on a whole system of real processes."""

import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from systems import FAST, Running, children, kill, name_of, only, system
from waiting import wait_for

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Statement

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
    workers = shared.pids("made_up")
    for pid in workers:
        kill(pid, signal.SIGSTOP)
    job_id = shared.submit({"items": [{"do": "sleep", "seconds": 4}]})
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


def test_without_a_fork_server_what_it_forked_gives_its_work_back_and_is_started_by_exec(shared: Running) -> None:
    job_id = shared.submit({"items": [{"do": "sleep", "seconds": 2.5}]})
    shared.wait_for_state(job_id, "running")
    (fork_server,) = [pid for pid in children(shared.process.pid) if name_of(pid) == "fork server"]
    kill(fork_server)

    assert shared.wait_for_state(job_id)["state"] == "succeeded"
    with Database(shared.database_url) as database:
        crashes = Statement("SELECT crashes FROM item WHERE job_id = %(job)s", {"job": job_id}, list)
        assert database.run(crashes) == [{"crashes": 0}]
    shared.wait_for_line("items given back")

    def names() -> list[str]:
        with suppress(FileNotFoundError):  # the last of those that were forked may just be going
            return [name_of(pid) for pid in shared.pids("made_up")]
        return []

    wait_for(lambda: names() == ["python"] * 2, about=names)


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


@pytest.mark.storm  # of API and pools apart, test_waiting.py and test_broker.py say the same
def test_a_system_works_where_redis_never_was(tmp_path: Path) -> None:
    nowhere = "redis://127.0.0.1:1/0"
    extra = {**FAST, "REDIS_URL": nowhere, "PRESSROOM_API__PROCESSES": "1"}
    with system(tmp_path / "data", *only("made_up"), extra=extra, answers="/healthz") as running:
        answer = running.ask("/made-up", {"count": 3})
        assert answer.status == 200
        assert len(answer.json["results"]) == 3
