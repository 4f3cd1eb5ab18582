"""`pressroom site alt-text` and `undo`: begin a run, review it in a table, and follow it to its end."""

import sys
import time
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

import click
import typer

from capabilities.sites import runs
from capabilities.sites.changes import Change, accept_confident, count_changes, list_changes, review
from capabilities.sites.commands.connecting import Name, find_site
from capabilities.sites.commands.group import group
from capabilities.sites.proposals import edited, shown
from capabilities.sites.runs import Run, Task
from capabilities.sites.working.finding import NEEDED
from pipeline.database import Database
from pipeline.errors import InvalidRequest, NotFound
from scripts.options import Data, Language, open_database
from scripts.terminal import progress_bar, show_table, tell

#: Seconds between two looks at a run.
LOOK = 0.3
ENDED = ("review", "done", "undone")
#: Proposals that are read at once to be shown.
MOST = 10_000
EDITING = """# Each line is a picture: its number, a tab, and its text. Change the texts as you like.
# Delete a line to leave its picture as it is. An empty file changes nothing.
"""
COLUMNS = ("number", "picture", "on", "text", "confidence", "note")
#: The states that a person can decide about.
OPEN = ("proposed", "failed")


class Part(StrEnum):
    """The parts that a post can be given."""

    EXCERPT = "excerpt"
    TAGS = "tags"
    CATEGORIES = "categories"
    COVER = "cover"
    AUDIO = "audio"


@group.command("alt-text")
def alt_text(
    name: Name,
    language: Language = None,
    mode: Annotated[Literal["short", "long", "seo"], typer.Option(help="Which text.")] = "short",
    yes: Annotated[
        bool, typer.Option("--yes", help="Write texts that an engine is sure of, without asking; no draft.")
    ] = False,
    at_least: Annotated[float, typer.Option(min=0, max=1, help="With --yes: the least confidence.")] = 0.7,
    again: Annotated[bool, typer.Option("--again", help="Skip texts that wait for review, and look again.")] = False,
    data: Data = None,
) -> None:
    """Propose alt texts for pictures without one, let you review them, and write them. Repeated, it goes on."""
    options: dict[str, Any] = {"mode": mode, "at_least": at_least if yes else None}
    if language:
        options["language"] = language
    with open_database(data) as database:
        _carry_out(database, name, "alt_text", options, again=again)


@group.command()
def posts(
    name: Name,
    part: Annotated[
        list[Part], typer.Option(help="A part that posts get if they lack it; may be given several times.")
    ],
    post: Annotated[list[str] | None, typer.Option(help="Only this post, by its address; also a draft.")] = None,
    language: Language = None,
    voice: Annotated[str | None, typer.Option(help="The voice for audio, from `pressroom voices`.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking; no draft.")] = False,
    at_least: Annotated[float, typer.Option(min=0, max=1, help="With --yes: the least confidence.")] = 0.7,
    again: Annotated[bool, typer.Option("--again", help="Skip texts that wait for review, and look again.")] = False,
    data: Data = None,
) -> None:
    """Propose excerpts, tags, categories, covers or audio for posts, let you review them, and write them."""
    options: dict[str, Any] = {"parts": part, "posts": post or [], "at_least": at_least if yes else None}
    options |= {field: value for field, value in (("language", language), ("voice_name", voice)) if value}
    with open_database(data) as database:
        _carry_out(database, name, "posts", options, again=again)


@group.command()
def undo(name: Name, data: Data = None) -> None:
    """Restore the site's texts from before the last run; later edits of others stay."""
    with open_database(data) as database:
        site = find_site(database, name)
        run = database.run(runs.begin_undo(site.id))
        if run is None:
            raise NotFound(f"Nothing was written to {site.name} that could be undone.")
        _report(database, _follow(database, run))


