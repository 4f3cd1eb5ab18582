"""A process of a pool: what it claims, how it runs it, and what it says became of it."""

import errno
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any, NoReturn
from uuid import UUID

import psycopg
import pytest
import redis
import structlog
from made_up import MadeUp, MadeUpHandler, MadeUpOutput
from model_server import ModelServer, chat
from payers import Payer
from servers import WAITS_FOR_US
from structlog.contextvars import merge_contextvars
from structlog.testing import LogCapture
from waiting import wait_for
from workbench import submission

from pipeline import lifecycle
from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, DatabaseUnavailable, Statement
from pipeline.errors import NotReady, ServiceUnavailable
from pipeline.jobs.resubmit import lifetimes
from pipeline.kind import Limits, Stored
from pipeline.lifecycle.jobs import Item, Job, find_items, find_job
from pipeline.marks.identity import make_identity
from pipeline.marks.receipts import TokenCount, write_receipt
from pipeline.operations.metrics import HASH, TOKENS, Metrics, read_sums
from pipeline.settings import Settings
from pipeline.settings.endpoints import EndpointSettings
from pipeline.storage.artifacts import Artifacts, StoreUnavailable, open_store
from pipeline.wakes import notices
from pipeline.wakes.broker import WakeBroker, connect
from workers.engines.endpoints.client import EndpointClient
from workers.engines.resources import Resources
from workers.handler import Done, Failed, Release
from workers.media.audio.ffmpeg import FfmpegFailed
from workers.pool import claiming, outcomes
from workers.pool.handlers import load_handlers
from workers.pool.run import Runner

KIND = MadeUp()
#: An outcome of a run of one item.
DONE = [Done(MadeUpOutput(), engine="made_up")]


class Said(Stored):
    """A text, or nothing."""

    text: str = ""


