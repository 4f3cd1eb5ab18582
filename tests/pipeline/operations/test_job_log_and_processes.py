"""Processes tell how they are and what they have logged of a job; nobody keeps more than a bounded ring of it."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
import redis
import redis.asyncio
import structlog
from waiting import wait_for

from pipeline import job_log
from pipeline.accounts.keys import make_key
from pipeline.identifiers import machine
from pipeline.job_log import JobLine, read_job_log
from pipeline.log import SHARED
from pipeline.operations.processes import (
    GONE_AFTER,
    HASH,
    Process,
    ProcessReporter,
    gone_fields,
    is_alive,
    read_processes,
)
from pipeline.settings import Settings
from pipeline.wakes.broker import connect


def say(event: str, **fields: object) -> None:
    """Log a line as a process does, without writing it anywhere."""
    log = structlog.wrap_logger(structlog.ReturnLogger(), processors=[*SHARED[:2], *SHARED[3:], lambda *_: ""])
    log.info(event, **fields)


def sent(redis_url: str) -> None:
    client = connect(redis_url)
    pipe = client.pipeline(transaction=False)
    job_log.add_pending(pipe)
    pipe.execute()


def lines_of(redis_url: str, job_id: UUID, *, ago: timedelta = timedelta(minutes=1)) -> list[JobLine]:
    async def read() -> list[JobLine]:
        async with redis.asyncio.Redis.from_url(redis_url) as client:
            return await read_job_log(client, job_id, created_at=datetime.now(UTC) - ago, finished_at=None)

    return asyncio.run(read())


@pytest.fixture(autouse=True)
def nothing_pending() -> None:
    job_log._pending.clear()


def test_the_lines_of_a_job_are_found_among_those_of_others(redis_url: str) -> None:
    wanted, other = uuid4(), uuid4()
    say("run started", job_id=str(wanted), kind="speech")
    say("run started", job_id=str(other))
    say("handler failed", job_ids=[str(other), str(wanted)])
    say("pool process ready")
    sent(redis_url)

    lines = lines_of(redis_url, wanted)

    assert [line.event for line in lines] == ["run started", "handler failed"]
    assert lines[0].fields == {"kind": "speech"}
    assert lines[0].level == "info"


def test_no_key_is_in_a_line_that_is_kept(redis_url: str) -> None:
    job_id, secret = uuid4(), make_key().secret
    say("something odd", job_id=str(job_id), said=f"the key {secret} was sent")
    sent(redis_url)

    (line,) = lines_of(redis_url, job_id)
    assert secret not in str(line)
    assert secret not in str(connect(redis_url).xrange(job_log.STREAM))


def test_a_traceback_is_told_by_its_name_alone(redis_url: str) -> None:
    job_id = uuid4()
    try:
        raise ValueError("a text of a user")
    except ValueError:
        say("handler failed", job_id=str(job_id), exc_info=True)
    sent(redis_url)

    (line,) = lines_of(redis_url, job_id)
    assert line.fields == {"exception": "ValueError"}


def test_the_ring_is_bounded_for_all_jobs_together(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_log, "MOST_LINES", 50)
    for _ in range(5):
        for _ in range(100):
            say("run started", job_id=str(uuid4()))
        sent(redis_url)

    # Redis cuts whole nodes of a stream, of 100 entries by default.
    assert connect(redis_url).xlen(job_log.STREAM) < 200


def test_a_line_is_found_though_many_came_after_it(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_log, "CHUNK", 10)
    job_id = uuid4()
    say("run started", job_id=str(job_id))
    for _ in range(95):
        say("run started", job_id=str(uuid4()))
    sent(redis_url)

    assert len(lines_of(redis_url, job_id)) == 1


def test_a_process_tells_its_memory_until_it_ends(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "of-its-own")  # what others of this process tell is not its
    client = connect(redis_url)

    def told() -> list[Process]:
        return [process for process in read_processes(client.hgetall(HASH)) if process.host == "of-its-own"]

    end = ProcessReporter(lambda: "synthesis", Settings()).start(client)
    (process,) = wait_for(told)
    assert process.program == "synthesis"
    assert process.memory_bytes > 10_000_000
    assert not process.is_gone
    assert is_alive(client, machine())
    end()
    assert told() == []


def test_a_process_that_is_silent_is_gone() -> None:
    teller = ProcessReporter(lambda: "api", Settings())
    told = json.loads(teller.tell())
    fields = {
        b"now": json.dumps(told),
        b"long ago": json.dumps(told | {"told_at": told["told_at"] - GONE_AFTER.total_seconds() - 1}),
    }

    assert gone_fields(fields) == [b"long ago"]
    assert len(read_processes(fields)) == 1
