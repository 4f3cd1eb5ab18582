"""History: how many pages of monitors were listed on each day, worked out from the answers of today and the changes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from api.dashboard.plots import Plot, line_plot
from pipeline.database import Row, Statement

DAYS = 90
RECENT = 7


@dataclass(slots=True)
class Track:
    """One index's view of a monitor's pages: how many of the `known` ones it lists now, and its changes by day."""

    monitor_id: UUID
    index: str
    listed: int
    known: int
    begins: date
    newly: dict[date, int] = field(default_factory=dict)
    dropped: dict[date, int] = field(default_factory=dict)

    def recent(self, today: date) -> tuple[int, int]:
        since = today - timedelta(days=RECENT)
        newly, dropped = (sum(n for day, n in one.items() if day > since) for one in (self.newly, self.dropped))
        return newly, dropped

    def values(self, days: Sequence[date]) -> list[int | None]:
        """Return how many pages were listed at the end of each day, None before the monitor was made."""
        counts: list[int | None] = []
        count = self.listed
        for day in reversed(days):
            counts.append(count if day >= self.begins else None)
            count += self.dropped.get(day, 0) - self.newly.get(day, 0)
        return counts[::-1]


def read_tracks(account_id: UUID, monitor_id: UUID | None = None) -> Statement[list[Track]]:
    """Read the tracks of a monitor, or of all of an account; those that know most pages first."""
    return Statement(
        "SELECT m.id AS monitor_id, m.created_at, p.index, p.listed, p.known, c.day, c.newly, c.dropped"
        " FROM index_monitor m JOIN LATERAL (SELECT index, count(*) AS known, count(*) FILTER (WHERE is_indexed) AS"
        " listed FROM index_monitor_page WHERE monitor_id = m.id GROUP BY index) p ON true LEFT JOIN LATERAL ("
        "SELECT (checked_at AT TIME ZONE 'UTC')::date AS day,"
        " count(*) FILTER (WHERE change = 'newly_indexed') AS newly,"
        " count(*) FILTER (WHERE change = 'dropped') AS dropped FROM index_monitor_change WHERE monitor_id = m.id"
        " AND index = p.index AND checked_at > now() - %(span)s GROUP BY 1) c ON true"
        " WHERE m.account_id = %(account)s AND (%(monitor)s::uuid IS NULL OR m.id = %(monitor)s)"
        " ORDER BY p.known DESC, p.index",
        {"account": account_id, "monitor": monitor_id, "span": timedelta(days=DAYS + 1)},
        _tracks,
    )


def _tracks(rows: list[Row]) -> list[Track]:
    found: dict[tuple[UUID, str], Track] = {}
    for row in rows:
        key = (row["monitor_id"], row["index"])
        begins = row["created_at"].astimezone(UTC).date()
        track = found.setdefault(key, Track(*key, row["listed"], row["known"], begins))
        if row["day"]:
            track.newly[row["day"]], track.dropped[row["day"]] = row["newly"], row["dropped"]
    return list(found.values())


def by_monitor(tracks: Sequence[Track]) -> Mapping[UUID, list[Track]]:
    """Return the tracks of each monitor; the first is of the index that knows most of its pages."""
    found: dict[UUID, list[Track]] = defaultdict(list)
    for track in tracks:
        found[track.monitor_id].append(track)
    return found


def plot(title: str, named: Mapping[str, Track]) -> Plot | None:
    """Return a line for each track, or None on the first day, which has no line yet."""
    today = datetime.now(UTC).date()
    begins = min((track.begins for track in named.values()), default=today)
    count = min(DAYS, (today - begins).days + 1)
    if count < 2:
        return None
    days = [today - timedelta(days=back) for back in reversed(range(count))]
    series = {name: track.values(days) for name, track in named.items()}
    return line_plot(title, [f"{day:%d %b}" for day in days], series, unit="pages")
