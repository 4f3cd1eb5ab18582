"""Alt text: a picture behind a URL is described in one text."""

from collections.abc import Sequence
from types import MappingProxyType

from pydantic import BaseModel, Field

from capabilities.alt_text.kinds.fields import (
    CREDITS,
    EXAMPLE_URL,
    HANDLER,
    ORIGINS,
    PICTURE_LIMITS,
    SHOWN_BY,
    Hinted,
    ImageUrl,
    Language,
    Mode,
    PictureInput,
    PictureTexts,
    check_inline,
    is_inline,
    require_language,
)
from pipeline.downloads.images import ImageUrlInvalid
from pipeline.downloads.urls import SCHEME, fault_of
from pipeline.kind import Answer, FinishedItem, Kind, NewItem, Origin, Response
from pipeline.lifecycle.jobs import Job
from pipeline.offers.languages import offered_languages
from pipeline.offers.offers import Offers


class AltTextRequest(Hinted):
    """A picture, and the text that is wanted."""

    image_url: ImageUrl = Field(json_schema_extra={"pattern": rf"{SCHEME}|^[Dd][Aa][Tt][Aa]:"})
    mode: Mode = Field("short", description="short: up to 125 characters; seo: up to 160; long: up to 500.")
    language: Language = "en"


class AltTextResult(BaseModel):
    """The text."""

    alt_text: str
    confidence: float = Field(
        description="Between 0 and 1: how likely the text is right (docs/alt-text.md, Confidence)."
    )
    credits_used: int
    language: str
    engine: str
    origin: Origin | None = Field(description="synthetic: a model wrote it; extracted: read from the picture.")
    draft: bool | None = Field(None, description="True: no engine could describe the picture; a draft is free.")
    decorative: bool | None = Field(None, description="True: an ornament, alt_text is empty; with allow_decorative.")
    advice: str | None = Field(None, description="With a draft: how to get a text that describes the picture.")


class AltText(Kind[AltTextRequest, PictureInput, PictureTexts]):
    """POST /generate, and /atg/generate for earlier integrations."""

    name = "alt_text"
    queue = "vision"
    routes = ("/generate", "/atg/generate")
    handler = HANDLER
    unit = "images"
    summary = "Describe a picture, by URL or as a file."
    uploads = MappingProxyType({"image": "image_url"})
    #: It may be a picture of some megabytes.
    bulky = frozenset({"image_url"})
    subject = "image_url"
    shown_by = SHOWN_BY
    example = {"image_url": EXAMPLE_URL, "mode": "short", "language": "en"}
    answer = Answer(model=AltTextResult)
    limits = PICTURE_LIMITS
    origins = ORIGINS

    def check(self, request: AltTextRequest, offers: Offers) -> None:
        """Refuse invalid URLs and pictures, and a language that no engine writes."""
        if is_inline(request.image_url):
            check_inline(request.image_url)
        # The worker checks the address that it leads to.
        elif fault := fault_of(request.image_url.strip().replace(" ", "%20")):
            raise ImageUrlInvalid(f"image_url can't be fetched: {fault}.", field="image_url")
        # No offers: no pool has published any yet, and the worker decides.
        if known := offered_languages(offers, "captioning"):
            require_language(request.language, known)

    def items(self, request: AltTextRequest) -> list[NewItem[PictureInput]]:
        return [
            NewItem(
                PictureInput(
                    image_url=request.image_url, mode=request.mode, language=request.language, hints=request.hints()
                ),
                CREDITS,
            )
        ]

    def response(self, job: Job, items: Sequence[FinishedItem[PictureInput, PictureTexts]]) -> Response:
        item, output = items[0], items[0].delivered
        text = output.main
        result = AltTextResult(
            alt_text=text.text,
            confidence=text.confidence,
            credits_used=item.credits,
            language=output.language,
            engine=output.engine,
            origin=self.origin(output.engine),
            draft=text.draft or None,
            decorative=text.decorative or None,
            advice=output.advice,
        )
        return Response(result.model_dump(exclude_none=True))
