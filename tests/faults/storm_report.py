"""The report of a storm: a row a scenario, and the books at its end."""

import json
import os
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from open_counts import MISCOUNTED
from revision import measured, revision
from storm_site import Site
from waiting import wait_for

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Row, Statement

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "faults.md"
#: The rows so far, for a run in several sittings.
SO_FAR = ROOT / "out" / "faults.json"
#: The tables of the crash points, where their tests have written them.
CRASH_POINTS = {
    what: (ROOT / "out" / f"faults-{name}").with_suffix(".md")
    for what, name in {
        "Workers": "crash-points",
        "The API": "api-crash-points",
        "The sweep": "sweep-crash-points",
        "The first start": "first-start-crash-points",
    }.items()
}
INTRODUCTION = """# Faults

`make faults` tries to lose a job, to run it twice, or to charge for it twice. It runs a whole system of real processes
under mixed load and strikes it; proxies before PostgreSQL, Redis and the API delay, cut, silence or slow their
connections. Clients repeat each request under one Idempotency-Key until it is answered.

After each fault, every job must have ended, every request must have exactly one job, and the ledger must be exact.
At the end every webhook must have arrived.

```sh
make faults                                   # 60 s for each fault, and 2,000 kills: about 80 minutes
make faults SECONDS=15 MINUTES=3 KILLS=300    # the same in twenty minutes
make faults ONLY='Redis'                      # faults with that in their name
make faults SITTING=50                        # begin no fault after 50 minutes
make faults SITTING=50 GO_ON=1                # the faults that are left, on the same commit
make faults PARTS=tests/faults/test_crash_points.py
```

**Strikes** are kills, restarts, cut connections, or pieces of data that a proxy held up; **jobs** are requests answered
meanwhile. **before** is how many requests were answered per second before the fault; **back to 95 %** is how long it
took to reach 95 % of that again. If that takes more than 30 s, the fault strikes again, in a row of its own.

"""

CRASH_POINTS_INTRODUCTION = """## Crash points

We run each kind of work, except audiobooks' files, once for each call that it makes to PostgreSQL, Redis, the store, a
file, a socket or a program, and kill its process before or after that call. Then the same promises must hold.

| process | kinds of work | calls | deaths |
|---|--:|--:|--:|
"""

#: Throughput is measured over so many seconds before a fault, and again and again over so many after it.
BEFORE_SECONDS, WINDOW_SECONDS = 20.0, 10.0
#: The least of it: clients that were released together are answered together at first.
LEAST_SPAN_SECONDS = 5.0
#: Items that may be given up after three crashes, in all: who kills waits for those that have had two, but leases run
#: out too.
MOST_GIVEN_UP = 5
#: The share of the rate that counts as back, and the most seconds until then.
ENOUGH = 0.95
PATIENCE_SECONDS = 30.0
#: The least share of the first rates that the last ones must have, over so many faults.
STEADY, STEADY_FAULTS = 0.9, 5
#: Processor time of a look at the machine's speed.
SPEED_SECONDS = 0.5
SPEED_NUMBERS = 1_000_000
#: A fault that strikes a second time has this after its name.
AGAIN = ", again"
#: A job of a client that was answered "accepted" ends within so long once the fault is over.
END_SECONDS = 120.0
#: Names in a report's sums, beside the states of jobs.
CRASHED, TOLD = "given up", "told"
#: An event that could not be sent is sent again after a while, and again later.
TOLD_SECONDS = 600.0

OPEN = "SELECT id FROM job WHERE id = ANY(%(ids)s::uuid[]) AND finished_at IS NULL LIMIT 5"
#: None once the sweep has taken all jobs that have ended off the counters of open items.
NOT_TAKEN_OFF: Statement[list[Row]] = Statement("SELECT FROM ended_job LIMIT 1")
JOBS: Statement[list[Row]] = Statement(
    "SELECT j.id::text, j.idempotency_key, j.kind, j.state, j.error, j.created_at, j.finished_at,"
    " j.finished_at IS NOT NULL AS has_ended, j.items_total,"
    " j.credits_held, j.credits_captured,"
    " count(*) FILTER (WHERE i.state = 'done') AS done,"
    " count(*) FILTER (WHERE i.state = 'failed') AS failed,"
    " count(*) FILTER (WHERE i.state = 'done' AND i.output IS NULL) AS empty,"
    " count(*) FILTER (WHERE i.error ->> 'code' = 'worker_crashed') AS crashed,"
    " coalesce(sum(i.captured) FILTER (WHERE i.state <> 'done'), 0) AS undelivered"
    " FROM job j JOIN item i ON i.job_id = j.id GROUP BY j.id"
)


