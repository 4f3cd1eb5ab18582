"""Plan: reads a manuscript, and returns its chapters, omissions and price, before anything is spoken."""

from collections.abc import Mapping, Sequence
from copy import copy
from datetime import timedelta
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field

from capabilities.speech.kinds.fields import LanguageCode, speech_credits
from pipeline.downloads.addresses import Reach
from pipeline.downloads.targets import Refused, read_target, shown
from pipeline.errors import InvalidRequest
from pipeline.kind import UPLOADED, Answer, FinishedItem, Kind, Limits, NewItem, Request, Response, Stored
from pipeline.lifecycle.jobs import Job
from pipeline.offers.offers import Offers
from pipeline.settings import Settings

#: Characters that a natural voice speaks in a second, measured on English prose.
CHARACTERS_PER_SECOND = 15
MAX_FILE_BYTES = 100 * 2**20
EXAMPLE_URL = "https://www.example.com/manuscript.md"


#: Parts of a manuscript that are read only if they are asked for.
Extra = Literal["footnotes", "tables", "code", "page_numbers", "pictures"]


class ManuscriptMissing(InvalidRequest):
    """The request names no manuscript, or several."""

    code = "manuscript_missing"
    field = "manuscript"
    message = "Send one manuscript: a form's file, the upload of a large one, or the url of an article."


def _listed(value: Any) -> Any:
    return [one.strip() for one in value.split(",") if one.strip()] if isinstance(value, str) else value


class PlanRequest(Request):
    """A manuscript."""

    url: str | None = Field(
        None, max_length=2_000, description="Address of an article, whose menus are not read, or of a manuscript."
    )
    upload: UUID | None = Field(None, description="A complete upload of POST /uploads, of up to 100 MB.")
    read: Annotated[list[Extra], BeforeValidator(_listed)] = Field(
        [], description="Further parts to read: footnotes, tables, code, page_numbers, pictures (their alt texts)."
    )
    language: LanguageCode | None = Field(None, description="Language of the book. Default: found in its text.")
    name: str = Field("", max_length=200, description="The file's name, where a form does not tell it.")


class PlannedChapter(Stored):
    """A chapter as it will be read; `opening` is its first words, `warning` why it can't be read well."""

    title: str
    characters: int
    language: str
    opening: str
    warning: str | None = None


class ReadManuscript(Stored):
    """A manuscript that was read; `artifact` has the texts of its chapters, as a JSON list."""

    title: str
    author: str
    chapters: tuple[PlannedChapter, ...]
    left_out: dict[str, int]
    artifact: str
    cover: str | None = None


class ShownChapter(PlannedChapter):
    """A chapter of a plan."""

    number: int
    seconds: int = Field(description="How long it will last, about.")
    warning: str | None  # always there


class BookPlan(BaseModel):
    """A manuscript's chapters, what is left out of them, and what an audiobook of it costs."""

    plan: str = Field(description="Send it to POST /audiobooks.")
    title: str
    author: str
    has_cover: bool
    chapters: list[ShownChapter]
    left_out: dict[str, int] = Field(description="Counts of tables, code, footnotes and pictures that are not read.")
    characters: int
    seconds: int
    credits: int


class Plan(Kind[PlanRequest, PlanRequest, ReadManuscript]):
    """POST /audiobooks/plan."""

    name = "audiobook_plan"
    queue = "synthesis"
    routes = ("/audiobooks/plan",)
    handler = "capabilities.audiobooks.handlers.plan:PlanHandler"
    unit = "manuscripts"
    summary = "Read a manuscript (EPUB, DOCX, HTML, Markdown, text, a URL): its chapters, length and price. Free."
    uploads = MappingProxyType({"manuscript": "url"})
    resumable = "upload"
    larger_files = "Send it to POST /uploads, and its id as upload: up to 100 MB."
    example: ClassVar[Mapping[str, str]] = {"url": EXAMPLE_URL}
    answer = Answer(model=BookPlan)
    limits = Limits(run=timedelta(minutes=5), keep_for=timedelta(days=7))
    reach: Reach | None = None

    def configured(self, settings: Settings) -> "Plan":
        configured = copy(self)
        configured.reach = Reach(settings.fetch.allow_networks)
        return configured

    def check(self, request: PlanRequest, offers: Offers) -> None:
        """Refuse a request without a manuscript, and an address that is never asked. Raises InvalidRequest."""
        if (request.upload is None) == (request.url is None):
            raise ManuscriptMissing
        if request.url is None or request.url.startswith(UPLOADED) or self.reach is None:
            return
        try:
            read_target(request.url, self.reach)
        except Refused as refused:
            raise InvalidRequest(
                f"{shown(request.url)} can't be fetched: {refused.why}. Use a URL that anybody can open.",
                code="manuscript_url_refused",
                field="url",
            ) from None

    def items(self, request: PlanRequest) -> list[NewItem[PlanRequest]]:
        """Return the manuscript as one item, free of charge."""
        return [NewItem(request, 0)]

    def response(self, job: Job, items: Sequence[FinishedItem[PlanRequest, ReadManuscript]]) -> Response:
        """Return the plan."""
        found = items[0].delivered
        characters = sum(chapter.characters for chapter in found.chapters)
        shown: dict[str, Any] = {
            "plan": str(job.id),
            "title": found.title,
            "author": found.author,
            "has_cover": found.cover is not None,
            "chapters": [
                {"number": number, "seconds": chapter.characters // CHARACTERS_PER_SECOND, **chapter.model_dump()}
                for number, chapter in enumerate(found.chapters, start=1)
            ],
            "left_out": found.left_out,
            "characters": characters,
            "seconds": characters // CHARACTERS_PER_SECOND,
            "credits": speech_credits(characters),
        }
        return Response(BookPlan.model_validate(shown).model_dump())