def _carry_out(database: Database, name: str, task: Task, options: dict[str, Any], *, again: bool) -> None:
    site = find_site(database, name)
    lacking = [one for one in map(NEEDED.get, options.get("parts", ())) if one not in site.known.abilities]
    if lacking or not site.known.abilities:
        wanted = ", ".join(map(str, lacking)) or "anything"
        raise InvalidRequest(f"{site.name} can't be given {wanted} by its user. `pressroom site list` shows what can.")
    run, is_new = database.run(runs.start_run(site.id, task, options))
    if again and not is_new:
        database.run(runs.skip_rest(run.id))
        run, is_new = database.run(runs.start_run(site.id, task, options))
    if not is_new:
        tell("This goes on with a run that was begun before. --again begins anew.")
    run = _follow(database, run)
    if run.state == "review" and (bound := options["at_least"]) is not None:
        database.run(accept_confident(run.id, bound))
        run = _follow(database, _write(database, run))
    elif run.state == "review":
        run = _review(database, run)
    _report(database, run)


def _review(database: Database, run: Run) -> Run:
    """Show what is proposed, and do what a person says; returns the run as it is then."""
    changes = database.run(list_changes(run.id, states=OPEN, limit=MOST))
    show_table("Proposed", COLUMNS, [_row(one) for one in changes])
    if not sys.stdin.isatty():
        tell("Nothing was written. Run it at a terminal, with --yes, or review it in the dashboard under Sites.")
        return run
    answer = typer.prompt("Write all (a), edit first (e), or leave it for later (l)", default="l", err=True).strip()
    if answer == "a":
        decisions = {one.id: one.proposed for one in changes if one.proposed and not one.draft}
    elif answer == "e":
        written = click.edit(EDITING + "".join(f"{one.id}\t{shown(one.proposed)}\n" for one in changes))
        decisions = read_decisions(written or "", changes)
    else:
        return run
    database.run(review(run.id, decisions))
    return _follow(database, _write(database, run))


def read_decisions(listed: str, changes: Sequence[Change]) -> dict[int, Any]:
    """Return the texts of an edited list by number; None for a picture that was left out. Raises InvalidRequest."""
    lines = [line for line in listed.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        return {}
    known = {one.id: one for one in changes}
    decisions: dict[int, Any] = dict.fromkeys(known)
    for line in lines:
        number, tab, text = line.partition("\t")
        if not tab or not number.strip().isdecimal() or int(number) not in decisions:
            raise InvalidRequest(f"{line[:60]!r} is no line of the list: number, tab, text. Nothing was written.")
        change = known[int(number)]
        decisions[int(number)] = edited(text.strip(), change.proposed, change.field)
    return decisions


def _write(database: Database, run: Run) -> Run:
    database.run(runs.move(run.id, of=["review"], to="writing"))
    return database.run(runs.read_run(run.id)) or run


def _follow(database: Database, run: Run) -> Run:
    """Wait until a run needs a person, has ended or stopped; Ctrl-C leaves it to the system, which goes on."""
    with progress_bar(transient=True) as bar:
        line = bar.add_task(run.state, total=1)
        while run.state not in ENDED and run.fault is None:
            counts = database.run(count_changes(run.id))
            left = {"proposing": ("found",), "undoing": ("written", "writing")}.get(run.state, ("accepted", "writing"))
            total = sum(counts.values())
            bar.update(line, description=run.state, total=total or 1,
                       completed=total - sum(counts.get(state, 0) for state in left))  # fmt: skip
            time.sleep(LOOK)
            run = database.run(runs.read_run(run.id)) or run
    return run


def _report(database: Database, run: Run) -> None:
    """Tell what became of a run; exit code 1 if it stopped."""
    counts = database.run(count_changes(run.id))
    for one in database.run(list_changes(run.id, states=("conflict", "gone", "failed"), limit=MOST)):
        tell(f"{one.about.get('name') or one.target}: {one.note}")
    if run.fault is not None:
        tell(f"Stopped: {run.fault} Repeat the command to go on.")
    typer.echo(" ".join([run.state, *(f"{state}={number}" for state, number in sorted(counts.items()))]))
    if run.fault is not None:
        raise typer.Exit(1)


def _row(one: Change) -> tuple[Any, ...]:
    sure = "" if one.confidence is None else f"{one.confidence:.2f}{' (draft)' if one.draft else ''}"
    about = one.about
    return (one.id, about.get("name") or one.field, about.get("page", ""), shown(one.proposed), sure, one.note)