#: Items that were given up because their processes crashed.
GIVEN_UP: Statement[int] = Statement(
    "SELECT count(*) AS number FROM item WHERE error ->> 'code' = 'worker_crashed'", {}, lambda rows: rows[0]["number"]
)


def _last_of_first(rates: list[float]) -> float:
    """Return what the last rates are of the first; 1 where there are too few to say."""
    if len(rates) < 2 * STEADY_FAULTS:
        return 1.0
    return statistics.median(rates[-STEADY_FAULTS:]) / statistics.median(rates[:STEADY_FAULTS])


@dataclass(frozen=True)
class Books:
    """Faults that the database has, and the jobs that have ended."""

    ended: frozenset[str] = field(repr=False)
    lost: int
    doubled: int
    contradictions: int

    @property
    def are_right(self) -> bool:
        return not (self.lost or self.doubled or self.contradictions)


#: The books of each row that is kept: a wrong one ends the run.
RIGHT = Books(frozenset(), 0, 0, 0)


@dataclass(frozen=True)
class Back:
    """After how many seconds throughput was back, None if it was not, and the highest share of it that was seen."""

    seconds: float | None = None
    share: float = 0.0

    def __str__(self) -> str:
        """Return what the table says."""
        if self.seconds is None:
            return f"{100 * self.share:.0f} % within {PATIENCE_SECONDS:g} s"
        return f"{self.seconds:.0f} s"


@dataclass(frozen=True)
class Outcome:
    """A scenario: how often it struck and how long, what was asked meanwhile, and how throughput came back."""

    name: str
    faults: int
    seconds: float
    jobs: int
    ended: int
    before: float
    machine: float
    back: Back
    books: Books
    #: Items given up after three crashes.
    given_up: int = 0


def books(site: Site) -> Books:
    """Compare what clients were told with what the database has."""
    jobs = dict(site.load.jobs)  # first: every one of these is there
    with site.database() as database:
        rows = database.run(JOBS)
        wrong = database.run(discrepancies())
        miscounted = database.run(MISCOUNTED)
    assert wrong == [], wrong
    assert miscounted == [], miscounted
    by_key = {row["idempotency_key"]: row for row in rows}
    lost = [key for key, job_id in jobs.items() if key not in by_key or by_key[key]["id"] != job_id]
    doubled = [key for key, number in Counter(row["idempotency_key"] for row in rows).items() if number > 1]
    for row in rows:
        if row["idempotency_key"] in doubled:
            print(f"doubled, and the client knows {jobs.get(row['idempotency_key'])}: {row}")
    return Books(frozenset(row["id"] for row in rows if row["has_ended"]), len(lost), len(doubled), len(wrong))


def machine_speed() -> float:
    """Return how often a small piece of work is done in a second of this thread's processor time.

    It is arithmetic, memory that no cache holds, and system calls: a shared machine can become slower in each alone."""
    choose = random.Random(1)
    numbers = [choose.random() for _ in range(SPEED_NUMBERS)]
    places = [choose.randrange(SPEED_NUMBERS) for _ in range(10_000)]
    before, done = time.thread_time(), 0
    while time.thread_time() - before < SPEED_SECONDS:
        sum(numbers[place] for place in places[done % 10 * 1_000 :][:1_000])
        sum(number * number for number in range(1_000))
        for _ in range(20):
            PAGE.stat()
        done += 1
    return done / (time.thread_time() - before)


def wait_for_ends(site: Site, jobs: Collection[str]) -> None:
    """Wait until every one of these jobs has ended."""
    still: Statement[list[Row]] = Statement(OPEN, {"ids": list(jobs)})
    with site.database() as database:
        wait_for(lambda: not database.run(still), seconds=END_SECONDS, about=lambda: f"open: {database.run(still)}")


