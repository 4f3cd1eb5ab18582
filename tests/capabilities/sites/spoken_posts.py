"""Posts that were given audio, as the rows of their runs say it, without a site that they stand on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from capabilities.sites import runs, sites
from capabilities.sites.changes import NewChange, Proposal, add_changes, list_changes, note_outcome, propose
from capabilities.sites.connectors.connector import SiteFacts
from pipeline.database import Database, Transaction

FACTS = SiteFacts(title="Harbour & News", language="en", abilities=("alt_text", "content", "upload"))


@dataclass(frozen=True)
class SpokenPost:
    """A post's site and run, and its audio's change."""

    site_id: UUID
    run_id: UUID
    change_id: int


def add_spoken_post(
    database: Database, account_id: UUID, *, artifact: str, sentences: Sequence[Any], target: str = "posts/7",
    title: str = "The regatta", url: str = "", cover: str | None = None, headings: Sequence[str] = (),
    is_public: bool = True,
) -> SpokenPost:  # fmt: skip
    """Add a post with audio, an excerpt and perhaps a cover, in a run of its own that nothing works on."""
    about = {
        "page": title,
        "page_url": f"https://harbour.example/{target}",
        "published_at": "2026-05-04T10:00:00+00:00",
        "is_public": is_public,
    }
    made: dict[str, tuple[Any, Any]] = {
        "excerpt": ("Boats race <fast>.", "Boats race <fast>."),
        "audio": (
            {"artifact": artifact, "seconds": 3, "voice": "Heart", "language": "en", "sentences": sentences},
            {"made": "media/9", "url": url, "block": "", "headings": headings},
        ),
    }
    if cover:
        made["cover"] = ({"artifact": cover, "alt_text": "Waves", "content_type": "image/jpeg"}, {"made": "media/8"})
    with database.transaction() as rows:
        site_id = add_site(rows, account_id)
        run, _ = rows.run(runs.start_run(site_id, "posts", {"parts": ["excerpt", "cover", "audio"]}))
        rows.run(add_changes(run.id, [NewChange(target, field, about, None) for field in made]))
        changes = {one.field: one.id for one in rows.run(list_changes(run.id))}
        rows.run(propose([Proposal(changes[field], proposed) for field, (proposed, _) in made.items()]))
        for field, (_, written) in made.items():
            rows.run(note_outcome(changes[field], "written", written=written))
        rows.run(runs.move(run.id, of=["finding"], to="done"))
    return SpokenPost(site_id, run.id, changes["audio"])


def add_review(database: Database, account_id: UUID, *names: str) -> UUID:
    """Add a run with a proposal for each picture, which waits for a person; returns its id."""
    with database.transaction() as rows:
        run, _ = rows.run(runs.start_run(add_site(rows, account_id), "alt_text", {}))
        about = {"url": "https://harbour.example/boat.jpg", "page": "The regatta"}
        rows.run(
            add_changes(
                run.id,
                [NewChange(f"media/{n}", "alt_text", {**about, "name": one}, "", f"A boat called {one}")
                 for n, one in enumerate(names)],
            )
        )  # fmt: skip
        rows.run(runs.move(run.id, of=["finding"], to="review"))
    return run.id


def add_site(rows: Transaction, account_id: UUID) -> UUID:
    """Add the site of all these posts, which nobody can ask."""
    saved = sites.save_site(account_id, "harbour", "wordpress", "https://harbour.example", b"x", FACTS)
    site_id = rows.run(saved)
    assert site_id is not None
    return site_id
