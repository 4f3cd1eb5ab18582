"""Feeds: the podcasts of sites. An episode is the audio that a run has written to a post; it ends with an undo."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4, uuid5

from psycopg.types.json import Jsonb

from pipeline.database import SQL, Statement, columns, row_of, rows_of

#: The namespace of podcasts' ids, which are made of the address that a feed has at first (podcast namespace, guid).
PODCASTS = UUID("ead4c236-bf58-58c6-a2c6-a6b28d128cb6")
#: The file of an episode, in the store and in its address.
AUDIO = "audio.mp3"
#: Most sentences of a heading.
MOST_SENTENCES = 6
#: Bytes of the secret in a feed's address.
TOKEN_BYTES = 24
#: Episodes of a feed, as directories read a few hundred.
MOST_EPISODES = 300
#: An episode whose audio could not be copied is tried again after this time.
AGAIN = timedelta(minutes=5)
#: Directories sort podcasts by these (podcasters.apple.com, Apple Podcasts categories).
CATEGORIES = (
    "Arts", "Business", "Comedy", "Education", "Fiction", "Government", "Health & Fitness", "History", "Kids & Family",
    "Leisure", "Music", "News", "Religion & Spirituality", "Science", "Society & Culture", "Sports", "TV & Film",
    "Technology", "True Crime",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Feed:
    """The podcast of a site. `options` are its `category`, and the address of its `image`."""

    site_id: UUID
    token: str | None
    guid: UUID
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Episode:
    """The spoken post of a change: what the change says of it, and its files."""

    id: UUID
    change_id: int
    site_id: UUID
    target: str
    about: Mapping[str, Any]
    proposed: Mapping[str, Any]
    written: Mapping[str, Any]
    excerpt: str | None
    cover_made: Mapping[str, Any] | None
    audio_bytes: int | None
    cover: str | None
    created_at: datetime

    @property
    def title(self) -> str:
        """The post's title."""
        return str(self.about.get("page") or "Untitled")

    @property
    def summary(self) -> str:
        """The post's excerpt, or its first sentences."""
        said = self.excerpt or self.about.get("excerpt")
        return str(said or " ".join(text for _, _, text in self.proposed.get("sentences", ())[1:4]) or self.title)

    @property
    def published_at(self) -> datetime:
        """When the post was published; of a draft, when it was spoken."""
        told = self.about.get("published_at")
        return datetime.fromisoformat(told) if told else self.created_at

    def chapters(self) -> Iterator[tuple[float, str]]:
        """Yield each heading's start in seconds, and the heading, after the title."""
        headings, sentences = self.written.get("headings") or (), self.proposed.get("sentences", ())
        if headings:
            yield 0, self.title
        begun = 0
        for heading in headings:
            for place in range(begun, len(sentences)):
                # A heading may have several sentences.
                if " ".join(text for _, _, text in sentences[place : place + MOST_SENTENCES]).startswith(heading):
                    yield sentences[place][0], heading
                    begun = place + 1
                    break


FEED = columns(Feed.__dataclass_fields__)
#: Episodes of the feeds that have not ended, and of audio that still stands where it was written.
EPISODE = SQL(
    "SELECT e.id, c.id AS change_id, r.site_id, c.target, c.about, c.proposed, c.written,"
    " coalesce(x.written, x.proposed) #>> '{}' AS excerpt, v.proposed AS cover_made, e.audio_bytes, e.cover,"
    " e.created_at FROM site_feed f"
    " JOIN site_run r ON r.site_id = f.site_id JOIN site_change c ON c.run_id = r.id"
    " JOIN site_episode e ON e.change_id = c.id"
    " LEFT JOIN LATERAL (SELECT n.written, n.proposed FROM site_change n JOIN site_run o ON o.id = n.run_id"
    " WHERE o.site_id = r.site_id AND n.target = c.target AND n.field = 'excerpt' AND n.state = 'written'"
    " ORDER BY n.id DESC LIMIT 1) x ON true"
    " LEFT JOIN LATERAL (SELECT n.proposed FROM site_change n JOIN site_run o ON o.id = n.run_id"
    " WHERE o.site_id = r.site_id AND n.target = c.target AND n.field = 'cover' AND n.state = 'written'"
    " ORDER BY n.id DESC LIMIT 1) v ON true"
    " WHERE f.token IS NOT NULL AND c.field = 'audio' AND c.state = 'written' AND c.about ->> 'is_public' = 'true'"
)


