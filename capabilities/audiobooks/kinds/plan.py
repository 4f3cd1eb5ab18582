"""Plan: reads a manuscript, and tells its chapters, what is left out, and the price, before anything is spoken."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from pydantic import BaseModel, Field

from capabilities.speech.kinds.fields import LanguageCode, speech_credits
from pipeline.kind import Answer, FinishedItem, Kind, Limits, NewItem, Request, Response, Stored
from pipeline.lifecycle.jobs import Job

#: Characters that a natural voice speaks in a second, measured on English prose.
CHARACTERS_PER_SECOND = 15
MAX_FILE_BYTES = 100 * 2**20


class PlanRequest(Request):
    """A manuscript."""

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


class ShownChapter(BaseModel):
    """A chapter of a plan."""

    number: int
    title: str
    characters: int
    seconds: int = Field(description="How long it will last, about.")
    language: str
    opening: str
    warning: str | None


class BookPlan(BaseModel):
    """A manuscript's chapters, what is left out of them, and what an audiobook of it costs."""

    plan: str = Field(description="Send it to POST /audiobooks.")
    title: str
    author: str
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
    summary = "Read a manuscript (EPUB, DOCX, HTML, Markdown, text) and show chapters, length and price. Free."
    files = ("manuscript",)
    example = {"manuscript": "@manuscript"}
    answer = Answer(model=BookPlan)
    limits = Limits(run=timedelta(minutes=5), keep_for=timedelta(days=7))

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
