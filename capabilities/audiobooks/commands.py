"""`pressroom audiobook`, over the HTTP API."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from capabilities.audiobooks.kinds.book_file import FORMS, BookFormat, Loudness
from pipeline.errors import InvalidRequest
from scripts.commands import SERVICE, under
from scripts.options import Data, Language, ServiceUrl
from scripts.service import ask_service
from scripts.terminal import progress_bar, show_table, tell

if TYPE_CHECKING:
    from rich.progress import TaskID

    from pressroom import Pressroom
    from pressroom.documents.books import BookPlan, PlannedChapter


def audiobook(
    manuscript: Annotated[
        str, typer.Argument(help="A file (EPUB, DOCX, HTML, Markdown, text), or the URL of an article.")
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The file. Default: beside the manuscript.")] = None,
    form: Annotated[
        BookFormat, typer.Option("--format", help="m4b; mp3, a zip with one per chapter; epub; vtt.")
    ] = "m4b",
    voice: Annotated[str | None, typer.Option(help="A voice, by id or name.")] = None,
    language: Language = None,
    only: Annotated[str | None, typer.Option(metavar="1-3,7", help="Chapters of the plan. Default: all.")] = None,
    read: Annotated[
        str | None,
        typer.Option(metavar="tables,…", help="Read also footnotes, tables, code, page_numbers, pictures."),
    ] = None,
    cast: Annotated[
        list[str] | None, typer.Option(metavar="EMMA=VOICE", help="A speaker's voice, for each speaker.")
    ] = None,
    dialogue: Annotated[
        bool, typer.Option("--dialogue", help="Give the cast its quotations, as in “…,” said Emma.")
    ] = False,
    speed: Annotated[float, typer.Option(min=0.25, max=4.0, help="Speaking rate.")] = 1.0,
    cover: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="A picture. Default: its own.")
    ] = None,
    loudness: Annotated[Loudness, typer.Option(help="podcast: -16 LUFS; acx: -19, as ACX asks.")] = "podcast",
    reuse: Annotated[str | None, typer.Option(help="An earlier audiobook's job: equal passages come from it.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask before paying.")] = False,
    url: ServiceUrl = None,
    data: Data = None,
) -> None:
    """Make an audiobook of a manuscript. Shows chapters and price first; after Ctrl-C, run it again to go on."""
    is_url = manuscript.startswith(("http://", "https://"))
    name = (urlsplit(manuscript).path.rstrip("/").rpartition("/")[2].strip(".") or "article") if is_url else manuscript
    target = out or Path(name).with_suffix(FORMS[form][1])
    if target.exists():
        raise InvalidRequest(f"{target} is there already. Remove it, or name another file with --out.")
    if not is_url and not Path(manuscript).is_file():
        raise InvalidRequest(f"{manuscript} is neither a file nor a URL.")
    wanted = None if only is None else read_numbers(only)
    voices = read_cast(cast or ())
    # A book may take longer than the service remembers a repeated request.
    begun = Path(f"{target}.job")
    with ask_service(url, data) as client:
        if begun.exists():
            job_id = begun.read_text().strip()
            tell(f"The audiobook {job_id} goes on. To begin another, remove {begun}.")
            _finish(client, begun, form=form, loudness=loudness, cover=cover, to=target)
            return
        content = manuscript.encode() if is_url else Path(manuscript).read_bytes()
        reads = [one.strip() for one in (read or "").split(",") if one.strip()]
        plan = _planned(client, manuscript, content, language, reads, is_url=is_url)
        chosen = [chapter for chapter in plan.chapters if wanted is None or chapter.number in wanted]
        _show(plan, chosen)
        if not (yes or typer.confirm("Make it?", default=True)):
            raise typer.Exit(1)
        fields: dict[str, Any] = {"only": wanted, "language": language, "voice_name": voice, "reuse": reuse}
        fields = {name: value for name, value in fields.items() if value is not None}
        if voices:
            fields["cast"] = voices
        if dialogue:
            fields["dialogue"] = True
        if speed != 1.0:
            fields["speed"] = speed
        # The same command finds the job that it began; an article may have changed.
        hashed = hashlib.sha256(repr((content, sorted(fields.items()))).encode()).hexdigest()
        key = None if is_url else f"book-{hashed[:40]}"
        begun.write_text(client.make_audiobook(plan.plan, idempotency_key=key, more=fields).id)
        _finish(client, begun, form=form, loudness=loudness, cover=cover, to=target)


def _finish(
    client: "Pressroom", begun: Path, *, form: BookFormat, loudness: Loudness, cover: Path | None, to: Path
) -> None:
    """Wait for the audiobook that the file `begun` names, and make its file; then `begun` is removed."""
    job_id = begun.read_text().strip()
    _spoken(client, job_id, begun)
    client.audiobook_file(job_id, form=form, loudness=loudness, cover=cover, to=to)
    begun.unlink()
    tell(f"{to}: audiobook {job_id}", style="green")


def read_numbers(text: str) -> list[int]:
    """Return the numbers of a list such as 1-3,7. Raises InvalidRequest."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            raise InvalidRequest(f"{text!r} is not a list of chapters: write 1-3,7.")
        found += range(int(first), int(last or first) + 1)
    return found


