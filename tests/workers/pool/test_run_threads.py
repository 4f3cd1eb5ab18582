"""How often a process changes between threads and asks its servers, an item: counted, never timed."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis
from made_up import MadeUpOutput
from payers import Payer
from test_run import Pool
from waiting import wait_for

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Statement
from pipeline.wakes import broker
from workers.handler import Done


class Watched(Pool):
    """A pool whose statements and notices are written down, with the thread that sent each."""

    def __init__(self, *servers: Any) -> None:
        super().__init__(*servers)
        self.settings.work.heartbeat_seconds = 60  # a beat has a time and a thread of its own
        self.did: list[tuple[str, threading.Thread]] = []
        self.runner = self.make_runner()
        database, reporter = self.runner._database, self.runner._reporter
        self.database = database
        self._watch(database, "_run", lambda statement: _names(statement))
        self._watch(reporter, "announce", lambda taken: "notice" if taken else "")
        self._watch(self.handler, "run", lambda tasks: "run")

    def _watch(self, owner: Any, method: str, name: Callable[[Any], str]) -> None:
        do = getattr(owner, method)

        def watched(argument: Any) -> Any:
            if what := name(argument):
                self.did.append((what, threading.current_thread()))
            return do(argument)

        setattr(owner, method, watched)

    @property
    def steps(self) -> list[str]:
        return [step for step, _ in self.did]

    def threads(self) -> set[threading.Thread]:
        return {thread for _, thread in self.did}


def _names(statement: Statement[Any]) -> str:
    """Return which of report and claim a statement makes, in its order."""
    return "+".join(name for name in ("report", "claim") if f".{name}(" in statement.sql)


@pytest.fixture
def pool(database: Database, database_url: str, redis_url: str, tmp_path: Path, payer: Payer) -> Iterator[Watched]:
    with Database(database_url, connections=6) as its_own:
        made = Watched(its_own, database_url, redis_url, tmp_path, payer)
        made.handler.batch = 1
        yield made
        made.runner.stop()
    assert database.run(discrepancies()) == []
    made.redis.close()


def test_one_item_is_told_of_before_the_next_is_looked_for_and_no_other_thread_has_a_part(pool: Watched) -> None:
    pool.submit({})

    pool.runner.drain()

    assert pool.steps[:5] == ["claim", "run", "report", "notice", "claim"]
    assert len(pool.threads()) == 1


def test_while_work_flows_an_item_is_one_statement_and_all_items_one_threads(pool: Watched) -> None:
    pool.submit(*[{}] * 6)
    pool.redis.delete(broker.wake_list("made_up"))

    pool.runner.drain()

    flowing = [step for step in pool.steps if step != "notice"]
    assert flowing[:5] == ["claim", "run", "report", "claim", "run"]
    assert flowing[5:] == ["report+claim", "run"] * 4 + ["report+claim"] + ["claim"]
    assert len(pool.threads()) == 1


def test_a_thread_that_ended_a_run_goes_on_with_what_its_round_claimed(
    pool: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool.handler, "slots", 2)
    pool.runner = pool.make_runner()
    both = threading.Barrier(2, timeout=60)
    ran: list[threading.Thread] = []

    def run(tasks: Any) -> Any:
        ran.append(threading.current_thread())
        if len(ran) <= 2:
            both.wait()
        return [Done(MadeUpOutput(index=0, pid=0), engine="made_up")]

    monkeypatch.setattr(pool.handler, "run", run)
    job = pool.submit(*[{}] * 20)
    pool.runner.drain()

    assert pool.job(job.id).state == "succeeded"
    assert len(ran) == 20
    assert len(set(ran)) == 2


def test_a_process_that_serves_waits_for_its_wake_ups_itself_until_it_is_stopped(
    pool: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.pool.run.LOOK_EVERY_SECONDS", 60)  # only a wake-up brings it to look
    pool.redis.delete(broker.wake_list("made_up"))
    serving = threading.Thread(target=pool.runner.serve)
    serving.start()

    for number in range(1, 4):
        wait_for(lambda: _waits_for_wake(pool.redis))
        pool.submit({})
        pool.runner._broker.wake("made_up")
        wait_for(partial(_is_reached, pool, number))

    assert pool.steps.count("claim") == 7  # the first look, and two for each wake-up: not one for those of its own
    assert len({thread for step, thread in pool.did if step == "run"}) == 1
    assert serving.is_alive()
    pool.runner.stop()
    serving.join(60)
    assert not serving.is_alive()
    pool.redis.lpush(broker.wake_list("made_up"), "")  # so that what waits for it waits no longer


def _is_reached(pool: Watched, reports: int) -> bool:
    return pool.steps.count("report") == reports and pool.steps[-1] == "claim"


def _waits_for_wake(client: "redis.Redis") -> bool:
    return any(one["cmd"] == "blpop" and "b" in one["flags"] for one in client.client_list())
