"""Soak measures: what a running system holds, measured again and again, and whether any of it grows."""

import os
import re
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import psycopg
import redis
from systems import Running, children

#: Measurements are so far apart.
APART_SECONDS = 15.0
#: Share of the run before the comparison, in which caches fill, models load and retention begins.
WARM_UP = 0.34
#: A measure grows when it rises by more than this share of itself within the part that is compared …
SHARE = 0.10
#: … and most pairs of measurements rise: noise goes up as often as down.
RISING = 0.75
#: Below so much, by the end of a measure's name, a rise is none: a file more, or a buffer.
LEAST = {"MiB": 16.0, "kB": 256.0, "": 8.0}
#: The load itself: with less of it, less is held, so that a leak may not be seen.
LOAD = "answers a second"
#: The load falls when the second half of the part that is compared has less than this share of the first half.
STEADY = 0.80

RELATIONS = """
SELECT c.relname AS name, pg_table_size(c.oid) / 1024 AS table_kb, pg_indexes_size(c.oid) / 1024 AS index_kb
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind = 'r'
"""
COUNTS = """
SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections,
       (SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'lifecycle\\_%') AS schemas,
       (SELECT count(*) FROM job) AS jobs, (SELECT count(*) FROM item) AS items
"""
#: Programs by a mark in their command line.
PROGRAMS = {"gunicorn": "API", "sweep": "sweep", "scripts.main": "supervisor", "orphan_reaper": "orphan reaper"}
#: Names of forked processes, whose command line is the supervisor's.
FORKED = re.compile(r"(\w+)\.\d+")
#: Grows by design: the ledger outlives its jobs and fills PostgreSQL's buffers, artifacts go by the day, and some rows
#: are kept for days.
BY_DESIGN = re.compile(
    r"(credit_entry|audit_event|_change|queue_sample|cover_record|key_spending|supervisor's log|artifacts|"
    r"PostgreSQL: shared memory)"
)

HEADINGS = ("| measure | median | rise | verdict |", "|---|---:|---:|---|")
#: Measures that the page always shows; others only if they are not flat.
SHOWN = re.compile(
    r"(API|PostgreSQL|Redis|search_check|sweep|synthesis|transcription|vision): memory MiB|Redis: .*"
    r"|PostgreSQL: (connections|jobs|items)"
    r"|API: (descriptors|threads)"
)
INTRODUCTION = f"""# Soak

`make soak HOURS=2` looks for leaks: it runs a whole system under mixed load, measures memory, descriptors, threads,
connections, rows, keys and files every {APART_SECONDS:g} seconds, and fails if one of them grows. Records that outlive
the run, such as the ledger and the log, grow **by design**. [The last run](#the-last-run) shows the result.

The first third of the run, in which caches fill, does not count. After it:

- A measure **grows** if it rises by more than {100 * SHARE:.0f} % of its median and three quarters of all pairs of
  measurements rise. Rises up to {LEAST["MiB"]:g} MiB, {LEAST["kB"]:g} kB or {LEAST[""]:g} of anything else do not
  count.
- `{LOAD}` **falls** if the second half has less than {100 * STEADY:.0f} % of the first, and that fails the run too:
  a leak could hide behind less load.
- Everything else is **flat**.

"""


@dataclass
class Series:
    """One measure over time: minutes since the start, and values."""

    at: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Judgement:
    """A measure's median, and its rise within the part that is compared."""

    median: float
    rise: float
    grows: bool = False
    falls: bool = False

    def fails(self, name: str) -> bool:
        """Say whether the run fails by it."""
        return self.falls or (self.grows and not BY_DESIGN.search(name))


