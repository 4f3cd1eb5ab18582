"""Identifiers in the order of time."""

import time
from uuid import RFC_4122

from pipeline.identifiers import machine, uuid7


def test_uuids_are_of_version_7() -> None:
    made = [uuid7() for _ in range(1_000)]

    assert {(one.version, one.variant) for one in made} == {(7, RFC_4122)}
    assert len(set(made)) == 1_000


def test_later_uuids_sort_later() -> None:
    first = uuid7()
    time.sleep(0.002)

    assert first < uuid7()


def test_uuids_tell_their_millisecond() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid7().int >> 80

    assert before <= made <= time.time_ns() // 1_000_000


def test_a_uuid_ends_as_asked() -> None:
    made = [uuid7(tail=machine()) for _ in range(1_000)]

    assert {(one.version, one.variant, one.hex[-8:]) for one in made} == {(7, RFC_4122, machine())}
    assert len(set(made)) == 1_000
