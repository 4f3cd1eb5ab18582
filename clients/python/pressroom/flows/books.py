"""Books: audiobooks from manuscripts."""

from collections.abc import Mapping, Sequence
from os import SEEK_END
from typing import Any, Literal, Unpack
from uuid import uuid4

from pressroom.documents.books import Audiobook, AudiobookPassage, BookPlan
from pressroom.documents.jobs import Job
from pressroom.exchange import Ask, Flow
from pressroom.files import Upload, open_upload, repeatable
from pressroom.flows.jobs import job
from pressroom.flows.speech import MOST_IN_A_FORM
from pressroom.flows.uploads import upload
from pressroom.options import Options, SubmitOptions, order, work
from pressroom.service import Answer, Service, Target, given


class BookOptions(SubmitOptions, total=False):
    """For the voices of a book (docs/audiobooks.md)."""

    only: Sequence[int] | None  #: numbers of the plan's chapters, by default all
    chapters: Sequence[Mapping[str, Any]] | None  #: title and text of each, in place of a plan
    title: str | None
    author: str | None
    voice: str | None
    language: str | None
    speed: float | None
    cast: Mapping[str, str] | None  #: voices by speaker
    dialogue: bool | None  #: whether the cast speaks its quotations
    lexicon: Sequence[Mapping[str, Any]] | None  #: words of this book
    reuse: str | None  #: an earlier audiobook, whose equal passages are free


def plan_audiobook(
    service: Service,
    manuscript: Upload | None = None,
    *,
    url: str | None = None,
    read: Sequence[Literal["footnotes", "tables", "code", "page_numbers", "pictures"]] | None = None,
    language: str | None = None,
    name: str | None = None,
    **options: Unpack[Options],
) -> Flow[BookPlan]:
    """Read a manuscript of up to 100 MB, or the article at a URL: chapters, length and price. Free."""
    fields: dict[str, Any] = given({"language": language, "name": name, "read": read or None})
    if manuscript is None:
        fields["url"] = url
        return BookPlan.read((yield from work(service, "/audiobooks/plan", fields, options)).json)
    with repeatable(manuscript) as known:
        with open_upload(known) as opened:
            is_large = opened.seek(0, SEEK_END) > MOST_IN_A_FORM
        if is_large:
            fields["upload"] = yield from upload(service, known, name=name)
            answer = yield from work(service, "/audiobooks/plan", fields, options)
        else:
            answer = yield from work(service, "/audiobooks/plan", fields, options, files={"manuscript": known})
    return BookPlan.read(answer.json)


def make_audiobook(service: Service, plan: str | None = None, **options: Unpack[BookOptions]) -> Flow[Job]:
    """Begin an audiobook of a plan, or of chapters; returns its job at once, for `wait` and `audiobook`."""
    answer = yield from service.ask(order("/audiobooks", given({"plan": plan}), options))
    return (yield from job(service, answer.json["job_id"]))


def audiobook(service: Service, job_id: str) -> Flow[Audiobook]:
    """Return how far an audiobook is, chapter by chapter."""
    return Audiobook.read((yield from service.get(f"/audiobooks/{job_id}")).json)


def audiobook_passages(service: Service, job_id: str, chapter: int) -> Flow[list[AudiobookPassage]]:
    """Return the passages of a chapter, with links to those that can be heard already."""
    answer = yield from service.get(f"/audiobooks/{job_id}/chapters/{chapter}")
    return [AudiobookPassage.read(passage) for passage in answer.json["passages"]]


def change_audiobook(service: Service, job_id: str, passages: Mapping[int, str] | None = None) -> Flow[Job]:
    """Begin a new audiobook with other texts for some passages; it also speaks those that the ended one lacks.

    Only what is spoken is charged."""
    changed = [{"number": number, "text": text} for number, text in (passages or {}).items()]
    headers = {"Idempotency-Key": uuid4().hex}  # it may be sent again
    answer = yield from service.ask(
        Ask("PATCH", f"/audiobooks/{job_id}", headers=headers, fields={"passages": changed})
    )
    return (yield from job(service, answer.json["job_id"]))


def audiobook_file(
    service: Service,
    job_id: str,
    *,
    form: Literal["m4b", "mp3", "epub", "vtt"] = "m4b",
    loudness: Literal["podcast", "acx"] = "podcast",
    cover: Upload | None = None,
    to: Target = None,
    **options: Unpack[Options],
) -> Flow[Answer]:
    """Join a spoken audiobook into one file; returns its bytes as `content`, or writes them to `to`."""
    fields = {"format": form, "loudness": loudness}
    files = None if cover is None else {"cover": cover}
    return (yield from work(service, f"/audiobooks/{job_id}/files", fields, options, files=files, to=to))