def judge(name: str, at: Sequence[float], values: Sequence[float]) -> Judgement:
    """Say whether a measure grows, by the median of the slopes of all pairs (Theil and Sen), which no peak bends."""
    begin = at[0] + (at[-1] - at[0]) * WARM_UP
    points = [(moment, value) for moment, value in zip(at, values, strict=True) if moment >= begin]
    median = statistics.median(value for _, value in points)
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(points, 2) if b[0] > a[0]]
    if not slopes:
        return Judgement(median, 0.0)
    rise = statistics.median(slopes) * (points[-1][0] - points[0][0])
    if name == LOAD:
        middle = (points[0][0] + points[-1][0]) / 2
        earlier = statistics.fmean(value for moment, value in points if moment < middle)
        later = statistics.fmean(value for moment, value in points if moment >= middle)
        return Judgement(median, rise, falls=later < STEADY * earlier)
    rising = sum(slope > 0 for slope in slopes) / len(slopes)
    unit = name.rpartition(" ")[2]
    least = LEAST.get(unit, LEAST[""])
    return Judgement(median, rise, grows=rise > max(SHARE * median, least) and rising >= RISING)


class Measures:
    """The measures of one system, whose TMPDIR is `temporary`; `answered` says how many requests were answered."""

    def __init__(self, running: Running, temporary: Path, answered: Callable[[], int]) -> None:
        self._running = running
        self._temporary = temporary
        self._answered = answered
        self._before = (time.monotonic(), answered())
        self._began = time.monotonic()
        self.series: dict[str, Series] = {}

    @property
    def minutes(self) -> float:
        """How long the system is measured already."""
        return (time.monotonic() - self._began) / 60

    def take(self) -> None:
        """Measure everything once."""
        now = self.minutes
        found = {**self._load(), **self._processes(), **self._redis(), **self._database(), **self._files()}
        for name, value in found.items():
            series = self.series.setdefault(name, Series())
            series.at.append(now)
            series.values.append(value)

    def judged(self) -> Mapping[str, Judgement]:
        """Say of each measure that was there all the time what became of it."""
        longest = max(len(series.at) for series in self.series.values())
        return {
            name: judge(name, series.at, series.values)
            for name, series in sorted(self.series.items())
            if len(series.at) > longest / 2
        }

    def _load(self) -> dict[str, float]:
        """Return what was answered since the last measurement; the first has none before it."""
        (before, had), (now, has) = self._before, (time.monotonic(), self._answered())
        self._before = now, has
        return {LOAD: (has - had) / (now - before)} if self.series else {}

    def _processes(self) -> dict[str, float]:
        found: dict[str, float] = {}
        pids = self._running.processes()
        # PostgreSQL's own processes write their titles over the environment by which the others are known.
        for pid in {*pids, *(child for server in pids if is_postgres(server) for child in children(server))}:
            folder = Path("/proc") / str(pid)
            try:
                forked = FORKED.fullmatch((folder / "comm").read_text().strip())
                program = (
                    {"api": "API"}.get(forked[1], forked[1])
                    if forked
                    else program_of((folder / "cmdline").read_bytes().decode(errors="replace"))
                )
                kilobytes = dict(re.findall(r"^(Pss\w*):\s+(\d+)", (folder / "smaps_rollup").read_text(), re.MULTILINE))
                held = {
                    "memory MiB": int(kilobytes["Pss_Anon"]) / 1024,
                    "shared memory MiB": int(kilobytes["Pss_Shmem"]) / 1024,
                    "mapped files MiB": int(kilobytes["Pss_File"]) / 1024,
                    "descriptors": float(len(list((folder / "fd").iterdir()))),
                    "threads": float(len(list((folder / "task").iterdir()))),
                }
            except (OSError, KeyError):
                continue  # it has ended meanwhile
            for name, value in held.items():
                found[f"{program}: {name}"] = found.get(f"{program}: {name}", 0.0) + value
        return found

    def _redis(self) -> dict[str, float]:
        with redis.Redis.from_url(self._running.redis_url) as client:
            return {
                "Redis: keys": float(client.dbsize()),
                "Redis: used MiB": client.info("memory")["used_memory"] / 2**20,
            }

    def _database(self) -> dict[str, float]:
        found: dict[str, float] = {}
        with psycopg.connect(self._running.database_url, row_factory=psycopg.rows.dict_row) as connection:
            for row in connection.execute(RELATIONS):
                found[f"table {row['name']}: rows kB"] = float(row["table_kb"])
                found[f"table {row['name']}: indexes kB"] = float(row["index_kb"])
            counts = connection.execute(COUNTS).fetchone() or {}
        return found | {f"PostgreSQL: {name}": float(value) for name, value in counts.items()}

    def _files(self) -> dict[str, float]:
        data = self._running.data
        return {
            "files: artifacts": float(files_in(data / "artifacts") - files_in(data / "artifacts" / "uploads")),
            "files: uploads": float(files_in(data / "artifacts" / "uploads")),
            "supervisor's log: kB": self._running.log.stat().st_size / 1024,
        } | temporary_files(self._temporary, self._running.processes())


