"""Random calls to the life cycle, each compared with the model: answers, and after every call all rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from lifecycle_model import MAX_CRASHES, Item, Job, Model
from psycopg.rows import dict_row
from workbench import HOUR, LEASE, empty

from pipeline import lifecycle
from pipeline.accounts.ledger import discrepancies
from pipeline.database import Statement
from pipeline.lifecycle import Beat, Outcome, Submission
from pipeline.operations.pauses import pause, resume

BALANCES = (30, 8)
#: What the key of each may use in the month; what is granted comes on top of a balance.
KEY_LIMITS = (20, None)
KINDS = ("sketch", "song")
#: What a submission may find open. A small limit is met while what has ended is still counted.
MAX_OPEN = (12, 12, 3)
#: Rows that a purge may touch at once, to see it interrupted.
PURGE_ROWS = 2

_ROWS = """
SELECT (SELECT coalesce(jsonb_agg(jsonb_build_array(available, open_items, open_by_kind) ORDER BY name), '[]')
        FROM account) AS accounts,
       (SELECT coalesce(jsonb_agg(job_id), '[]') FROM ended_job) AS ended,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(state, items_total, items_ok, items_failed, credits_held,
                                  credits_captured, purged_at IS NOT NULL) ORDER BY request_id::integer), '[]')
        FROM job) AS jobs,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(input -> 'number', state, round, lease_id, attempts, crashes,
                                  price, captured, checkpoint, output) ORDER BY id), '[]') FROM item) AS items,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(entry, account_id, job_id, available_change, held_change)), '[]')
        FROM credit_entry) AS ledger