@dataclass
class Report:
    """Rows of a storm, and what its throughput was."""

    seconds: float
    outcomes: list[Outcome] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    is_finished: bool = False
    #: Jobs by state, items given up and jobs told to a webhook, over all sittings.
    sums: Counter[str] = field(default_factory=Counter)
    #: Read at once: the page that is written changes the tree.
    about: str = field(default_factory=measured)

    def go_on(self) -> None:
        """Take the rows of earlier sittings. Raises AssertionError if they are of another commit or other seconds."""
        so_far: dict[str, Any] = json.loads(SO_FAR.read_text())
        assert (so_far["commit"], so_far["seconds"]) == (revision(), self.seconds), "begin anew, without GO_ON"
        self.outcomes = [Outcome(**row, back=Back(**back), books=RIGHT) for row, back in so_far["outcomes"]]
        self.sums = Counter(so_far["sums"])

    def keep(self) -> None:
        """Keep the rows for the next sitting."""
        SO_FAR.parent.mkdir(exist_ok=True)
        rows = [(_but(asdict(one), "back", "books"), asdict(one.back)) for one in self.outcomes]
        SO_FAR.write_text(
            json.dumps({"commit": revision(), "seconds": self.seconds, "outcomes": rows, "sums": self.sums})
        )

    def has(self, scenario: str) -> bool:
        """Say whether an earlier sitting had this scenario."""
        return any(one.name == scenario for one in self.outcomes)

    @property
    def _window(self) -> float:
        return min(WINDOW_SECONDS, self.seconds)

    def skip(self, name: str, why: str) -> None:
        """Note that a scenario can't be had here."""
        self.skipped[name] = why
        print(f"{name}: not here, {why}")

    def add(self, outcome: Outcome) -> None:
        """Take a row, which must be without fault."""
        self.outcomes.append(outcome)
        assert outcome.faults > 0, outcome
        assert outcome.books.are_right, outcome

    def measure_before(self, site: Site) -> tuple[float, float]:
        """Return how many requests a second are answered, and the machine's speed."""
        seconds = min(BEFORE_SECONDS, self.seconds)
        time.sleep(seconds)
        print(f"answers of each client in {seconds:g} s: {site.load.answers(seconds)}")
        return site.load.rate(seconds), machine_speed()

    def measure_back(self, site: Site, before: float) -> Back:
        """Return after how many seconds throughput is what it was before, the seconds of the window left out."""
        began, most = time.monotonic(), 0.0
        while time.monotonic() - began < PATIENCE_SECONDS:
            time.sleep(0.5)
            span = min(self._window, time.monotonic() - began)
            if span >= LEAST_SPAN_SECONDS:
                most = max(most, site.load.rate(span))
                if most >= ENOUGH * before:
                    return Back(time.monotonic() - began, most / before)
        print(f"not back; answers of each client in {self._window:g} s: {site.load.answers(self._window)}")
        return Back(share=most / before)

    def check_rates(self) -> None:
        """Check that throughput was back after each fault, at the second strike at the latest, and has not sunk."""
        back = {one.name.removesuffix(AGAIN) for one in self.outcomes if one.back.seconds is not None}
        missed = {one.name: str(one.back) for one in self.outcomes if one.name.removesuffix(AGAIN) not in back}
        assert not missed, f"throughput was not back: {missed}"
        rates = [one.before for one in self.outcomes]
        by_speed = [one.before / one.machine for one in self.outcomes]
        share = max(_last_of_first(rates), _last_of_first(by_speed))
        assert share >= STEADY, f"the last rates are {share:.0%} of the first, at best: {rates}, by speed {by_speed}"

    def finish(self, site: Site) -> None:
        """Check everything that the storm has left, once every client has been answered."""
        jobs = site.load.jobs
        with site.database() as database:
            rows = database.run(JOBS)
            assert database.run(discrepancies()) == []
        assert {row["idempotency_key"]: row["id"] for row in rows} == jobs
        assert len(rows) == len(jobs)
        for row in rows:
            assert row["has_ended"], row
            assert row["done"] + row["failed"] == row["items_total"], row
            assert row["empty"] == 0, row
            assert not row["undelivered"], row
            # Made-up work fails as asked; other work is given up only after it has lost three processes.
            assert row["kind"] == "made_up" or row["failed"] == row["crashed"], row
        self._check_webhooks(site)
        self._check_counters(site)
        self.sums.update(row["state"] for row in rows)
        self.sums[CRASHED] += sum(row["crashed"] for row in rows)
        self.sums[TOLD] += len(site.load.told)
        print(self._ended())
        assert self.sums[CRASHED] <= MOST_GIVEN_UP, f"{self.sums[CRASHED]} items were given up"

    def _ended(self) -> str:
        states = {name: number for name, number in self.sums.items() if name not in (CRASHED, TOLD)}
        if not states:
            return ""
        during = ", ".join(f"{one.given_up} during “{one.name}”" for one in self.outcomes if one.given_up)
        return (
            f"{sum(states.values()):,} jobs, all ended"
            f" ({', '.join(f'{number:,} {state}' for state, number in states.items())});"
            f" {self.sums[CRASHED]} items given up after three crashes{f' ({during})' if during else ''};"
            f" {self.sums[TOLD]:,} jobs told to a webhook."
        )

    def _check_webhooks(self, site: Site) -> None:
        """Wait until every event that a client asked for has come: those that failed meanwhile are sent again."""
        wanted = {site.load.jobs[key] for key in site.load.told}
        until = time.monotonic() + TOLD_SECONDS
        while missing := wanted - {job for event in list(site.receiver.events) for job in _named(event.body, wanted)}:
            assert time.monotonic() < until, f"{len(missing)} of {len(wanted)} jobs were not told"
            time.sleep(0.5)

    def _check_counters(self, site: Site) -> None:
        """Wait until the sweep has taken all that has ended off its account's counters: nothing is open then."""
        with site.database() as database:
            wait_for(
                lambda: not database.run(NOT_TAKEN_OFF), seconds=END_SECONDS, about=lambda: "the counters are late"
            )
            assert database.run(MISCOUNTED) == []
            assert database.run(Statement("SELECT id, open_items FROM account WHERE open_items <> 0")) == []

    def write(self) -> None:
        """Write the page of the documents."""
        load = f"load average {os.getloadavg()[2]:.1f} over the last 15 minutes"
        said = f"{self.about}, {load}; {self.seconds:g} s for each fault."
        ended = self._ended() if self.is_finished else "This run was not finished."
        text = INTRODUCTION + f"## The last run\n\n{said}\n\n"
        text += "\n".join(self._rows()) + f"\n\n{self._books()} {ended}\n\n{CRASH_POINTS_INTRODUCTION}"
        text += "".join(f"| {what} | {crash_points(table)} |\n" for what, table in CRASH_POINTS.items())
        PAGE.write_text(text)

    def _books(self) -> str:
        wrong = [one.name for one in self.outcomes if not one.books.are_right]
        if wrong:
            return f"Jobs or the ledger were wrong after: {', '.join(wrong)}."
        return "No job was lost or made twice, and the ledger was exact after each fault."

    def _rows(self) -> Iterator[str]:
        yield "| fault | strikes | jobs | before | back to 95 % |"
        yield "|---|--:|--:|--:|--:|"
        for one in self.outcomes:
            yield f"| {one.name} | {one.faults:,} | {one.jobs:,} | {one.before:.1f} | {one.back} |"
        for name, why in self.skipped.items():
            yield f"| {name} | not here: {why} | | | |"


def crash_points(table: Path) -> str:
    """Return the cells of a part of the system: kinds of work, calls, and processes that died at them."""
    if not table.exists():
        return "this run had none | |"
    text = table.read_text()
    rows = re.findall(r"^\| \w+ \| (\d+|-) \| (\d+) \|", text, re.MULTILINE)
    found = rows or re.findall(r"^(\d+) calls, (\d+) deaths", text, re.MULTILINE)
    calls, deaths = (sum(int(row[place].replace("-", "0")) for row in found) for place in (0, 1))
    return f"{len(found)} | {calls} | {deaths}"


def _but(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _named(body: bytes, ids: set[str]) -> set[str]:
    """Return which of these ids an event names."""
    return {
        found for found in re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", body.decode()) if found in ids
    }