def program_of(command: str) -> str:
    """Return what a process is, by its command line: its module or its program."""
    for mark, name in PROGRAMS.items():
        if mark in command:
            return name
    first = command.partition("\0")[0]
    return "PostgreSQL" if first.startswith("postgres") or "postgres" in Path(first).name else Path(first).name


def is_postgres(pid: int) -> bool:
    """Return whether a process is a PostgreSQL server."""
    try:
        return program_of((Path("/proc") / str(pid) / "cmdline").read_bytes().decode(errors="replace")) == "PostgreSQL"
    except OSError:
        return False


def files_in(folder: Path) -> int:
    """Count the files below a folder; what goes meanwhile is not counted.

    Nothing is asked of each file: in this process the clients run as well, and they would wait."""
    return sum(len(names) for _, _, names in os.walk(folder))


def temporary_files(folder: Path, pids: Iterable[int]) -> dict[str, float]:
    """Measure the files below a folder, and those that processes hold open there though they have no name any more."""
    below = [Path(at) / name for at, _, names in os.walk(folder) for name in names]
    sizes: dict[tuple[int, int], int] = {}
    for path in (*below, *(one for pid in pids for one in opened_below(folder, pid))):
        try:
            found = path.stat() if path.is_relative_to("/proc") else path.lstat()
        except OSError:
            continue  # it has gone meanwhile
        sizes[found.st_dev, found.st_ino] = found.st_size
    return {"files: temporary": float(len(sizes)), "files: temporary kB": sum(sizes.values()) / 1024}


def opened_below(folder: Path, pid: int) -> list[Path]:
    """Return the descriptors of a process that are files below a folder, as paths in /proc."""
    found = []
    with suppress(OSError):  # it has ended meanwhile
        for descriptor in (Path("/proc") / str(pid) / "fd").iterdir():
            with suppress(OSError):  # it has closed the file meanwhile
                if descriptor.readlink().is_relative_to(folder):
                    found.append(descriptor)
    return found


def page(judged: Mapping[str, Judgement], minutes: float, answered: int, run: str) -> str:
    """Return the document that a run leaves; `run` says when, of what and where it was."""
    shown = {name: one for name, one in judged.items() if is_shown(name, one)}
    rows = [f"| {name} | {one.median:,.0f} | {one.rise:+,.0f} | {verdict(name, one)} |" for name, one in shown.items()]
    rest = "All other measures were flat."
    said = f"{minutes:,.0f} minutes, {answered:,} requests answered; {run}."
    return INTRODUCTION + "\n".join(["## The last run", "", said, "", *HEADINGS, *rows, "", rest, ""])


def is_shown(name: str, one: Judgement) -> bool:
    """Return whether the page has a row of a measure."""
    return name == LOAD or one.grows or one.falls or bool(SHOWN.fullmatch(name))


def verdict(name: str, one: Judgement) -> str:
    """Return the last cell of a measure's row."""
    if one.falls:
        return "**falls**"
    return "flat" if not one.grows else "by design" if BY_DESIGN.search(name) else "**grows**"