"""

#: Counted backwards from the newest, so that what is small is likely still to be in use.
recent = st.integers(0, 9)
#: Numbers below it stand for what is still in use, the others for anything.
MOSTLY = 7
#: What a price between 0 and 5 may be answered with, rightly and wrongly.
earnings = st.integers(-2, 9)


@dataclass(frozen=True)
class Action:
    """Something that a machine can do: how often, beside the others, in a state; and with what."""

    do: Callable[..., None]
    weight: Callable[[Model], int]
    arguments: st.SearchStrategy[dict[str, Any]]

    def __repr__(self) -> str:
        return self.do.__name__


ACTIONS: list[Action] = []
PLACES = {"claim": 0, "report": 2}


def action(weight: Callable[[Model], int], **arguments: st.SearchStrategy[Any]) -> Any:
    """Add a method to what a machine may do."""

    def add(do: Callable[..., None]) -> Callable[..., None]:
        ACTIONS.append(Action(do, weight, st.fixed_dictionaries(arguments)))
        return do

    return add


def always(weight: int) -> Callable[[Model], int]:
    return lambda model: weight


def with_jobs(weight: int) -> Callable[[Model], int]:
    return lambda model: weight if model.jobs else 0


def with_items(state: str, weight: int, *, otherwise: int = 0) -> Callable[[Model], int]:
    """Weigh what is about items of a state; `otherwise`: it is tried in vain as well."""

    def weigh(model: Model) -> int:
        if any(item.state == state for item in model.items):
            return weight
        return otherwise if model.leases else 0

    return weigh


def with_parameters(statement: Statement[Any], **changes: Any) -> Statement[Any]:
    """Return a statement with smaller limits than the real ones, so that they are met."""
    return replace(statement, parameters={**statement.parameters, **changes})


class LifecycleMachine(RuleBasedStateMachine):
    """One session's random life; `schema` names the functions under test, `often` what is done more than else."""

    def __init__(
        self, connection: psycopg.Connection[Any], schema: str = lifecycle.SCHEMA, often: Sequence[str] = ()
    ) -> None:
        super().__init__()
        self._connection = connection
        self._schema = schema
        self._often = often
        empty(connection)
        self.model = Model(BALANCES, KEY_LIMITS)
        self.account_ids = [uuid4() for _ in BALANCES]
        self.key_ids = [uuid4() for _ in BALANCES]
        self.job_ids: list[UUID] = []
        self.item_ids: list[int] = []
        self.lease_ids: list[UUID] = []
        self.submissions: list[Submission] = []
        self.opened = False

    # What a rule needs

    def run(self, statement: Statement[Any]) -> Any:
        """Run a statement with the functions under test."""
        sql = statement.sql.replace(lifecycle.SCHEMA, self._schema)
        rows = self._connection.execute(sql, statement.parameters, prepare=True).fetchall()
        return statement.read(rows)

    def write(self, sql: str, *parameters: Any) -> None:
        """Move time, for the database."""
        self._connection.execute(sql, parameters)

    def job(self, number: int) -> Job:
        """Return a job, counted from the newest; for most numbers one that is open, if there is any."""
        jobs = [job for job in self.model.jobs if job.is_open or number >= MOSTLY] or self.model.jobs
        return jobs[-1 - number % len(jobs)]

    def lease(self, number: int) -> int:
        """Return a lease, counted from the newest; for most numbers one that still holds something, if there is any."""
        held = sorted({item.lease for item in self.model.items if item.state == "leased" and item.lease is not None})
        leases = held if held and number < MOSTLY else range(self.model.leases)
        return leases[-1 - number % len(leases)]

    def item(self, lease: int, number: int) -> Item:
        """Return an item; for most numbers one that is on the lease, or was last seen there, if there is any."""
        items = [item for item in self.model.items if item.lease == lease or number >= MOSTLY] or self.model.items
        items = [item for item in items if item.state == "leased" or number >= MOSTLY] or items
        return items[-1 - number % len(items)]

    # The one rule, and what it may do

    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """Do something that is possible now.

        One rule, because Hypothesis leaves a random half of all rules out of an example: those that submit, claim,
        earn and report hardly ever came together.
        """
        # Hypothesis prefers the first and the last of a range; those had better be what brings a job forward.
        actions = sorted(ACTIONS, key=lambda action: PLACES.get(action.do.__name__, 1))
        weighed = [(one, one.weight(self.model) * (4 if repr(one) in self._often else 1)) for one in actions]
        action = data.draw(st.sampled_from([one for one, weight in weighed for _ in range(weight)]))
        action.do(self, **data.draw(action.arguments))

    @initialize()
    def open_accounts(self) -> None:
        for number, balance in enumerate(BALANCES):
            self.run(
                lifecycle.open_account(
                    self.account_ids[number], str(number), "pro", balance, key_id=self.key_ids[number],
                    key_name="test", key_hash=self.key_ids[number].bytes, hint="test",
                )
            )  # fmt: skip
            self.write(
                "UPDATE api_key SET credits_per_month = %s WHERE id = %s", KEY_LIMITS[number], self.key_ids[number]
            )
        self.opened = True

    @action(always(1), account=st.integers(0, 1), credits=st.integers(0, 20))
    def top_up(self, account: int, credits: int) -> None:
        balance = self.run(lifecycle.grant_credits(self.account_ids[account], credits))
        assert balance == self.model.grant(self.model.accounts[account], credits)

    @action(
        always(6),
        account=st.sampled_from((0, 0, 0, 1)),
        kind=st.sampled_from(KINDS),
        route=st.sampled_from(("/a", "/b")),
        prices=st.lists(st.integers(0, 5), min_size=1, max_size=3),
        key=st.sampled_from((None, None, "x", "y")),
        request_hash=st.sampled_from((b"1", b"1", b"2")),
        is_forgotten=st.integers(0, 9).map(lambda number: number == 9),
        slice_size=st.sampled_from((1, 2, 3, 20, 20)),  # with a large one, what has ended is counted until later
        max_open=st.sampled_from(MAX_OPEN),
        priority=st.sampled_from(("normal", "normal", "high", "low")),
    )
    def submit(
        self, account, kind, route, prices, key, request_hash, is_forgotten, slice_size, max_open, priority
    ) -> None:
        before = len(self.model.items)
        submission = Submission(
            account_id=self.account_ids[account], api_key_id=self.key_ids[account], kind=kind, route=route,
            request={}, request_id=str(len(self.model.jobs)), request_hash=request_hash,
            items=[({"number": before + index}, price) for index, price in enumerate(prices)],
            deadline=HOUR, keep_for=HOUR, slice_size=slice_size, idempotency_key=key,
            idempotency_window=timedelta() if is_forgotten else HOUR, max_open_items=max_open,
            priority=priority,
        )  # fmt: skip
        payer = self.model.accounts[account]
        outcome, job = self.model.submit(
            payer, kind, route, prices, idempotency_key=key, request_hash=request_hash, is_forgotten=is_forgotten,
            slice_size=slice_size, max_open=max_open, priority=priority,
        )  # fmt: skip
        found = self.run(lifecycle.submit(submission))
        if outcome == "accepted":
            self.job_ids.append(submission.job_id)
            self.submissions.append(submission)
            self._learn_item_ids(submission.job_id)
        assert (found.outcome, found.job_id) == (outcome, None if job is None else self.job_ids[job])
        assert found.available == (self.model.key_left(payer) if outcome == "key_limit" else payer.available)

    @action(lambda model: 3 if any(one.is_paused for one in model.accounts) else 1, account=st.integers(0, 1))
    def pause_or_resume_an_account(self, account: int) -> None:
        known = self.model.accounts[account]
        self.run((resume if known.is_paused else pause)("account", str(self.account_ids[account])))
        known.is_paused = not known.is_paused

    @action(lambda model: 3 if model.paused_kinds else 1, kind=st.sampled_from(KINDS))
    def pause_or_resume_a_kind(self, kind: str) -> None:
        is_paused = kind in self.model.paused_kinds
        self.run((resume if is_paused else pause)("kind", kind))
        self.model.paused_kinds ^= {kind}

    def _learn_item_ids(self, job_id: UUID) -> None:
        rows = self._connection.execute("SELECT id FROM item WHERE job_id = %s ORDER BY index", [job_id], prepare=True)
        self.item_ids.extend(row["id"] for row in rows.fetchall())

    @action(with_jobs(1), number=recent)
    def submit_again_after_a_lost_connection(self, number: int) -> None:
        job = self.job(number)
        found = self.run(lifecycle.submit(self.submissions[job.number]))
        assert (found.outcome, found.job_id) == ("accepted", self.job_ids[job.number])

    @action(always(1), account=st.integers(0, 1), number=st.integers(0, 29))
    def revoke_key(self, account: int, number: int) -> None:
        if number == 29:
            self.write("UPDATE api_key SET revoked_at = now() WHERE id = %s", self.key_ids[account])
            self.model.accounts[account].is_revoked = True

    @action(
        with_items("ready", 10, otherwise=1),
        sketches=st.sampled_from((4, 2, 1, 0)),
        songs=st.sampled_from((4, 2, 1, 0)),
        alone=st.sampled_from((True, True, False)),
        oldest=st.booleans(),
        again=st.booleans(),
    )
    def claim(self, sketches: int, songs: int, alone: bool, oldest: bool, again: bool) -> None:
        limits = {kind: limit for kind, limit in zip(KINDS, (sketches, songs), strict=True) if limit}
        statement = lifecycle.claim(limits, lease_for=LEASE, alone=alone, oldest=oldest)
        claimed = self.run(statement)
        self.lease_ids.append(statement.parameters["lease"])
        expected = self.model.claim(limits, alone=alone, oldest=oldest)
        assert [item.item_id for item in claimed] == [self.item_ids[number] for number in expected]
        for item, number in zip(claimed, expected, strict=True):
            known = self.model.items[number]
            assert (item.price, item.captured, item.crashes) == (known.price, known.captured, known.crashes)
            assert (item.job_id, item.index) == (self.job_ids[known.job.number], known.index)
            assert (item.attempts, item.checkpoint) == (known.attempts, known.checkpoint)
        if again and claimed:
            assert [item.item_id for item in self.run(statement)] == [item.item_id for item in claimed]

    @action(
        with_items("leased", 6, otherwise=1),
        number=recent,
        picks=st.lists(st.tuples(recent, st.none() | earnings, st.booleans()), max_size=3),
    )
    def heartbeat(self, number: int, picks: list[tuple[int, int | None, bool]]) -> None:
        lease = self.lease(number)
        beats = {self.item(lease, pick).number: (earned, mark) for pick, earned, mark in picks}
        sent, held = [], set()
        for item, (earned, mark) in beats.items():
            checkpoint = {"at": lease} if mark else None
            sent.append(Beat(self.lease_ids[lease], self.item_ids[item], None, earned, checkpoint))
            if self.model.heartbeat(lease, self.model.items[item], earned, checkpoint):
                held.add(self.item_ids[item])
        assert self.run(lifecycle.heartbeat(sent, lease_for=LEASE)) == held

    @action(with_items("leased", 4, otherwise=1), number=recent, pick=recent, credits=st.integers(0, 14))
    def raise_hold(self, number: int, pick: int, credits: int) -> None:
        lease = self.lease(number)
        item = self.item(lease, pick)
        outcome = self.model.raise_hold(lease, item, credits)
        raised = self.run(lifecycle.raise_hold(self.lease_ids[lease], self.item_ids[item.number], credits))
        assert raised.outcome == outcome
        account = item.job.account
        left = self.model.key_left(account) if outcome == "key_limit" else account.available
        assert raised.available == (None if outcome == "lost" else left)

    @action(
        with_items("leased", 12, otherwise=1),
        picks=st.lists(
            st.tuples(recent, recent, st.sampled_from(("done", "done", "failed", "retry", "release")), earnings),
            min_size=1,
            max_size=4,
        ),
        later=st.booleans(),
        doubled=st.booleans(),
        strange=st.booleans(),
    )
    def report(self, picks, later, doubled, strange) -> None:
        outcomes = {}
        for number, pick, outcome, earned in picks:
            lease = self.lease(number)
            outcomes[lease, self.item(lease, pick).number] = (outcome, earned)
        sent, taken = [], set()
        for (lease, item), (outcome, earned) in outcomes.items():
            output = {"by": lease}
            after = HOUR if later else timedelta()
            said = Outcome(self.item_ids[item], outcome, earned, output, None, after)
            sent.append((self.lease_ids[lease], [said]))
            known = self.model.items[item]
            if self.model.report(lease, known, outcome, earned, later=later, output=output):
                taken.add(item)
        ended = {self.job_ids[job.number]: job.state for job in self.model.jobs if not job.is_open}
        sent += [(lease_id, [Outcome(-1, "done", 1), Outcome(2**40, "done", 1)]) for lease_id, _ in sent if strange]
        found = self.run(lifecycle.report_together(sent * (2 if doubled else 1)))
        assert [item.item_id for item in found] == sorted(self.item_ids[item] for item in taken)
        assert all(item.job_state == ended.get(item.job_id) for item in found)
        assert self.run(lifecycle.report_together(sent)) == []

    @action(with_jobs(1), number=recent, by=st.sampled_from(("owner", "owner", "operator", "stranger")))
    def cancel(self, number: int, by: str) -> None:
        job = self.job(number)
        owner = job.account.number
        account = {"owner": self.account_ids[owner], "operator": None, "stranger": self.account_ids[1 - owner]}[by]
        expected = None if by == "stranger" else self.model.stop(job, "cancelled")
        assert self.run(lifecycle.cancel(self.job_ids[job.number], account)) == expected

    @action(with_jobs(1), number=recent)
    def pass_deadline(self, number: int) -> None:
        job = self.job(number)
        job_id = self.job_ids[job.number]
        self.write("UPDATE job SET deadline = now() - interval '1 ms' WHERE id = %s", job_id)
        was_open = job.is_open
        self.model.stop(job, "expired")
        assert self.run(lifecycle.expire()) == (job_id if was_open else None)
        assert self.run(lifecycle.expire()) is None

    @action(with_items("leased", 5), number=recent)
    def worker_dies(self, number: int) -> None:
        lease = self.lease(number)
        self.write(
            "UPDATE item SET lease_until = now() - interval '1 ms' WHERE lease_id = %s AND state = 'leased'",
            self.lease_ids[lease],
        )
        self.model.abandon(lease)

    @action(lambda model: 8 * bool(model.crashed_jobs()))
    def reap(self) -> None:
        # All of them: which job is the first depends on its random id.
        while candidates := {self.job_ids[job.number]: job for job in self.model.crashed_jobs()}:
            reaped = self.run(with_parameters(lifecycle.reap(), max_crashes=MAX_CRASHES))
            job = candidates[reaped.job_id]
            assert reaped.crashed == self.model.reap(job)
            assert reaped.job_state == (None if job.is_open else job.state)
        assert self.run(lifecycle.reap()) is None

    @action(lambda model: 2 * any(account.ended for account in model.accounts))
    def uncount(self) -> None:
        assert self.run(lifecycle.uncount()) == self.model.uncount()

    @action(with_items("waiting", 8))
    def hour_passes_and_waiting_items_wake(self) -> None:
        self.write("UPDATE item SET run_at = now() - interval '1 ms' WHERE state = 'waiting'")
        for item in self.model.items:
            item.is_overdue |= item.state == "waiting"
        assert self.run(lifecycle.wake_waiting()) == self.model.wake_waiting()

    @action(with_items("waiting", 1))
    def wake_waiting_too_early(self) -> None:
        assert self.run(lifecycle.wake_waiting()) == self.model.wake_waiting() == {}

    @action(lambda model: any(not job.is_open for job in model.jobs), number=recent)
    def purge(self, number: int) -> None:
        ended = [job for job in self.model.jobs if not job.is_open]
        job = ended[-1 - number % len(ended)]
        self.write("UPDATE job SET expires_at = now() - interval '1 ms' WHERE id = %s", self.job_ids[job.number])
        statement = with_parameters(lifecycle.purge(), limit=PURGE_ROWS)
        while not job.is_purged:
            assert self.run(statement) == self.model.purge(job, PURGE_ROWS)
        assert self.run(statement) is None

    # What must hold after every rule

    @precondition(lambda self: self.opened)
    @invariant()
    def rows_are_the_models(self) -> None:
        row = self._connection.execute(_ROWS, prepare=True).fetchone()
        assert row is not None
        numbers: dict[str, int] = {}
        for ids in (self.account_ids, self.job_ids, self.lease_ids):
            numbers |= {str(known): number for number, known in enumerate(ids)}
        for item in row["items"]:
            item[3] = numbers.get(item[3])
        for entry in row["ledger"]:
            entry[1:3] = numbers.get(entry[1]), numbers.get(entry[2])
        row["ledger"].sort(key=repr)
        row["ended"] = sorted(numbers[job_id] for job_id in row["ended"])
        assert row == self.model.rows()

    @invariant()
    def ledger_has_no_discrepancy(self) -> None:
        found = self._connection.execute(discrepancies().sql, prepare=True).fetchall()
        assert found == []


def connect(url: str) -> psycopg.Connection[Any]:
    """Return the machine's connection; nothing here needs to survive a power cut."""
    connection = psycopg.connect(url, autocommit=True, row_factory=dict_row)
    connection.execute("SET synchronous_commit = off")
    return connection
