"""Notices and sums that go through Redis: what is put in is what is read. Nothing here needs a server."""

from uuid import uuid4

import fakeredis
import pytest
import redis

from pipeline.operations import metrics
from pipeline.operations.metrics import Metrics
from pipeline.storage import streams
from pipeline.storage.streams import Parts
from pipeline.wakes import notices


@pytest.fixture
def client() -> fakeredis.FakeRedis:
    return fakeredis.FakeRedis()


def published(client: fakeredis.FakeRedis, channel: str, fill: object) -> bytes:
    """Return what a subscriber of the channel gets when a pipeline that `fill` has filled is carried out."""
    listener = client.pubsub(ignore_subscribe_messages=True)
    listener.subscribe(channel)
    listener.get_message(timeout=20)
    pipe = client.pipeline(transaction=False)
    fill(pipe)
    pipe.execute()
    message = listener.get_message(timeout=20)
    assert message is not None
    return message["data"]


def test_a_notice_names_the_jobs_that_have_ended(client: fakeredis.FakeRedis) -> None:
    ended = [uuid4(), uuid4(), uuid4()]

    payload = published(client, notices.CHANNEL, lambda pipe: notices.add_notice(pipe, ended))

    assert notices.read_notice(payload) == ended


def test_a_notice_that_is_cut_short_names_the_whole_ids_alone() -> None:
    first, second = uuid4(), uuid4()

    assert notices.read_notice(first.bytes + second.bytes[:7]) == [first]
    assert notices.read_notice(b"") == []


def test_a_part_notice_says_how_far_a_stream_is(client: fakeredis.FakeRedis) -> None:
    job_id, parts = uuid4(), Parts(prefix="2026-11-22/job/0/lease", count=12, engine="espeak")

    payload = published(client, streams.CHANNEL, lambda pipe: streams.add_part_notice(pipe, job_id, parts))

    assert streams.read_part_notice(payload) == (job_id, parts)


def test_a_part_notice_says_who_speaks_and_an_older_release_finds_the_prefix_in_it(client: fakeredis.FakeRedis) -> None:
    job_id, parts = (
        uuid4(),
        Parts(prefix="2026-11-22/job/0/lease", count=1, engine="hum", voice="a b/ü", warning="100 % robotic"),
    )

    payload = published(client, streams.CHANNEL, lambda pipe: streams.add_part_notice(pipe, job_id, parts))

    assert streams.read_part_notice(payload) == (job_id, parts)
    assert payload[16:].split(b" ", 2)[2] == b"2026-11-22/job/0/lease"


def test_parts_are_the_same_after_their_checkpoint() -> None:
    parts = Parts(prefix="2026-11-22/job/0/lease", count=3, engine="edge", voice="en-US-Ava")

    assert Parts.of(parts.checkpoint()) == parts
    assert Parts.of(None) == Parts()
    assert [parts.key(number) for number in (0, 11)] == [f"{parts.prefix}.000000", f"{parts.prefix}.000011"]


def test_what_several_processes_count_adds_up(client: fakeredis.FakeRedis) -> None:
    for process in (Metrics(), Metrics()):
        process.count("pressroom_items_total", 2, queue="synthesis")
        process.observe("pressroom_item_run_seconds", 0.3, queue="synthesis")
        process.flush(client)
        process.flush(client)  # nothing new: nothing is added twice

    found = {field.decode(): float(value) for field, value in client.hgetall(metrics.HASH).items()}

    assert sorted(found.values()) == pytest.approx([0.6, 2, 4])


def test_what_was_counted_while_redis_was_away_is_handed_over_later(client: fakeredis.FakeRedis) -> None:
    process = Metrics()
    process.count("pressroom_items_total", 5, queue="synthesis")
    away = fakeredis.FakeRedis(server=fakeredis.FakeServer())
    away.connection_pool.connection_kwargs["server"].connected = False
    with pytest.raises(redis.ConnectionError):
        process.flush(away)

    process.flush(client)

    assert [float(value) for value in client.hgetall(metrics.HASH).values()] == [5]
