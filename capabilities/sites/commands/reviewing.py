"""`pressroom site alt-text` and `undo`: begin a run, review it in a table, and follow it to its end."""

import sys
import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import click
import typer

from capabilities.sites import runs
from capabilities.sites.changes import Change, accept_confident, count_changes, list_changes, review
from capabilities.sites.commands.connecting import Name, find_site
from capabilities.sites.commands.group import group
from capabilities.sites.parts import AT_LEAST, Part, check_parts, edited, shown
from capabilities.sites.runs import Run, Task
from pipeline.database import Database
from pipeline.errors import InvalidRequest, NotFound
from scripts.options import Data, Language, open_database
from scripts.terminal import progress_bar, show_table, tell

#: Seconds between two looks at a run.
LOOK = 0.3
ENDED = ("review", "done", "undone")
#: Proposals that are read at once to be shown.
MOST = 10_000
EDITING = """# Each line is a proposal: number, tab, text. Edit the texts.
# Delete a line to skip it. Empty the file to write nothing.
"""
COLUMNS = ("number", "item", "post", "text", "confidence", "note")
#: The states that a person can decide about.
OPEN = ("proposed", "failed")

Yes = Annotated[bool, typer.Option("--yes", help="Write confident proposals without asking; drafts wait for review.")]
AtLeast = Annotated[float, typer.Option(min=0, max=1, help="With --yes: the least confidence.")]
Again = Annotated[bool, typer.Option("--again", help="Skip proposals that wait for review, and start anew.")]


@group.command("alt-text")
def alt_text(
    name: Name,
    language: Language = None,
    mode: Annotated[Literal["short", "long", "seo"], typer.Option(help="The kind of text.")] = "short",
    yes: Yes = False,
    at_least: AtLeast = AT_LEAST,
    again: Again = False,
    data: Data = None,
) -> None:
    """Propose alt texts for pictures without one, review and write them. Repeat the command to continue a run."""
    options: dict[str, Any] = {"mode": mode, "at_least": at_least if yes else None}
    if language:
        options["language"] = language
    with open_database(data) as database:
        _carry_out(database, name, "alt_text", options, again=again)


@group.command()
def posts(
    name: Name,
    part: Annotated[list[Part], typer.Option(help="Add this part to posts that lack it. Repeat it for several.")],
    post: Annotated[
        list[str] | None,
        typer.Option(help="Only the post with this address, which may be a draft. Repeat it for several."),
    ] = None,
    language: Language = None,
    voice: Annotated[str | None, typer.Option(help="The voice for audio, from `pressroom voices`.")] = None,
    yes: Yes = False,
    at_least: AtLeast = AT_LEAST,
    again: Again = False,
    data: Data = None,
) -> None:
    """Propose excerpts, tags, categories, covers or audio for posts, review and write them."""
    options: dict[str, Any] = {"parts": part, "posts": post or [], "at_least": at_least if yes else None}
    options |= {field: value for field, value in (("language", language), ("voice_name", voice)) if value}
    with open_database(data) as database:
        _carry_out(database, name, "posts", options, again=again)


@group.command()
def undo(name: Name, data: Data = None) -> None:
    """Undo the last run on a site. Edits made since stay."""
    with open_database(data) as database:
        site = find_site(database, name)
        run = database.run(runs.begin_undo(site.id))
        if run is None:
            raise NotFound(f"Nothing was written to {site.name}, so there is nothing to undo.")
        _report(database, _follow(database, run))


def _carry_out(database: Database, name: str, task: Task, options: dict[str, Any], *, again: bool) -> None:
    site = find_site(database, name)
    check_parts(site, options.get("parts", ()), alt_text=task == "alt_text")
    run, is_new = database.run(runs.start_run(site.id, task, options))
    if again and not is_new:
        database.run(runs.skip_rest(run.id))
        run, is_new = database.run(runs.start_run(site.id, task, options))
    if not is_new:
        tell("This continues a run from before; --again starts a new one.")
    run = _follow(database, run)
    if run.state == "review" and (bound := options["at_least"]) is not None:
        database.run(accept_confident(run.id, bound))
        run = _follow(database, _write(database, run))
    elif run.state == "review":
        run = _review(database, run)
    _report(database, run)


def _review(database: Database, run: Run) -> Run:
    """Show the proposals, and carry out the person's choice; return the run as it is then."""
    changes = database.run(list_changes(run.id, states=OPEN, limit=MOST))
    show_table("Proposed", COLUMNS, [_row(one) for one in changes])
    if not sys.stdin.isatty():
        tell("Nothing was written. Review it in the dashboard under Sites, or run this in a terminal or with --yes.")
        return run
    answer = typer.prompt("Write all (a), edit first (e), or decide later (l)", default="l", err=True).strip()
    if answer == "a":
        decisions = {one.id: one.proposed for one in changes if one.proposed and not one.draft}
    elif answer == "e":
        written = click.edit(EDITING + "".join(map(editable, changes)))
        decisions = read_decisions(written or "", changes)
    else:
        return run
    database.run(review(run.id, decisions))
    return _follow(database, _write(database, run))


def editable(one: Change) -> str:
    """Return a proposal as a line of the list that a person edits."""
    return f"{one.id}\t{' '.join(shown(one.proposed).split())}\n"


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
            raise InvalidRequest(f"{line[:60]!r} is not a line with number, tab and text. Nothing was written.")
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
    """Print a run's outcome; exit code 1 if it stopped."""
    counts = database.run(count_changes(run.id))
    for one in database.run(list_changes(run.id, states=("conflict", "gone", "failed"), limit=MOST)):
        tell(f"{one.about.get('name') or one.target}: {one.note}")
    if run.fault is not None:
        tell(f"Stopped: {run.fault} Repeat the command to continue.")
    typer.echo(" ".join([run.state, *(f"{state}={number}" for state, number in sorted(counts.items()))]))
    if run.fault is not None:
        raise typer.Exit(1)


def _row(one: Change) -> tuple[Any, ...]:
    sure = "" if one.confidence is None else f"{one.confidence:.2f}{' (draft)' if one.draft else ''}"
    about = one.about
    return (one.id, about.get("name") or one.field, about.get("page", ""), shown(one.proposed), sure, one.note)
