"""Identifiers of jobs and leases."""

import time
from uuid import RFC_4122

from pipeline.identifiers import machine, uuid7


def test_a_uuid_is_of_version_7_tells_its_millisecond_and_ends_as_asked() -> None:
    before = time.time_ns() // 1_000_000
    made = [uuid7(tail=machine()) for _ in range(1_000)]

    assert {(one.version, one.variant, one.hex[-8:]) for one in made} == {(7, RFC_4122, machine())}
    assert len(set(made)) == 1_000
    assert before <= made[0].int >> 80 <= made[-1].int >> 80 <= time.time_ns() // 1_000_000
