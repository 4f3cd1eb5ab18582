"""Actors of the simulation: clients, workers, sweeps and an operator, and the answers that they were given."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any
from uuid import UUID

from simulation import Do, Life, LostConnectionError, Simulation
from workbench import LEASE

from pipeline import lifecycle
from pipeline.database import Statement
from pipeline.lifecycle import Beat, ClaimedItem, Outcome, Submission
from pipeline.operations.pauses import pause, resume

KINDS = ("sketch", "song")
HOUR = timedelta(hours=1)


@dataclass
class World:
    """Committed answers; the database must never contradict them."""

    simulation: Simulation
    payers: Sequence[tuple[UUID, UUID]]  # account, key
    jobs: dict[UUID, Submission] = field(default_factory=dict)
    leases: dict[int, tuple[UUID, datetime]] = field(default_factory=dict)  # item: lease, until when at least
    claims: dict[UUID, set[int]] = field(default_factory=dict)
    earned: dict[int, int] = field(default_factory=dict)  # item: credits of its final report
    released: set[tuple[int, UUID]] = field(default_factory=set)  # items that must not be on this lease
    paused: set[tuple[str, str]] = field(default_factory=set)

    @property
    def random(self) -> Random:
        return self.simulation.random

    def accepts(self, submission: Submission, answer: lifecycle.Submitted) -> None:
        """Note what became of a submission."""
        if answer.outcome == "accepted":
            known = self.jobs.setdefault(submission.job_id, submission)
            assert known is submission, "Two requests became one job."
        elif answer.outcome in ("replayed", "conflict"):
            assert answer.job_id is not None
            first = self.jobs[answer.job_id]
            assert (first.account_id, first.route) == (submission.account_id, submission.route)
            assert (first.request_hash == submission.request_hash) == (answer.outcome == "replayed")
            assert submission.job_id not in self.jobs, "A job that was made is called another."
        else:
            assert submission.job_id not in self.jobs, f"A job that was made is called {answer.outcome}."
            if answer.outcome == "insufficient":
                assert answer.available is not None
                assert answer.available < answer.required

    def leases_out(self, began: datetime, paused: frozenset[tuple[str, str]], answer: Sequence[ClaimedItem]) -> None:
        """Note a claim: nobody else may still be working on its items.

        Repeated, it gives those of its items that are still leased. Other items come only once all of those have ended
        or were taken away."""
        if answer:
            ids = {item.item_id for item in answer}
            before = self.claims.get(answer[0].lease_id, ids)
            assert ids <= before or ids.isdisjoint(before), "A claim was repeated and gave other items as well."
            self.claims[answer[0].lease_id] = ids
        for item in answer:
            lease, until = self.leases.get(item.item_id, (item.lease_id, began))
            assert lease == item.lease_id or until <= began, f"Item {item.input['number']} is leased twice."
            assert item.item_id not in self.earned, f"Item {item.input['number']} has ended, and is leased again."
            self.leases[item.item_id] = item.lease_id, began + LEASE
            for owner in (("account", str(item.account_id)), ("kind", item.kind)):
                assert owner not in paused or owner not in self.paused, f"{owner} is paused."

    def renews(self, began: datetime, beats: Sequence[Beat], held: set[int]) -> None:
        """Note a heartbeat."""
        for beat in beats:
            if beat.item_id in held:
                assert self.leases[beat.item_id][0] == beat.lease_id, "A lost lease was renewed."
                self.leases[beat.item_id] = beat.lease_id, began + LEASE
            else:
                self.released.add((beat.item_id, beat.lease_id))

    def takes(self, lease: UUID, outcomes: Sequence[Outcome], taken: Sequence[lifecycle.Taken]) -> None:
        """Note a report: each item ends once, by whoever has it."""
        counted = {one.item_id for one in taken}
        for outcome in outcomes:
            self.released.add((outcome.item_id, lease))
            if outcome.item_id not in counted:
                continue
            assert self.leases.pop(outcome.item_id, (None,))[0] == lease, "A report by a lost lease was taken."
            if outcome.outcome in ("done", "failed"):
                assert outcome.item_id not in self.earned, "An item ended twice."
                self.earned[outcome.item_id] = outcome.credits


def again(do: Do) -> Iterator[Any]:
    """Send a statement until it is answered, as a caller does whose connection breaks."""
    while True:
        try:
            return (yield do)
        except LostConnectionError:
            continue


def client(world: World) -> Life:
    """Submit jobs, some of them twice, and cancel some."""
    random = world.random
    while not world.simulation.is_calm:
        if world.jobs and random.random() < 0.2:
            job_id = random.choice([*world.jobs])
            yield from again(Do(lifecycle.cancel(job_id, random.choice([world.jobs[job_id].account_id, None]))))
        else:
            submission = _submission(world)
            yield from again(Do(lifecycle.submit(submission), partial(world.accepts, submission)))
        yield _seconds(random, 3)
    yield HOUR


def _submission(world: World) -> Submission:
    random = world.random
    account_id, key_id = random.choice(world.payers)
    numbers = range(random.randint(1, 5))
    key = random.choice([None, None, "x", "y"])
    return Submission(
        account_id=account_id, api_key_id=key_id, kind=random.choice(KINDS), route=random.choice(["/a", "/b"]),
        request={}, request_id="", request_hash=random.choice([b"1", b"2"]),
        items=[({"number": number}, random.randint(0, 4), None) for number in numbers],
        deadline=timedelta(seconds=random.choice([15, 60, 300])), keep_for=timedelta(seconds=random.choice([30, 300])),
        slice_size=random.choice([1, 2, 20]), idempotency_key=key, max_open_items=14,
        joins_open=key is None and random.random() < 0.2, priority=random.choice(["low", "normal", "high"]),
        job_id=UUID(int=random.getrandbits(128), version=4),
    )  # fmt: skip


def worker(world: World) -> Life:
    """Claim items and report them: in time, too late, twice, together with others."""
    random = world.random
    while True:
        limits = {kind: random.randint(1, 2) for kind in KINDS if random.random() < 0.8}
        claim = lifecycle.claim(limits or {"song": 1}, lease_for=LEASE, oldest=random.random() < 0.3)
        began, paused = world.simulation.now, frozenset(world.paused)
        try:
            items = yield Do(claim, partial(world.leases_out, began, paused))
        except LostConnectionError:
            if random.random() < 0.5:
                continue  # what it may have been given runs out
            again_at = world.simulation.now
            items = yield from again(Do(claim, partial(world.leases_out, again_at, frozenset())))
        if not items:
            yield _seconds(random, 6)
        while items:
            act = random.choice([_rest, _beat, _raise, _report, _report])
            items = yield from act(world, items)


def _rest(world: World, items: list[ClaimedItem]) -> Iterator[Any]:
    stalls = not world.simulation.is_calm and world.random.random() < 0.3
    yield timedelta(seconds=world.random.randint(25, 70)) if stalls else _seconds(world.random, 8)
    return items


def _beat(world: World, items: list[ClaimedItem]) -> Iterator[Any]:
    beats = [Beat(one.lease_id, one.item_id, None, world.random.randint(0, 6)) for one in items]
    began = world.simulation.now
    statement = lifecycle.heartbeat(beats, lease_for=LEASE)
    held = yield from again(Do(statement, partial(world.renews, began, beats)))
    return [one for one in items if one.item_id in held]


def _raise(world: World, items: list[ClaimedItem]) -> Iterator[Any]:
    item = world.random.choice(items)
    yield from again(Do(lifecycle.raise_hold(item.lease_id, item.item_id, world.random.randint(0, 8))))
    return items


def _report(world: World, items: list[ClaimedItem]) -> Iterator[Any]:
    random = world.random
    some = random.sample(items, random.randint(1, len(items)))
    lease = items[0].lease_id
    ways = ["done", "done", "done", "failed"] + ([] if world.simulation.is_calm else ["retry", "release"])
    outcomes = [
        Outcome(one.item_id, random.choice(ways), credits=random.randint(0, 5), after=_seconds(random, 5))
        for one in some
    ]
    yield from again(Do(lifecycle.report(lease, outcomes), partial(world.takes, lease, outcomes)))
    if random.random() < 0.1:  # it reports what it has reported
        yield from again(Do(lifecycle.report(lease, outcomes), partial(world.takes, lease, outcomes)))
    return [one for one in items if one not in some]


def sweep(world: World) -> Life:
    """End, wake and delete what is due, as the sweep of one of two machines does."""
    random = world.random
    while True:
        for step in random.sample(SWEEPS, 3):
            while (yield from again(Do(step()))) is not None and step in UNTIL_NONE:
                pass
        yield _seconds(random, 8)


def _reap() -> Statement[lifecycle.Reaped | None]:
    """Give an item up at its second crash, so that it happens."""
    statement = lifecycle.reap()
    return replace(statement, parameters={**statement.parameters, "max_crashes": 2})


UNTIL_NONE: Sequence[Callable[[], Any]] = (_reap, lifecycle.expire)
SWEEPS: Sequence[Callable[[], Any]] = (
    lifecycle.wake_waiting, *UNTIL_NONE, *UNTIL_NONE, lifecycle.uncount, lifecycle.purge,
)  # fmt: skip


def operator(world: World) -> Life:
    """Pause and resume accounts and kinds, and give credits."""
    random = world.random
    while not world.simulation.is_calm:
        yield _seconds(random, 20)
        if random.random() < 0.3:
            account_id, _ = random.choice(world.payers)
            yield from again(Do(lifecycle.grant_credits(account_id, random.randint(1, 9))))
            continue
        owner = random.choice(
            [*(("account", str(account)) for account, _ in world.payers), *(("kind", k) for k in KINDS)]
        )
        yield from _pause(world, owner, owner in world.paused)
    for owner in sorted(world.paused):
        yield from _pause(world, owner, True)
    yield HOUR


def _pause(world: World, owner: tuple[str, str], is_paused: bool) -> Iterator[Any]:
    change = world.paused.discard if is_paused else world.paused.add
    yield from again(Do((resume if is_paused else pause)(*owner), lambda _: change(owner)))


def _seconds(random: Random, most: int) -> timedelta:
    return timedelta(milliseconds=random.randrange(most * 1_000))