def read_cast(entries: Sequence[str]) -> dict[str, str]:
    """Return voices by speaker, of entries such as Emma=Heart. Raises InvalidRequest."""
    voices: dict[str, str] = {}
    for entry in entries:
        speaker, _, voice = (part.strip() for part in entry.partition("="))
        if not speaker or not voice:
            raise InvalidRequest(f"{entry!r} names no speaker and voice: write Emma=Heart.")
        voices[speaker] = voice
    return voices


def _planned(
    client: "Pressroom",
    manuscript: str,
    content: bytes,
    language: str | None,
    reads: Sequence[Any],
    *,
    is_url: bool,
) -> "BookPlan":
    """Return the manuscript's plan; the same file has the same plan for a day, as its audiobook needs."""
    if is_url:
        return client.plan_audiobook(url=manuscript, language=language, read=reads)
    hashed = hashlib.sha256(content + repr((manuscript, language, reads)).encode()).hexdigest()
    return client.plan_audiobook(
        manuscript, name=Path(manuscript).name, language=language, read=reads, idempotency_key=f"plan-{hashed[:40]}"
    )


def _show(plan: "BookPlan", chosen: Sequence["PlannedChapter"]) -> None:
    rows = [(one.number, one.title or "–", f"{one.characters:,}", one.warning or "") for one in chosen]
    show_table(plan.title or "Chapters", ["number", "title", "characters", "warning"], rows)
    for name, count in plan.left_out.items():
        tell(f"left out: {count:,} {name.replace('_', ' ')}")
    characters = sum(one.characters for one in chosen)
    minutes = sum(one.seconds for one in chosen) / 60
    tell(f"{characters:,} characters, about {minutes:,.0f} minutes, about {max(1, -(-characters // 1_000)):,} credits")


def _spoken(client: "Pressroom", job_id: str, begun: Path) -> None:
    """Wait until the passages are spoken, with a bar for each chapter; Ctrl-C leaves the job as it is."""
    lines: dict[int, TaskID] = {}
    with progress_bar(transient=True) as bar:

        def show(_: object) -> None:
            for one in client.audiobook(job_id).chapters:
                if one.number not in lines and one.spoken:
                    lines[one.number] = bar.add_task(one.title[:40] or f"chapter {one.number}", total=one.passages)
                if one.number in lines:
                    bar.update(lines[one.number], completed=one.spoken, visible=one.spoken < one.passages)

        try:
            job = client.wait(job_id, progress=show)
        except KeyboardInterrupt:
            tell(f"The audiobook {job_id} goes on. Run the command again to wait for it, or cancel the job.")
            raise typer.Exit(130) from None
    if job.state != "succeeded":
        begun.unlink()
        client.result(job_id)  # raises why, if nothing was spoken
        raise InvalidRequest(f"The audiobook is {job.state}. Run the command again with --reuse {job_id}.")


register = under(SERVICE, audiobook)
