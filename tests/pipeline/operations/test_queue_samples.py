"""Samples tell how queues were: one a minute whoever sweeps, and no counts that were not."""

from datetime import timedelta

from payers import open_account
from workbench import submission

from pipeline import lifecycle
from pipeline.database import Database, Statement
from pipeline.operations.metrics import Metrics
from pipeline.operations.samples import QueuePoint, forget_samples, read_history, take_samples
from pipeline.registry import load_kinds, queues
from pipeline.settings import Settings
from pipeline.wakes.broker import connect

DAY = timedelta(days=1)


def history(database: Database, queue: str = "synthesis") -> list[QueuePoint]:
    return [point for point in database.run(read_history(DAY)) if point.queue == queue]


def earlier(database: Database, minutes: int) -> None:
    """Let the samples that are there be so much older."""
    database.run(
        Statement(
            "UPDATE queue_sample SET at = at - make_interval(mins => %(minutes)s) RETURNING 1", {"minutes": minutes}
        )
    )


def test_two_sweeps_write_one_sample_a_minute_of_what_waits(database: Database, redis_url: str) -> None:
    payer = open_account(database)
    database.run(lifecycle.submit(submission(payer, [1, 1, 1], kind="speech")))
    kinds, client = load_kinds(Settings()), connect(redis_url)

    taken = [take_samples(database, client, kinds) for _ in range(3)]

    assert sum(number > 0 for number in taken) in (1, 2)  # the minute may end in between
    assert history(database)[-1].ready == 3


def test_what_ended_is_the_difference_of_two_samples_also_after_redis_lost_its_sums(
    database: Database, redis_url: str
) -> None:
    kinds, client = load_kinds(Settings()), connect(redis_url)

    def ran(done: int, failed: int, seconds: float) -> None:
        metrics = Metrics()
        for outcome, number in (("done", done), ("failed", failed)):
            metrics.count("pressroom_items_total", number, outcome=outcome, queue="synthesis", kind="speech")
        for _ in range(done + failed):
            metrics.observe("pressroom_item_run_seconds", seconds, queue="synthesis", kind="speech")
            metrics.observe("pressroom_item_wait_seconds", 0.5, queue="synthesis", kind="speech")
        metrics.flush(client)
        take_samples(database, client, kinds)
        earlier(database, 40)

    ran(10, 0, 1.0)
    ran(4, 2, 3.0)
    client.flushall()
    ran(1, 0, 7.0)

    points = history(database)
    assert [(point.done, point.failed) for point in points] == [(0, 0), (4, 2), (1, 0)]
    assert [point.run_seconds for point in points] == [None, 3.0, 7.0]
    assert points[1].wait_seconds == 0.5


def test_a_sample_goes_without_counts_while_redis_is_away(database: Database) -> None:
    nothing = connect("redis://127.0.0.1:9")

    take_samples(database, nothing, load_kinds(Settings()))

    (point,) = history(database)
    assert (point.ready, point.done, point.run_seconds) == (0, 0, None)


def test_old_samples_go(database: Database, redis_url: str) -> None:
    take_samples(database, connect(redis_url), load_kinds(Settings()))
    earlier(database, 120)
    assert database.run(forget_samples(timedelta(hours=3))) == 0

    assert database.run(forget_samples(timedelta(hours=1))) == len(queues(load_kinds(Settings())))
    assert history(database) == []
