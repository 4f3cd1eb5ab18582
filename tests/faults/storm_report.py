"""What a storm has shown: a row for each scenario, and the books at its end."""

import os
import platform
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from storm_site import Site

from pipeline.database import Row, Statement
from pipeline.ledger import discrepancies

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "faults.md"
#: The tables of the crash points, where their tests have written them.
CRASH_POINTS = {
    what: (ROOT / "out" / f"faults-{name}").with_suffix(".md")
    for what, name in {
        "Workers": "crash-points",
        "The API": "api-crash-points",
        "The sweep": "sweep-crash-points",
    }.items()
}
INTRODUCTION = """# Faults

`make faults` strikes a whole system of real processes under mixed load: speech, transcripts, alt texts, posts, index
checks, webhooks and made-up items. Clients send each request until it is answered, under one Idempotency-Key.
PostgreSQL and Redis are reached over TCP, each through a proxy that can be late, cut, silent or slow. A short form is
part of `make test`, as are machines that are cut off ([many machines](operations.md#on-many-machines)).

After each fault the ledger's audit must find nothing, and every request must have exactly one job. At the end every job
must have ended, and every webhook must have been told. Results of speech, transcripts, alt texts and posts are read,
and must be whole. **Lost** are requests that were answered and have no job, **doubled** those with two. Whoever kills
workers waits while an item has had two crashes: a third would end it.

```sh
make faults                         # 60 s for each fault, and 2,000 kills within 15 minutes: about 80 minutes
make faults SECONDS=15 MINUTES=3    # the same in less than twenty minutes
make faults ONLY='Redis'            # faults with that in their name
```

`back to 95 %` says after how many seconds of measurement the rate of answers was 95 % of what it was in the seconds
before the fault, on the same machine. The clients keep all its cores busy, so the rate itself moves by some per cent
from one moment to the next; on a machine that does other work as well it says little. Where it was not back, the
highest share that was seen is told, and the fault strikes once more, in a row of its own.

"""

#: Throughput is measured over so many seconds before a fault, and again and again over so many after it.
BEFORE_SECONDS, WINDOW_SECONDS = 20.0, 10.0
#: The least of it: clients that were released together are answered together at first.
LEAST_SPAN_SECONDS = 5.0
#: Items that may be given up after three crashes, in all: who kills waits for those that have had two, but leases run
#: out too.
MOST_GIVEN_UP = 5
#: What counts as back, and how long that may take at most before it is given up.
ENOUGH = 0.95
PATIENCE_SECONDS = 45.0
#: An event that could not be sent is sent again after a while, and again later.
TOLD_SECONDS = 600.0

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


@dataclass(frozen=True)
class Books:
    """What the database says of the requests that were answered; but for what has ended, nothing of it may be."""

    ended: frozenset[str] = field(repr=False)
    lost: int
    doubled: int
    contradictions: int

    @property
    def are_right(self) -> bool:
        return not (self.lost or self.doubled or self.contradictions)


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
    back: Back
    books: Books


def books(site: Site) -> Books:
    """Compare what clients were told with what the database has."""
    jobs = dict(site.load.jobs)  # first: every one of these is there
    with site.database() as database:
        rows = database.run(JOBS)
        wrong = database.run(discrepancies())
    assert wrong == [], wrong
    by_key = {row["idempotency_key"]: row for row in rows}
    lost = [key for key, job_id in jobs.items() if key not in by_key or by_key[key]["id"] != job_id]
    doubled = [key for key, number in Counter(row["idempotency_key"] for row in rows).items() if number > 1]
    for row in rows:
        if row["idempotency_key"] in doubled:
            print(f"doubled, and the client knows {jobs.get(row['idempotency_key'])}: {row}")
    return Books(frozenset(row["id"] for row in rows if row["has_ended"]), len(lost), len(doubled), len(wrong))


@dataclass
class Report:
    """Rows of a storm, and what its throughput was."""

    is_long: bool
    seconds: float
    outcomes: list[Outcome] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    ended: str = "This run was not finished."

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

    def measure_before(self, site: Site) -> float:
        """Return how many requests a second are answered; 0 in the short form, which does not look."""
        if not self.is_long:
            return 0.0
        seconds = min(BEFORE_SECONDS, self.seconds)
        time.sleep(seconds)
        print(f"answers of each client in {seconds:g} s: {site.load.answers(seconds)}")
        return site.load.rate(seconds)

    def measure_back(self, site: Site, before: float) -> Back:
        """Return after how many seconds throughput is what it was before, the seconds of the window left out."""
        if not self.is_long:
            return Back()
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
            # What is made up fails as it is asked to; else only work that has lost three processes is given up.
            assert row["kind"] == "made_up" or row["failed"] == row["crashed"], row
        self._check_webhooks(site)
        states = Counter(row["state"] for row in rows)
        crashed = sum(row["crashed"] for row in rows)
        assert crashed <= MOST_GIVEN_UP, f"{crashed} items were given up"
        self.ended = (
            f"{len(rows):,} jobs, all ended ({', '.join(f'{number:,} {state}' for state, number in states.items())}); "
            f"{crashed} items given up after three crashes; {len(site.load.told):,} jobs told to a webhook."
        )
        print(self.ended)

    def _check_webhooks(self, site: Site) -> None:
        """Wait until every event that a client asked for has come: those that failed meanwhile are sent again."""
        wanted = {site.load.jobs[key] for key in site.load.told}
        until = time.monotonic() + TOLD_SECONDS
        while missing := wanted - {job for event in list(site.receiver.events) for job in _named(event.body, wanted)}:
            assert time.monotonic() < until, f"{len(missing)} of {len(wanted)} jobs were not told"
            time.sleep(0.5)

    def write(self) -> None:
        """Write the page of the documents."""
        day = time.strftime("%d %B %Y", time.gmtime())
        where = f"{os.cpu_count()} cores, Python {platform.python_version()}"
        load = f"load average {os.getloadavg()[2]:.1f} over the last 15 minutes"
        said = f"{day}, commit {revision()}, {where}, {load}; {self.seconds:g} s for each fault."
        text = INTRODUCTION + f"## The last run\n\n{said}\n\n"
        text += "\n".join(self._rows()) + f"\n\n{self.ended}\n\n## Crash points\n"
        for what, table in CRASH_POINTS.items():
            text += f"\n### {what}\n\n" + (table.read_text() if table.exists() else "This run had none.\n")
        PAGE.write_text(text)

    def _rows(self) -> Iterator[str]:
        yield "| fault | done | seconds | jobs | ended | lost | doubled | ledger | answers/s before | back to 95 % |"
        yield "|---|--:|--:|--:|--:|--:|--:|---|--:|--:|"
        for one in self.outcomes:
            ledger = "exact" if not one.books.contradictions else f"{one.books.contradictions} wrong"
            yield (
                f"| {one.name} | {one.faults:,} | {one.seconds:.0f} | {one.jobs:,} | {one.ended:,} | {one.books.lost} |"
                f" {one.books.doubled} | {ledger} | {one.before:.1f} | {one.back} |"
            )
        for name, why in self.skipped.items():
            yield f"| {name} | not here: {why} | | | | | | | | |"


def revision() -> str:
    """Return the short name of the commit that is measured."""
    named = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(named, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _named(body: bytes, ids: set[str]) -> set[str]:
    """Return which of these ids an event names."""
    return {
        found for found in re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", body.decode()) if found in ids
    }
