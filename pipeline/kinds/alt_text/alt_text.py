"""Alt text: a picture behind a URL is described in one text."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from pipeline.jobs import Item, Job
from pipeline.kind import Kind, Part, Request, Response
from pipeline.kinds.alt_text.fields import (
    CREDITS,
    EXAMPLE_URL,
    HANDLER,
    ImageUrl,
    Language,
    Mode,
    check_image_url,
    check_language,
    image_input,
    texts_of,
)
from pipeline.offers import Offers


class AltTextRequest(Request):
    """Which picture, and what text of it."""

    image_url: ImageUrl
    mode: Mode = Field("short", description="short: up to 125 characters; seo: up to 160; long: up to 500.")
    language: Language = "en"


class AltTextResult(BaseModel):
    """The text."""

    alt_text: str
    confidence: float = Field(description="Between 0 and 1; it compares texts of one engine.")
    credits_used: int
    language: str
    engine: str


class AltText(Kind[AltTextRequest]):
    """POST /generate, and /atg/generate for earlier integrations."""

    name = "alt_text"
    queue = "vision"
    routes = ("/generate", "/atg/generate")
    handler = HANDLER
    unit = "images"
    summary = "Describe the picture behind a URL, as alt text."
    example: ClassVar[dict[str, Any]] = {"image_url": EXAMPLE_URL, "mode": "short", "language": "en"}
    slice_size = 8
    #: A language model without a GPU takes a minute a picture, and three batches of eight wait for each other.
    run_limit = timedelta(minutes=30)
    answer = AltTextResult
    request = AltTextRequest

    def check(self, request: AltTextRequest, offers: Offers) -> None:
        """Refuse what is no URL, and a language that no engine writes."""
        check_image_url(request.image_url)
        check_language(request.language, offers)

    def parts(self, request: AltTextRequest) -> list[Part]:
        """Return the picture as one item."""
        return [Part(image_input(request.image_url, request.mode, request.language), CREDITS)]

    def response(self, job: Job, items: Sequence[Item]) -> Response:
        """Return the text."""
        item = items[0]
        output = item.output or {}
        text = texts_of(item)[item.input["mode"]]
        result = AltTextResult(
            alt_text=text["text"],
            confidence=text["confidence"],
            credits_used=item.captured,
            language=output["language"],
            engine=output["engine"],
        )
        return Response(result.model_dump())