class Pool:
    """One runner over real servers, and a way to give it jobs."""

    def __init__(self, database: Database, url: str, redis_url: str, folder: Path, payer: Payer) -> None:
        self.settings = Settings(data=folder, work={"heartbeat_seconds": 0.1, "drain_seconds": 1})
        self.database, self.url = database, url
        self.payer = payer
        self.handler = MadeUpHandler(Resources(self.settings))
        self.redis = connect(redis_url)
        #: Set when a runner gave its process up.
        self.ended = threading.Event()
        self.runner = self.make_runner()

    def make_runner(self, **others: Any) -> Runner:
        """Return a runner of the made-up handler and of others, by the kind."""
        kinds = {name: type("Other", (MadeUp,), {"name": name})() for name in others}
        runner = Runner(
            "made_up",
            {"made_up": KIND, **kinds},
            {"made_up": self.handler, **others},
            database=self.database,
            broker=WakeBroker(self.redis),
            artifacts=Artifacts(open_store(self.settings)),
            settings=self.settings,
            metrics=Metrics(),
        )
        runner._heartbeat._end_process = self.end_process
        runner.setup()
        return runner

    def end_process(self, status: int) -> NoReturn:
        """Return no more, as the end of a process: a heartbeat that went on would outlive its database."""
        self.ended.set()
        while True:
            time.sleep(3_600)

    def submit(self, *entries: dict[str, Any], price: int = 1, kind: str = KIND.name) -> Job:
        deadline, keep_for = lifetimes(KIND, self.settings)
        asked = submission(
            self.payer,
            kind=kind,
            items=[(entry, price, None) for entry in entries],
            deadline=deadline,
            keep_for=keep_for,
            slice_size=KIND.limits.slice_size,
        )
        assert self.database.run(lifecycle.submit(asked)).outcome == "accepted"
        return self.job(asked.job_id)

    def job(self, job_id: UUID) -> Job:
        job = self.database.run(find_job(job_id))
        assert job is not None
        return job

    def items(self, job: Job) -> list[Item]:
        return self.database.run(find_items(job.id))

    def begin(self) -> threading.Thread:
        """Drain in a thread, and return it."""
        working = threading.Thread(target=self.runner.drain)
        working.start()
        return working

    def stop_for_ended(self, working: threading.Thread) -> None:
        """Wait until the process was given up, and stop the thread, which would go on without its database."""
        assert self.ended.wait(60)
        self.runner.stop()
        working.join(timeout=60)

    def finish(self, job: Job, *, seconds: float = 120) -> Job:
        """Drain, with the sweep's help, until the job has ended."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.database.run(lifecycle.wake_waiting())
            self.runner.drain()
            if (found := self.job(job.id)).is_final:
                return found
            time.sleep(0.02)
        raise AssertionError(f"still {found.state}: {self.items(job)}")


@pytest.fixture
def pool(database: Database, database_url: str, redis_url: str, tmp_path: Path, payer: Payer) -> Iterator[Pool]:
    made = Pool(database, database_url, redis_url, tmp_path, payer)
    yield made
    assert database.run(discrepancies()) == []
    made.redis.close()


def test_a_job_is_done_captured_and_announced(pool: Pool) -> None:
    listener = pool.redis.pubsub()
    listener.subscribe(notices.CHANNEL)
    listener.get_message(timeout=30)

    job = pool.finish(pool.submit({}, {}, {}))

    assert (job.state, job.items_ok, job.credits_captured, job.engine) == ("succeeded", 3, 3, "made_up")
    notice = listener.get_message(timeout=30)
    assert notices.read_notice(notice["data"]) == [job.id]
    listener.close()


def test_tokens_are_in_the_receipt_and_the_metrics(pool: Pool, monkeypatch: Any) -> None:
    with ModelServer({"/chat/completions": chat("A dog.")}) as server:
        client = EndpointClient("house", EndpointSettings(url=server.url))

        def run(tasks: Any) -> Any:
            client.post("/chat/completions", {})
            client.post("/chat/completions", {})
            return DONE

        monkeypatch.setattr(pool.handler, "run", run)
        job = pool.finish(pool.submit({}))
        client.close()
    pool.runner._reporter.flush_metrics()

    receipt = write_receipt(
        job, pool.items(job), request_hash=b"", ledger=(), origin=None, version="1", identity=make_identity()
    )
    assert receipt.receipt.items[0].tokens == {"house": TokenCount(prompt=600, completion=80)}
    wait_for(lambda: sum(one.value for one in read_sums(pool.redis.hgetall(HASH)) if one.name == TOKENS) == 680)


def test_a_failing_item_never_fails_its_neighbours(pool: Pool) -> None:
    job = pool.finish(pool.submit({}, {"do": "fail"}, {}))

    assert (job.state, job.items_ok, job.items_failed, job.credits_captured) == ("partial", 2, 1, 2)
    error = pool.items(job)[1].error
    assert (error["status"], error["code"]) == (400, "asked_to_fail")


@pytest.fixture
def logged() -> Iterator[list[Any]]:
    """Lines that were logged."""
    before, captured = structlog.get_config()["processors"], LogCapture()
    structlog.configure(processors=[merge_contextvars, captured])
    yield captured.entries
    structlog.configure(processors=before)


def test_what_became_of_an_item_is_logged_with_its_job(pool: Pool, logged: list[Any]) -> None:
    job = pool.finish(pool.submit({"do": "fail"}))

    own = {line["event"]: line for line in logged if line.get("job_id") == str(job.id)}
    assert set(own) == {"item not done", "item reported"}
    assert own["item not done"]["code"] == "asked_to_fail"


def test_a_run_that_takes_longer_than_a_heartbeat_is_logged_once_while_it_goes_on(
    pool: Pool, logged: list[Any], monkeypatch: Any
) -> None:
    def run(tasks: Any) -> Any:
        until = time.monotonic() + 60
        while not any(line["event"] == "run started" for line in logged) and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(3 * pool.settings.work.heartbeat_seconds)
        return DONE

    monkeypatch.setattr(pool.handler, "run", run)
    job = pool.finish(pool.submit({}))

    own = [line["event"] for line in logged if line.get("job_id") == str(job.id)]
    assert own == ["run started", "item reported"]


def test_what_nobody_foresaw_is_tried_twice_and_then_failed_without_charge(pool: Pool, monkeypatch: Any) -> None:
    monkeypatch.setattr(outcomes, "RETRY_UNKNOWN_AFTER", timedelta())

    once, always = pool.finish(pool.submit({"do": "throw_once"})), pool.finish(pool.submit({"do": "throw"}))

    assert once.state == "succeeded"
    assert (always.state, always.credits_captured, always.credits_released) == ("failed", 0, 1)
    assert (always.error["status"], always.error["code"]) == (500, "internal_error")
    assert "ValueError" in always.error["message"]


def test_a_raised_hold_is_captured_and_one_that_the_balance_does_not_cover_fails_as_402(pool: Pool) -> None:
    job = pool.finish(pool.submit({"do": "raise", "credits": 7}))
    assert (job.credits_held, job.credits_captured) == (7, 7)

    poor = pool.finish(pool.submit({"do": "raise", "credits": 1_000_000}))
    assert (poor.state, poor.credits_captured, poor.credits_released) == ("failed", 0, 1)
    assert poor.error["status"] == 402
    assert poor.error["credits_remaining"] == 1_000 - 7


def test_progress_is_written_while_an_item_runs(pool: Pool, monkeypatch: Any) -> None:
    enough = threading.Event()

    def run(tasks: Any) -> Any:
        step = 0
        while not enough.wait(0.02):
            step += 1
            tasks[0].progress(step, 100_000)
        return DONE

    monkeypatch.setattr(pool.handler, "run", run)
    job = pool.submit({})
    working = pool.begin()
    seen: set[int] = set()
    until = time.monotonic() + 120
    while len(seen) <= 3 and time.monotonic() < until:
        seen.add((pool.job(job.id).progress or {}).get("done", 0))
        time.sleep(0.02)
    enough.set()
    working.join(timeout=60)

    assert len(seen) > 3
    assert pool.job(job.id).state == "succeeded"


def test_a_cancelled_item_stops_while_it_runs_and_is_not_charged(pool: Pool, monkeypatch: Any) -> None:
    monkeypatch.setattr(MadeUp, "limits", Limits(run=timedelta(hours=1)))
    job = pool.submit({"do": "sleep", "seconds": 1_800})
    working = pool.begin()
    while pool.job(job.id).state == "queued":
        time.sleep(0.01)

    assert pool.database.run(lifecycle.cancel(job.id, pool.payer.account_id)) == "running"
    working.join(timeout=60)

    assert not working.is_alive()  # of the half hour that it has
    assert (pool.job(job.id).state, pool.job(job.id).credits_captured) == ("cancelled", 0)


def test_a_stopping_process_gives_back_what_it_can_not_finish_and_another_goes_on_from_the_checkpoint(
    pool: Pool, monkeypatch: Any
) -> None:
    def run(tasks: Any) -> Any:
        """Go on until it is stopped, however long that takes; the next attempt has little to do."""
        [task] = tasks
        if task.checkpoint is not None:
            return [Done(MadeUpOutput(from_step=task.checkpoint["step"]), engine="made_up")]
        step = 0
        while not task.is_stopped():
            step += 1
            task.progress(step, 100_000, checkpoint={"step": step})
            time.sleep(0.02)
        return [Release()]

    monkeypatch.setattr(pool.handler, "run", run)
    job = pool.submit({})
    working = pool.begin()
    while not pool.job(job.id).progress:
        time.sleep(0.01)

    pool.runner.stop()
    working.join(timeout=60)
    assert not working.is_alive()
    assert [item.state for item in pool.items(job)] == ["ready"]

    pool.runner = pool.make_runner()
    done = pool.finish(job)
    assert done.state == "succeeded"
    output = pool.items(job)[0].output
    assert output["from_step"] > 0


def test_a_hung_item_is_failed_as_timed_out_and_ends_its_process(pool: Pool, monkeypatch: Any) -> None:
    monkeypatch.setattr(MadeUp, "limits", Limits(run=timedelta(seconds=0.3)))
    job = pool.submit({"do": "hang"})

    pool.stop_for_ended(pool.begin())

    hung = pool.job(job.id)
    assert (hung.state, hung.credits_captured) == ("failed", 0)
    assert hung.error["code"] == "timed_out"


@pytest.mark.parametrize("move_on", [lambda task: task.progress(1, 2), lambda task: task.is_stopped()])
def test_an_item_that_stands_still_is_failed_and_one_that_moves_may_take_its_time(
    pool: Pool, monkeypatch: Any, move_on: Any
) -> None:
    # Time for a busy machine to stand still itself, between two steps of what moves.
    monkeypatch.setattr(MadeUp, "limits", Limits(stall=timedelta(seconds=3)))

    def move(tasks: Any) -> Any:
        for _ in range(35):
            move_on(tasks[0])
            time.sleep(0.1)
        return DONE

    with monkeypatch.context() as patched:
        patched.setattr(pool.handler, "run", move)
        moving = pool.submit({})
        pool.runner.drain()
    assert pool.job(moving.id).state == "succeeded"
    assert not pool.ended.is_set()
    still = pool.submit({"do": "hang"})

    pool.stop_for_ended(pool.begin())

    error = pool.job(still.id).error
    assert error["code"] == "timed_out"
    assert "no progress" in error["message"]


def test_several_slots_run_at_once_and_a_crashed_item_runs_alone(pool: Pool, monkeypatch: Any) -> None:
    monkeypatch.setattr(pool.handler, "slots", 4)
    monkeypatch.setattr(pool.handler, "batch", 1)
    running: set[int] = set()
    seen: dict[int, set[int]] = {}
    full = threading.Event()

    def run(tasks: Any) -> Any:
        me = tasks[0].item.item_id
        running.add(me)
        if len(running) == 4:
            full.set()
        if not tasks[0].item.crashes:
            full.wait(60)
        seen[me] = set(running)
        running.discard(me)
        return DONE

    monkeypatch.setattr(pool.handler, "run", run)
    jobs = [pool.submit({}) for _ in range(8)]
    pool.database.run(Statement("UPDATE item SET crashes = 1 WHERE job_id = %(id)s RETURNING 1", {"id": jobs[3].id}))
    for job in jobs:
        pool.finish(job)

    crashed = pool.items(jobs[3])[0].id
    assert full.is_set()
    assert seen[crashed] == {crashed}


def test_a_busy_process_with_several_slots_gets_idle_now_and_then_for_a_crashed_item(
    pool: Pool, monkeypatch: Any
) -> None:
    monkeypatch.setattr(pool.handler, "slots", 2)
    monkeypatch.setattr(pool.handler, "batch", 1)
    monkeypatch.setattr(claiming, "ALONE_EVERY_SECONDS", 0.3)
    monkeypatch.setattr(claiming, "ASK_SECONDS", 0.1)
    crashed = pool.submit({})
    pool.database.run(Statement("UPDATE item SET crashes = 1 WHERE job_id = %(id)s RETURNING 1", {"id": crashed.id}))
    pool.database.run(Statement("UPDATE item SET state = 'waiting', run_at = now() RETURNING 1"))
    begun, woken = threading.Semaphore(0), threading.Event()

    def run(tasks: Any) -> Any:
        begun.release()
        assert woken.wait(60)
        time.sleep(0.06)
        return DONE

    monkeypatch.setattr(pool.handler, "run", run)
    others = [pool.submit({}) for _ in range(40)]
    working = pool.begin()
    for _ in range(2):
        assert begun.acquire(timeout=60)
    pool.database.run(lifecycle.wake_waiting())  # by now the process is busy, and stays so
    woken.set()
    working.join(timeout=60)

    assert not working.is_alive()
    ended = pool.job(crashed.id).finished_at
    assert ended is not None
    assert any(ended < pool.job(job.id).finished_at for job in others)


def test_a_long_item_holds_up_no_other_while_there_are_slots(pool: Pool, monkeypatch: Any) -> None:
    monkeypatch.setattr(pool.handler, "slots", 2)
    monkeypatch.setattr(pool.handler, "batch", 1)
    monkeypatch.setattr(claiming, "ALONE_EVERY_SECONDS", 0.1)
    begun, go_on = threading.Event(), threading.Event()

    def run(tasks: Any) -> Any:
        if tasks[0].item.input:
            begun.set()
            go_on.wait(60)
        return DONE

    monkeypatch.setattr(pool.handler, "run", run)
    long = pool.submit({"is": "long"})
    working = pool.begin()
    assert begun.wait(60)
    time.sleep(0.5)  # it would be alone by now, if anything wanted to

    short = pool.submit({})
    while not pool.job(short.id).is_final:
        assert working.is_alive()
        time.sleep(0.01)

    assert not pool.job(long.id).is_final
    go_on.set()
    working.join(timeout=60)


class Reports:
    """Runs of four slots whose reports meet: the first waits in the database until the others have ended as well."""

    def __init__(self, pool: Pool, monkeypatch: Any, outputs: list[dict[str, Any]]) -> None:
        self._pool = pool
        self._outputs = outputs
        self._started = threading.Semaphore(0)
        self._all_run, self._first_waits = threading.Event(), threading.Event()
        monkeypatch.setattr(pool.handler, "slots", 4)
        monkeypatch.setattr(pool.handler, "batch", 1)
        monkeypatch.setattr(pool.handler, "run", self._run)

    def _run(self, tasks: Any) -> Any:
        place = tasks[0].index
        self._started.release()
        assert (self._first_waits if place else self._all_run).wait(60)
        return [Done(Said(**self._outputs[place]), engine="made_up")]

    def meet(self) -> Job:
        """Return a job, one item an output, whose reports have met."""
        job = self._pool.submit(*({} for _ in self._outputs))
        working = self._pool.begin()
        for _ in self._outputs:
            assert self._started.acquire(timeout=60)
        with psycopg.connect(self._pool.url) as other:
            other.execute("SELECT FROM job WHERE id = %s FOR NO KEY UPDATE", [job.id])
            self._all_run.set()
            wait_for(lambda: other.execute(WAITS_FOR_US).fetchall(), about=lambda: "no report met the lock")
            self._first_waits.set()
            while len(self._pool.runner._due) < len(self._outputs) - 1:
                time.sleep(0.01)
        working.join(timeout=60)
        assert not working.is_alive()
        return job


def test_runs_that_end_while_a_report_is_on_its_way_are_reported_together(pool: Pool, monkeypatch: Any) -> None:
    job = Reports(pool, monkeypatch, [{}, {}, {}, {}]).meet()

    first, *others = [item.updated_at for item in pool.items(job)]
    assert pool.job(job.id).state == "succeeded"
    assert len(set(others)) == 1
    assert first != others[0]


def test_a_report_that_can_not_be_written_costs_its_neighbours_nothing(pool: Pool, monkeypatch: Any) -> None:
    unfit = {"text": "PostgreSQL takes no \x00."}

    job = Reports(pool, monkeypatch, [{}, {}, unfit, {}]).meet()

    assert [item.state for item in pool.items(job)] == ["done", "done", "leased", "done"]
    assert pool.finish(pool.submit({})).state == "succeeded"  # its slot is free again


@pytest.mark.parametrize(
    ("error", "raises"),
    [
        *product([StoreUnavailable("no store"), DatabaseUnavailable("no database"), FfmpegFailed("no room")], (0, 1)),
        (OSError(errno.ENOSPC, "full"), True),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Exception) else "raised" if one else "returned",
)
def test_what_a_passing_fault_of_ours_keeps_from_its_end_is_tried_again(
    pool: Pool, monkeypatch: Any, raises: bool, error: Any
) -> None:
    tries: list[int] = []
    most = len(outcomes.RETRY_PASSING_AFTER) + 2

    def run(tasks: Any) -> Any:
        tries.append(tasks[0].attempts)
        if len(tries) <= most:
            if raises:
                raise error
            return [Failed(error)]
        return DONE

    monkeypatch.setattr(outcomes, "RETRY_PASSING_AFTER", [0.0])
    monkeypatch.setattr(pool.handler, "run", run)

    assert pool.finish(pool.submit({})).state == "succeeded"
    assert tries == list(range(most + 1))


@pytest.mark.parametrize("error", [ServiceUnavailable("The database does not answer."), LookupError("unforeseen")])
def test_what_was_done_is_reported_where_nothing_can_be_claimed(pool: Pool, monkeypatch: Any, error: Exception) -> None:
    claimed_before, done = pool.runner._claimer.next, threading.Event()

    def claim(held: Any) -> Any:
        if done.is_set():
            raise error
        return claimed_before(held)

    def run(tasks: Any) -> Any:
        done.set()
        return DONE

    monkeypatch.setattr(pool.runner._claimer, "next", claim)
    monkeypatch.setattr(pool.handler, "run", run)
    job = pool.submit({})
    pool.runner.drain()
    while pool.runner._heartbeat.held():
        time.sleep(0.01)

    assert pool.job(job.id).state == "succeeded"


def test_a_stop_waits_for_what_another_thread_is_claiming(pool: Pool, monkeypatch: Any) -> None:
    pool.settings.work.drain_seconds = 60
    write, claiming_now, go_on = pool.runner._reporter.write, threading.Event(), threading.Event()

    def slow(due: Any, *, then: Any) -> Any:
        if then is not None:
            claiming_now.set()
            assert go_on.wait(60)
        return write(due, then=then)

    monkeypatch.setattr(pool.runner._reporter, "write", slow)
    job = pool.submit({})
    other = threading.Thread(target=pool.runner._rounds.ask, args=[None])
    other.start()
    assert claiming_now.wait(60)
    drain = pool.begin()
    pool.runner.stop()
    drain.join(0.5)
    assert drain.is_alive()
    go_on.set()
    other.join(60)
    drain.join(60)

    assert not drain.is_alive()
    assert pool.job(job.id).state == "succeeded"


def test_work_that_is_done_and_waits_to_be_reported_is_not_failed_for_its_time(pool: Pool, monkeypatch: Any) -> None:
    monkeypatch.setattr(MadeUp, "limits", Limits(run=timedelta(seconds=0.5)))
    write = pool.runner._reporter.write

    def stuck(due: Any, *, then: Any) -> Any:
        if due:
            assert pool.ended.wait(60)  # the heartbeat gave everything up
        return write(due, then=then)

    monkeypatch.setattr(pool.runner._reporter, "write", stuck)

    assert pool.finish(pool.submit({}), seconds=60).state == "succeeded"


def test_only_a_claim_without_a_report_does_not_wait_for_the_disk(pool: Pool, monkeypatch: Any) -> None:
    database = pool.runner._reporter._database
    run, asked = database.run, []

    def noted(statement: Statement[Any]) -> Any:
        asked.append(statement.sql)
        return run(statement)

    monkeypatch.setattr(database, "run", noted)
    pool.finish(pool.submit({}, {}, {}))

    reports = [sql for sql in asked if ".report(" in sql]
    alone = [sql for sql in asked if ".claim(" in sql and sql not in reports]
    assert reports
    assert alone
    assert all("synchronous_commit" in sql for sql in alone)
    assert not any("synchronous_commit" in sql for sql in reports)


def test_a_handler_that_runs_apart_neither_takes_the_others_slots_nor_waits_for_them(
    pool: Pool, monkeypatch: Any
) -> None:
    class ApartHandler(MadeUpHandler):
        runs_apart = True

    apart = ApartHandler(Resources(pool.settings))
    both = threading.Barrier(2, timeout=60)
    running: list[str] = []

    def run_as(name: str) -> Any:
        def run(tasks: Any) -> Any:
            assert name not in running  # each has one slot
            running.append(name)
            both.wait()  # nobody passes unless the two run at once
            running.remove(name)
            both.wait()
            return [Done(MadeUpOutput(index=0, pid=0), engine=name) for _ in tasks]

        return run

    for handler, name in ((pool.handler, "made_up"), (apart, "aside")):
        monkeypatch.setattr(handler, "batch", 1)
        monkeypatch.setattr(handler, "run", run_as(name))
    pool.runner = pool.make_runner(aside=apart)
    jobs = [pool.submit({}, kind=kind) for kind in ("made_up", "made_up", "aside", "aside")]

    assert [pool.finish(job).engine for job in jobs] == ["made_up", "made_up", "aside", "aside"]


def test_no_report_waits_for_a_redis_that_never_answers(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        patient = redis.Redis(port=silent.getsockname()[1], socket_timeout=3_600)
        broker = pool.runner._broker
        monkeypatch.setattr(broker, "client", patient)
        monkeypatch.setattr(broker, "wait_for_wake", lambda queue, seconds, but: time.sleep(seconds))

        jobs = [pool.finish(pool.submit({})) for _ in range(3)]

        assert [job.state for job in jobs] == ["succeeded"] * 3
        connection, _ = silent.accept()  # it was told of them all the same
        connection.close()


def test_kinds_that_name_the_same_handler_share_one(tmp_path: Path) -> None:
    other = type("Other", (MadeUp,), {"name": "other"})()

    handlers = load_handlers({"made_up": KIND, "other": other}, "made_up", Resources(Settings(data=tmp_path)))

    assert handlers["made_up"] is handlers["other"]


def test_kind_of_an_engine_that_was_not_ready_is_carried_out_once_it_is(pool: Pool) -> None:
    class LateHandler(MadeUpHandler):
        needs: str | None = "a model"
        tell: Callable[[], None]

        def setup(self) -> None:
            if self.needs:
                raise NotReady(self.needs)

        def watch(self, on_change: Callable[[], None]) -> None:
            self.tell = on_change

    late = LateHandler(Resources(pool.settings))
    pool.runner = pool.make_runner(late=late)
    job = pool.submit({"do": "done"}, kind="late")
    pool.runner.drain()
    assert pool.job(job.id).state == "queued"

    late.tell()  # something has changed, and it is still not ready
    pool.runner.drain()
    assert pool.job(job.id).state == "queued"
    late.needs = None
    late.tell()

    assert pool.finish(job).state == "succeeded"


def test_an_exception_in_a_batch_fails_only_the_item_that_threw(pool: Pool, monkeypatch: Any) -> None:
    monkeypatch.setattr(outcomes, "RETRY_UNKNOWN_AFTER", timedelta())

    job = pool.finish(pool.submit({}, {"do": "throw"}, {}))

    assert [item.state for item in pool.items(job)] == ["done", "failed", "done"]


def test_a_full_batch_wakes_another_process(pool: Pool) -> None:
    pool.submit(*({} for _ in range(8)))
    pool.redis.delete("pressroom:wake:made_up")

    pool.runner.drain()

    assert pool.redis.llen("pressroom:wake:made_up") == 1
