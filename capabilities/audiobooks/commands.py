"""`pressroom audiobook`, over the HTTP API."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from capabilities.audiobooks.kinds.book_file import BookFormat
from pipeline.errors import InvalidRequest
from scripts.commands import SERVICE, under
from scripts.options import Data, Language, ServiceUrl
from scripts.service import ask_service
from scripts.terminal import progress_bar, show_table, tell

if TYPE_CHECKING:
    from pressroom import Pressroom

PLAN, BOOK = "/audiobooks/plan", "/audiobooks"


def audiobook(
    manuscript: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="EPUB, DOCX, HTML, Markdown or text.")
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The file. Default: beside the manuscript.")] = None,
    form: Annotated[BookFormat, typer.Option("--format", help="m4b, or mp3: a zip with one a chapter.")] = "m4b",
    voice: Annotated[str | None, typer.Option(help="A voice, by id or name.")] = None,
    language: Language = None,
    only: Annotated[str | None, typer.Option(metavar="1-3,7", help="Chapters of the plan. Default: all.")] = None,
    speed: Annotated[float, typer.Option(min=0.25, max=4.0, help="Speaking rate.")] = 1.0,
    reuse: Annotated[str | None, typer.Option(help="An earlier audiobook's job: equal passages come from it.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask before it is paid for.")] = False,
    url: ServiceUrl = None,
    data: Data = None,
) -> None:
    """Make an audiobook of a manuscript. Shows chapters and price first; after Ctrl-C, run it again to go on."""
    target = out or manuscript.with_suffix(".m4b" if form == "m4b" else ".zip")
    if target.exists():
        raise InvalidRequest(f"{target} is there already. Remove it, or name another file with --out.")
    wanted = None if only is None else read_numbers(only)
    with ask_service(url, data) as client:
        content = manuscript.read_bytes()
        plan = _planned(client, manuscript, content, language)
        chosen = [chapter for chapter in plan["chapters"] if wanted is None or chapter["number"] in wanted]
        _show(plan, chosen)
        if not (yes or typer.confirm("Make it?", default=True)):
            raise typer.Exit(1)
        fields: dict[str, Any] = {"only": wanted, "language": language, "voice_name": voice, "reuse": reuse}
        fields = {name: value for name, value in fields.items() if value is not None}
        if speed != 1.0:
            fields["speed"] = speed
        # The same command finds the job that it began.
        key = hashlib.sha256(repr((content, sorted(fields.items()))).encode()).hexdigest()
        job = client.submit(BOOK, {"plan": plan["plan"], **fields}, idempotency_key=f"book-{key[:40]}")
        job_id = _spoken(client, job.id)
        made = client.submit(f"{BOOK}/{job_id}/files", {"format": form})
        client.wait(made.id)
        client.result(made.id, to=target)
    tell(f"{target}: audiobook {job_id}", style="green")


def read_numbers(text: str) -> list[int]:
    """Return the numbers of a list such as 1-3,7. Raises InvalidRequest."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            raise InvalidRequest(f"{text!r} is no list of chapters: write 1-3,7.")
        found += range(int(first), int(last or first) + 1)
    return found


def _planned(client: "Pressroom", manuscript: Path, content: bytes, language: str | None) -> dict[str, Any]:
    """Return the manuscript's plan; the same file has the same plan for a day, as its audiobook needs."""
    key = hashlib.sha256(content + manuscript.name.encode() + (language or "").encode()).hexdigest()
    fields = {"language": language} if language else {}
    job = client.submit(PLAN, fields, {"manuscript": manuscript}, idempotency_key=f"plan-{key[:40]}")
    client.wait(job.id)
    found: dict[str, Any] = client.result(job.id).json
    return found


def _show(plan: dict[str, Any], chosen: list[dict[str, Any]]) -> None:
    rows = [(one["number"], one["title"] or "–", f"{one['characters']:,}", one["warning"] or "") for one in chosen]
    show_table(plan["title"] or "Chapters", ["number", "title", "characters", "warning"], rows)
    for name, count in plan["left_out"].items():
        tell(f"left out: {count:,} {name}")
    characters = sum(one["characters"] for one in chosen)
    minutes = sum(one["seconds"] for one in chosen) / 60
    tell(f"{characters:,} characters, about {minutes:,.0f} minutes, about {max(1, -(-characters // 1_000)):,} credits")


def _spoken(client: "Pressroom", job_id: str) -> str:
    """Wait until the passages are spoken; Ctrl-C leaves the job as it is."""
    with progress_bar(transient=True) as bar:
        line = bar.add_task("speaking", total=1)
        try:
            job = client.wait(
                job_id,
                progress=lambda job: bar.update(line, completed=job.progress.done, total=job.progress.total),
            )
        except KeyboardInterrupt:
            tell(f"The audiobook {job_id} goes on. Run the command again to wait for it, or cancel the job.")
            raise typer.Exit(130) from None
    if job.state != "succeeded":
        client.result(job_id)  # raises why, if nothing was spoken
        raise InvalidRequest(f"The audiobook is {job.state}. Run the command again with --reuse {job_id}.")
    return job_id


register = under(SERVICE, audiobook)
