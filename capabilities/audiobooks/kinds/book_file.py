"""Book file: joins the passages of an audiobook into one file."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import ClassVar, Literal

from pydantic import Field

from pipeline.kind import Answer, FinishedItem, Kind, Limits, NewItem, Origin, Request, Response, Stored
from pipeline.lifecycle.jobs import Job

BookFormat = Literal["m4b", "mp3"]
#: The content type and the ending of each.
FORMS: Mapping[BookFormat, tuple[str, str]] = {"m4b": ("audio/mp4", ".m4b"), "mp3": ("application/zip", ".zip")}


class BookFileRequest(Request):
    """The form of an audiobook's file."""

    format: BookFormat = Field("m4b", description="m4b: one file with chapters; mp3: a zip with an MP3 a chapter.")


class BookPart(Stored):
    """A chapter: its title, and its passages' artifacts."""

    title: str
    sounds: tuple[str, ...]


class BookFileInput(BookFileRequest, Stored):
    """The parts of a file, as they were when it was asked for."""

    title: str = ""
    author: str = ""
    parts: tuple[BookPart, ...] = ()
    engine: str = ""


class MadeBook(Stored):
    """A finished file; `loudness` has each chapter's in LUFS."""

    artifact: str
    seconds: float
    loudness: tuple[float, ...] = ()


class BookFile(Kind[BookFileRequest, BookFileInput, MadeBook]):
    """POST /audiobooks/{job_id}/files."""

    name = "audiobook_file"
    queue = "synthesis"
    routes: ClassVar[tuple[str, ...]] = ()  # its route has an audiobook in its path
    handler = "capabilities.audiobooks.handlers.book_file:BookFileHandler"
    unit = "chapters"
    summary = "Join an audiobook into one M4B with chapters, or a zip with an MP3 a chapter. Free."
    example: ClassVar[Mapping[str, str]] = {"format": "m4b"}
    origins: ClassVar[Mapping[str, Origin]] = {"": "synthetic"}
    answer = Answer("audio/mp4", alternatives=("application/zip",))
    limits = Limits(run=timedelta(hours=4))

    def items(self, request: BookFileRequest) -> list[NewItem[BookFileInput]]:
        """Return the file as one item, free of charge; the route adds its parts."""
        return [NewItem(BookFileInput.model_validate(request.model_dump(exclude_unset=True)), 0)]

    def response(self, job: Job, items: Sequence[FinishedItem[BookFileInput, MadeBook]]) -> Response:
        """Return the file."""
        made = items[0].delivered
        content_type, ending = next(form for form in FORMS.values() if made.artifact.endswith(form[1]))
        return Response(
            artifacts=[made.artifact],
            content_type=content_type,
            headers={"Content-Disposition": f"attachment; filename=audiobook{ending}"},
        )
