"""The life cycle as a few lines of plain Python: what lifecycle.sql must do, for one caller at a time.

Accounts, jobs and items are told apart by their place in order of creation, never by what the database calls them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

#: Fewer than the real number, so that random calls get there.
MAX_CRASHES = 2

PRIORITIES = ["low", "normal", "high"]
OPEN = ("waiting", "ready", "leased")


@dataclass
class Item:
    number: int
    job: "Job"
    index: int
    round: int
    price: int
    state: str = "ready"
    lease: int | None = None
    is_overdue: bool = False  # leased: nobody has renewed it; waiting: its time has come
    attempts: int = 0
    crashes: int = 0
    captured: int = 0
    checkpoint: dict[str, int] | None = None
    output: dict[str, int] | None = None


@dataclass
class Job:
    number: int
    account: "Account"
    kind: str
    route: str
    idempotency_key: str | None
    request_hash: bytes
    held: int
    priority: str = "normal"
    items: list[Item] = field(default_factory=list)
    state: str = "queued"
    ok: int = 0
    failed: int = 0
    captured: int = 0
    failed_by_crash: bool = False
    is_purged: bool = False
    purged_items: int = 0

    @property
    def is_open(self) -> bool:
        return self.state in ("queued", "running")

    @property
    def open_items(self) -> list[Item]:
        return [item for item in self.items if item.state in OPEN]


@dataclass
class Account:
    number: int
    available: int
    key_limit: int | None = None  # credits of its key
    is_revoked: bool = False
    is_paused: bool = False
    counted: dict[str, int] = field(default_factory=dict)  # open items by kind
    ended: list["Job"] = field(default_factory=list)  # jobs that are still counted


Entry = tuple[str, int, int | None, int, int]


class Model:
    """All rows. Every method does what the function of that name does, and returns what it returns."""

    def __init__(self, balances: Sequence[int], key_limits: Sequence[int | None]) -> None:
        self.accounts = [
            Account(number, available, limit)
            for number, (available, limit) in enumerate(zip(balances, key_limits, strict=True))
        ]
        self.jobs: list[Job] = []
        self.items: list[Item] = []
        self.leases = 0
        self.paused_kinds: set[str] = set()
        self.ledger: list[Entry] = [("grant", account.number, None, account.available, 0) for account in self.accounts]

    def rows(self) -> dict[str, list[Any]]:
        """Return everything that can be compared with the database."""
        return {
            "accounts": [
                [account.available, sum(account.counted.values()), account.counted] for account in self.accounts
            ],
            "ended": sorted(job.number for account in self.accounts for job in account.ended),
            "jobs": [
                [job.state, len(job.items), job.ok, job.failed, job.held, job.captured, job.is_purged]
                for job in self.jobs
            ],
            "items": [
                [
                    item.number,
                    item.state,
                    item.round,
                    item.lease,
                    item.attempts,
                    item.crashes,
                    item.price,
                    item.captured,
                    item.checkpoint,
                    item.output,
                ]
                for job in self.jobs
                for item in job.items[job.purged_items :]
            ],
            "ledger": sorted((list(entry) for entry in self.ledger), key=repr),
        }

    def _enter(self, entry: str, job: Job, available: int, held: int) -> None:
        job.account.available += available
        self.ledger.append((entry, job.account.number, job.number, available, held))

    def key_left(self, account: Account) -> float:
        """Return what the account's key may still use: all that it is given is within one month."""
        if account.key_limit is None:
            return inf
        used = sum(job.held if job.is_open else job.captured for job in self.jobs if job.account is account)
        return max(0, account.key_limit - used)

    def grant(self, account: Account, credits: int) -> int:
        account.available += credits
        if credits:
            self.ledger.append(("grant", account.number, None, credits, 0))
        return account.available

    def submit(
        self, account: Account, kind: str, route: str, prices: Sequence[int], *, idempotency_key: str | None,
        request_hash: bytes, is_forgotten: bool, slice_size: int, max_open: int, priority: str = "normal",
    ) -> tuple[str, int | None]:  # fmt: skip
        if account.is_revoked:
            return "unauthorized", None
        for job in reversed(self.jobs):
            if is_forgotten or idempotency_key is None:
                break
            if job.state == "expired" or job.failed_by_crash:
                continue  # it was not carried out, and uses no key up
            if (job.account, job.route, job.idempotency_key) == (account, route, idempotency_key):
                return ("replayed" if job.request_hash == request_hash else "conflict"), job.number
        if sum(account.counted.values()) + len(prices) > max_open:
            account.counted, account.ended = self._open_by_kind(account), []
            unfinished = sum(len(job.open_items) for job in self.jobs if job.account is account)
            if unfinished + len(prices) > max_open:
                return "too_many", None
        if account.available < sum(prices):
            return "insufficient", None
        if 0 < sum(prices) > self.key_left(account):
            return "key_limit", None
        job = Job(len(self.jobs), account, kind, route, idempotency_key, request_hash, sum(prices), priority)
        if account.counted.get(kind, 0) >= slice_size:
            self._take_off(account)
        ahead = account.counted.get(kind, 0)
        account.counted[kind] = ahead + len(prices)
        for index, price in enumerate(prices):
            item = Item(len(self.items), job, index, (ahead + index) // slice_size, price)
            job.items.append(item)
            self.items.append(item)
        if ahead:
            self._overtake(job)
        self.jobs.append(job)
        if job.held:
            self._enter("hold", job, -job.held, job.held)
        return "accepted", job.number

    def _overtake(self, job: Job) -> None:
        lower, movers = PRIORITIES[: PRIORITIES.index(job.priority)], job.items
        while lower and movers:
            movers = self._exchange(job, lower, iter(movers))
            lower = lower[:-1]

    def _exchange(self, job: Job, lower: list[str], movers: Iterator[Item]) -> list[Item]:
        own = [item for item in self.items if (item.job.account, item.job.kind) == (job.account, job.kind)]
        ready = [item for item in own if item.state == "ready" and item.job.priority in lower]
        overtaken = []
        for item in sorted(ready, key=lambda item: (item.round, lower.index(item.job.priority), -item.number)):
            mover = next((one for one in movers if one.round > item.round), None)
            if mover is None:
                break
            mover.round, item.round = item.round, mover.round + 1
            overtaken += [item] if item.job.priority == "normal" else []
        return overtaken

    def _open_by_kind(self, account: Account) -> dict[str, int]:
        counted: dict[str, int] = {}
        for job in self.jobs:
            if job.account is account and job.is_open:
                counted[job.kind] = counted.get(job.kind, 0) + len(job.items)
        return counted

    def _take_off(self, account: Account) -> None:
        for kind in {job.kind for job in account.ended}:
            gone = sum(len(job.items) for job in account.ended if job.kind == kind)
            account.counted[kind] = max(0, account.counted.get(kind, 0) - gone)
        account.ended = []

    def uncount(self) -> int:
        jobs = sum(len(account.ended) for account in self.accounts)
        for account in self.accounts:
            if not account.ended:
                continue
            self._take_off(account)
            if not any(job.account is account and job.is_open for job in self.jobs):
                account.counted = {}
        return jobs

    def claim(self, limits: dict[str, int], *, alone: bool, oldest: bool) -> list[int]:
        lease = self.leases
        self.leases += 1
        wanted = limits.keys() - self.paused_kinds
        candidates = sorted(
            (
                item
                for item in self.items
                if item.state == "ready" and item.job.kind in wanted and not item.job.account.is_paused
            ),
            key=lambda item: item.number if oldest else (item.round, item.number),
        )
        candidates = [item for item in candidates if alone or not item.crashes]
        if not candidates:
            return []
        kind = candidates[0].job.kind
        taken = [item for item in candidates if item.job.kind == kind][: limits[kind]]
        taken = taken[:1] if taken[0].crashes else [item for item in taken if not item.crashes]
        for item in taken:
            item.state, item.lease, item.is_overdue = "leased", lease, False
            if item.job.state == "queued":
                item.job.state = "running"
        return sorted(item.number for item in taken)

    def is_held(self, lease: int, item: Item) -> bool:
        return item.state == "leased" and item.lease == lease

    def heartbeat(self, lease: int, item: Item, credits: int | None, checkpoint: dict[str, int] | None) -> bool:
        if not self.is_held(lease, item):
            return False
        item.is_overdue = False
        item.captured = max(item.captured, min(credits or 0, item.price))
        item.crashes = item.crashes if checkpoint in (None, item.checkpoint) else 0
        item.checkpoint = checkpoint or item.checkpoint
        return True

    def raise_hold(self, lease: int, item: Item, credits: int) -> str:
        if not self.is_held(lease, item):
            return "lost"
        more = credits - item.price
        if more > item.job.account.available:
            return "insufficient"
        if 0 < more > self.key_left(item.job.account):
            return "key_limit"
        if more > 0:
            item.price = credits
            item.job.held += more
            self._enter("raise", item.job, -more, more)
        return "raised"

    def report(self, lease: int, item: Item, outcome: str, credits: int, *, later: bool, output: Any) -> bool:
        if not self.is_held(lease, item):
            return False
        item.output = output
        if outcome in ("done", "failed"):
            item.state = outcome
            item.captured = min(max(credits, 0), item.price)
            item.job.ok += outcome == "done"
            item.job.failed += outcome == "failed"
            self._settle_if_complete(item.job)
        else:
            item.state = "waiting" if later else "ready"
            item.is_overdue = False
            item.attempts += outcome == "retry"
        return True

    def _settle_if_complete(self, job: Job) -> None:
        if job.ok + job.failed == len(job.items):
            self._settle(job, "succeeded" if job.ok == len(job.items) else "failed" if job.ok == 0 else "partial")

    def _settle(self, job: Job, state: str) -> None:
        first_failed = next((item for item in job.items if item.state == "failed"), None)
        job.failed_by_crash = state == "failed" and first_failed is not None and first_failed.crashes >= MAX_CRASHES
        job.state = state
        job.account.ended.append(job)
        job.captured = sum(item.captured for item in job.items)
        if job.captured:
            self._enter("capture", job, 0, -job.captured)
        if job.held > job.captured:
            self._enter("release", job, job.held - job.captured, job.captured - job.held)

    def stop(self, job: Job, state: str) -> str:
        """Cancel or expire a job; return the state it was in."""
        before = job.state
        if job.is_open:
            for item in job.open_items:
                item.state = "cancelled"
            self._settle(job, state)
        return before

    def abandon(self, lease: int) -> None:
        """Let the worker of a lease die: nobody renews it any more."""
        for item in self.items:
            if self.is_held(lease, item):
                item.is_overdue = True

    def crashed_jobs(self) -> list[Job]:
        """Return the jobs that a reap may take."""
        return [job for job in self.jobs if any(item.state == "leased" and item.is_overdue for item in job.items)]

    def reap(self, job: Job) -> int:
        crashed = [item for item in job.items if item.state == "leased" and item.is_overdue]
        for item in crashed:
            item.crashes += 1
            item.is_overdue = False
            item.state = "failed" if item.crashes >= MAX_CRASHES else "waiting"
            job.failed += item.state == "failed"
        self._settle_if_complete(job)
        return len(crashed)

    def wake_waiting(self) -> dict[str, int]:
        woken: dict[str, int] = {}
        for item in self.items:
            if item.state == "waiting" and item.is_overdue:
                item.state, item.is_overdue = "ready", False
                woken[item.job.kind] = woken.get(item.job.kind, 0) + 1
        return woken

    def purge(self, job: Job, limit: int) -> int:
        gone = min(limit, len(job.items) - job.purged_items)
        job.purged_items += gone
        job.is_purged = gone < limit
        return gone