def make_feed(site_id: UUID, address: str, options: Mapping[str, Any]) -> Statement[Feed | None]:
    """Give a site's podcast a new address, in place of the one before; `address` is where all feeds are."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    guid = uuid5(PODCASTS, f"{address.partition('://')[2]}/{token}.xml")
    return Statement(
        SQL(
            "INSERT INTO site_feed (site_id, token, guid, options) VALUES (%(site)s, %(token)s, %(guid)s, %(options)s)"
            " ON CONFLICT (site_id) DO UPDATE SET token = excluded.token, options = excluded.options RETURNING {}"
        ).format(FEED),
        {"site": site_id, "token": token, "guid": guid, "options": Jsonb(dict(options))},
        row_of(Feed),
    )


def end_feed(site_id: UUID) -> Statement[bool]:
    """End a site's podcast: its address and its episodes are gone, and their files soon."""
    return Statement(
        "UPDATE site_feed SET token = NULL WHERE site_id = %(site)s RETURNING site_id", {"site": site_id}, bool
    )


def read_feed(site_id: UUID) -> Statement[Feed | None]:
    """Read the podcast of a site; None if it has none, or it was ended."""
    return _find_feed("site_id", site_id)


def find_feed(token: str) -> Statement[Feed | None]:
    """Read the podcast with this secret in its address."""
    return _find_feed("token", token)


def list_episodes(site_id: UUID) -> Statement[list[Episode]]:
    """Read the newest episodes of a site's podcast."""
    return Statement(
        EPISODE + " AND f.site_id = %(site)s AND e.audio_bytes IS NOT NULL"
        " ORDER BY coalesce((c.about->>'published_at')::timestamptz, e.created_at) DESC, c.id DESC LIMIT %(most)s",
        {"site": site_id, "most": MOST_EPISODES},
        rows_of(Episode),
    )


def count_episodes(site_id: UUID) -> Statement[int]:
    """Count the episodes of a site's podcast."""
    sql = SQL("SELECT count(*) AS number FROM ({}) AS found").format(
        SQL(EPISODE + " AND f.site_id = %(site)s AND e.audio_bytes IS NOT NULL")
    )
    return Statement(sql, {"site": site_id}, lambda rows: int(rows[0]["number"]))


def find_episode_of(change_ids: Sequence[int]) -> Statement[Episode | None]:
    """Read the newest episode of some changes."""
    sql = EPISODE + " AND c.id = ANY(%(ids)s) AND e.audio_bytes IS NOT NULL ORDER BY c.id DESC LIMIT 1"
    return Statement(sql, {"ids": list(change_ids)}, row_of(Episode))


def find_episode(episode_id: UUID) -> Statement[Episode | None]:
    """Read an episode, unless it has ended or its audio is not copied yet."""
    sql = EPISODE + " AND e.id = %(id)s AND e.audio_bytes IS NOT NULL"
    return Statement(sql, {"id": episode_id}, row_of(Episode))


# The sweep's statements.


