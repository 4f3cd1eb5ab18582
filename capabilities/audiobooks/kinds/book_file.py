"""Book file: joins the passages of an audiobook into one file."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import ClassVar, Literal
from urllib.parse import quote

from pydantic import BaseModel, Field

from pipeline.kind import Answer, FileLink, FinishedItem, Kind, Limits, NewItem, Origin, Request, Response, Stored
from pipeline.lifecycle.jobs import Job

BookFormat = Literal["m4b", "mp3", "epub", "vtt"]
Loudness = Literal["podcast", "acx"]
#: The content type and the ending of each.
FORMS: Mapping[BookFormat, tuple[str, str]] = {
    "m4b": ("audio/mp4", ".m4b"),
    "mp3": ("application/zip", ".zip"),
    "epub": ("application/epub+zip", ".epub"),
    "vtt": ("text/vtt", ".vtt"),
}
#: Signs that a plain header can't carry in a file's name.
UNSAFE = re.compile(r"[^A-Za-z0-9 ._-]")


class BookFileRequest(Request):
    """The form of an audiobook's file."""

    format: BookFormat = Field(
        "m4b",
        description="m4b: one file with chapters; mp3: a zip of one a chapter; epub: its text is highlighted while"
        " it is read; vtt: the text with the times of the M4B.",
    )
    loudness: Loudness = Field(
        "podcast", description="podcast: -16 LUFS, peaks under -1 dB; acx: -19 LUFS, peaks under -3 dB, as ACX asks."
    )
    report: bool = Field(False, description="Answer with JSON: a link to the file, and measurements by chapter.")
    picture: Literal["upload:cover"] | None = Field(
        None, description="Set by a form's file `cover`. Default: the manuscript's cover."
    )


class BookPart(Stored):
    """A chapter: its title, its passages' sounds and texts with their times (artifacts), and who spoke them."""

    title: str
    sounds: tuple[str, ...]
    scripts: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()


class BookFileInput(BookFileRequest, Stored):
    """The parts of a file, as they were when it was asked for."""

    title: str = ""
    author: str = ""
    language: str = ""
    voices: tuple[str, ...] = ()
    cover: str | None = None
    parts: tuple[BookPart, ...] = ()


class MeasuredChapter(Stored):
    """A chapter as it sounds. Decibels are below full scale; `noise_floor_db` is that of its quietest half second."""

    title: str
    seconds: float
    loudness_lufs: float
    peak_db: float
    rms_db: float
    noise_floor_db: float


class MadeBook(Stored):
    """A finished file."""

    artifact: str
    seconds: float
    title: str = ""
    #: For a report.
    chapters: tuple[MeasuredChapter, ...] = ()


class BookReport(BaseModel):
    """A file and its measurements; the link needs no key and works until the job's result expires."""

    url: str
    content_type: str
    seconds: float
    chapters: list[MeasuredChapter]
    acx: bool = Field(description="True if all chapters are within -23 to -18 dB RMS, peaks -3 dB, noise -60 dB.")
    beyond_acx: list[str] = Field(description="Chapters that are not, and why.")


class BookFile(Kind[BookFileRequest, BookFileInput, MadeBook]):
    """POST /audiobooks/{job_id}/files."""

    name = "audiobook_file"
    queue = "synthesis"
    routes: ClassVar[tuple[str, ...]] = ()  # its route has an audiobook in its path
    handler = "capabilities.audiobooks.handlers.book_file:BookFileHandler"
    unit = "chapters"
    summary = "Join an audiobook into an M4B with chapters, MP3s, an EPUB with its sound, or a transcript. Free."
    uploads = MappingProxyType({"cover": "picture"})
    example: ClassVar[Mapping[str, str]] = {"format": "m4b"}
    origins: ClassVar[Mapping[str, Origin]] = {"": "synthetic"}
    answer = Answer("audio/mp4", alternatives=("application/zip", "application/epub+zip", "text/vtt"), model=BookReport)
    limits = Limits(run=timedelta(hours=4), deadline=timedelta(days=1))

    def name_of(self, files: Mapping[str, str]) -> str | None:
        """Return None: a cover's name is not the book's."""
        return None

    def items(self, request: BookFileRequest) -> list[NewItem[BookFileInput]]:
        """Return the file as one item, free of charge; the route adds its parts."""
        return [NewItem(BookFileInput.model_validate(request.model_dump(exclude_unset=True)), 0)]

    def response(self, job: Job, items: Sequence[FinishedItem[BookFileInput, MadeBook]]) -> Response:
        """Return the file, or JSON with a link to it."""
        made = items[0].delivered
        content_type, ending = next(form for form in FORMS.values() if made.artifact.endswith(form[1]))
        if job.request.get("report"):
            beyond = [reason for number, one in enumerate(made.chapters, start=1) for reason in beyond_acx(number, one)]
            report = {
                "url": FileLink(made.artifact, job.expires_at or items[0].ended_at),
                "content_type": content_type,
                "seconds": round(made.seconds, 1),
                "chapters": [chapter.model_dump() for chapter in made.chapters],
                "acx": not beyond,
                "beyond_acx": beyond,
            }
            return Response(report)
        plain = " ".join(UNSAFE.sub(" ", made.title).split()) or "audiobook"
        return Response(
            artifacts=[made.artifact],
            content_type=content_type,
            headers={
                "Content-Disposition": f'attachment; filename="{plain}{ending}"; '
                f"filename*=UTF-8''{quote(' '.join(made.title.split()) or plain, safe='')}{ending}"
            },
        )


def beyond_acx(number: int, chapter: MeasuredChapter) -> Iterator[str]:
    """Yield what keeps a chapter from ACX's limits (ACX Audio Submission Requirements)."""
    for name, value, least, most in (
        ("RMS", chapter.rms_db, -23, -18),
        ("peak", chapter.peak_db, -96, -3),
        ("noise floor", chapter.noise_floor_db, -96, -60),
    ):
        if not least <= value <= most:
            advice = " It is mostly silence: join it with another chapter." if value < least else ""
            yield f"{number} {chapter.title}: {name} of {value} dB, not {least} to {most}.{advice}"
