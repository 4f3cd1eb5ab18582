"""Identifiers of jobs and leases."""

from uuid import RFC_4122

from pipeline.identifiers import machine, uuid7


def test_a_uuid_ends_as_asked() -> None:
    made = [uuid7(tail=machine()) for _ in range(1_000)]

    assert {(one.version, one.variant, one.hex[-8:]) for one in made} == {(7, RFC_4122, machine())}
    assert len(set(made)) == 1_000