def claim_episode() -> Statement[Episode | None]:
    """Take an audio without an episode, or one whose copy failed some time ago."""
    return Statement(
        SQL(
            "WITH due AS (SELECT c.id FROM site_feed f JOIN site_run r ON r.site_id = f.site_id"
            " JOIN site_change c ON c.run_id = r.id LEFT JOIN site_episode e ON e.change_id = c.id"
            " WHERE f.token IS NOT NULL AND c.field = 'audio' AND c.state = 'written'"
            " AND c.about ->> 'is_public' = 'true' AND (e.id IS NULL"
            " OR e.audio_bytes IS NULL AND e.created_at < now() - %(again)s) ORDER BY c.id LIMIT 1),"
            " claimed AS (INSERT INTO site_episode AS o (id, change_id) SELECT %(id)s, id FROM due"
            " ON CONFLICT (change_id) DO UPDATE SET created_at = now() WHERE o.audio_bytes IS NULL"
            " AND o.created_at < now() - %(again)s RETURNING o.*) {}"
        ).format(SQL(EPISODE.replace("site_episode", "claimed"))),
        {"id": uuid4(), "again": AGAIN},
        row_of(Episode),
        repeatable=False,
    )


def note_copied(episode_id: UUID, *, audio_bytes: int | None = None, cover: str | None = None) -> Statement[bool]:
    """Note the size of an episode's copied audio, or the file of its cover; an empty one has expired."""
    return Statement(
        "UPDATE site_episode SET audio_bytes = coalesce(%(bytes)s, audio_bytes), cover = coalesce(%(cover)s, cover)"
        " WHERE id = %(id)s RETURNING id",
        {"id": episode_id, "bytes": audio_bytes, "cover": cover},
        bool,
    )


def list_without_cover() -> Statement[list[Episode]]:
    """Read episodes whose post has got a cover that was not copied."""
    return Statement(
        EPISODE + " AND e.audio_bytes IS NOT NULL AND e.cover IS NULL AND v.proposed IS NOT NULL LIMIT 20",
        {},
        rows_of(Episode),
    )


def spoken_posts() -> Statement[dict[UUID, dict[str, str | None]]]:
    """Return, by site with a podcast, when each post with audio was published; None: not everybody could read it."""
    return Statement(
        "SELECT r.site_id, jsonb_object_agg(c.target, CASE WHEN c.about->>'is_public' = 'true' THEN"
        " coalesce(c.about->>'published_at', '') END) AS posts"
        " FROM site_feed f JOIN site_run r ON r.site_id = f.site_id JOIN site_change c ON c.run_id = r.id"
        " WHERE f.token IS NOT NULL AND c.field = 'audio' AND c.state = 'written' GROUP BY r.site_id",
        {},
        lambda rows: {row["site_id"]: row["posts"] for row in rows},
    )


def note_publication(site_id: UUID, target: str, about: Mapping[str, Any]) -> Statement[int]:
    """Note that a post was published or withdrawn; returns for how many of its audios that is new."""
    return Statement(
        "UPDATE site_change c SET about = c.about || %(about)s FROM site_run r WHERE r.id = c.run_id"
        " AND r.site_id = %(site)s AND c.target = %(target)s AND c.field = 'audio'"
        " AND c.about->'is_public' IS DISTINCT FROM %(about)s::jsonb->'is_public' RETURNING c.id",
        {"site": site_id, "target": target, "about": Jsonb(dict(about))},
        len,
    )


def forget_ended() -> Statement[list[UUID]]:
    """Delete the rows of episodes that were undone, or whose feed has ended; returns their ids."""
    return Statement(
        "DELETE FROM site_episode e USING site_change c, site_run r LEFT JOIN site_feed f ON f.site_id = r.site_id"
        " WHERE c.id = e.change_id AND r.id = c.run_id AND (c.state <> 'written' OR f.token IS NULL) RETURNING e.id",
        {},
        lambda rows: [row["id"] for row in rows],
    )


def known_episodes() -> Statement[set[str]]:
    """Return the ids of all episodes."""
    return Statement("SELECT id::text FROM site_episode", {}, lambda rows: {row["id"] for row in rows})


def _find_feed(column: str, value: Any) -> Statement[Feed | None]:
    return Statement(
        SQL("SELECT {} FROM site_feed WHERE {} = %(value)s AND token IS NOT NULL").format(FEED, columns([column])),
        {"value": value},
        row_of(Feed),
    )
