"""Alt text batch: up to a hundred pictures are described in one request; one that can't be described fails alone."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from capabilities.alt_text.kinds.fields import (
    CREDITS,
    EXAMPLE_PHOTO,
    EXAMPLE_URL,
    HANDLER,
    LANE,
    MAX_NAME,
    ORIGINS,
    PICTURE_LIMITS,
    SHOWN_BY,
    Hinted,
    ImageUrl,
    Language,
    PictureInput,
    PictureTexts,
    modes_of,
)
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.errors import InvalidRequest
from pipeline.kind import Answer, FinishedItem, Kind, ManyFiles, NewItem, Origin, Request, Response, Source
from pipeline.lifecycle.jobs import Job
from pipeline.offers.offers import Offers
from pipeline.settings import Settings
from pipeline.timestamps import Timestamp, timestamp

#: Images of one request, unless the operator says otherwise.
MAX_IMAGES = 100


class BatchImage(Hinted):
    """One picture, and what texts of it."""

    image_url: ImageUrl
    name: str = Field(
        "", max_length=MAX_NAME, description="Your name for it, such as its file's; the answer repeats it."
    )
    mode: Literal["short", "long", "seo", "all"] = Field("short", description="all: the three texts, for one credit.")
    language: Language = "en"
    source: Source | None = Field(None, description="Where the picture comes from.")


class AltTextBatchRequest(Request):
    """The pictures."""

    images: list[BatchImage] = Field(min_length=1, description=f"Up to {MAX_IMAGES}, each with at least image_url.")

    @property
    def source(self) -> Source | None:
        sources = {image.source for image in self.images}
        return sources.pop() if len(sources) == 1 else None


class BatchResult(BaseModel):
    """The result of one picture, with the texts that were asked for."""

    alt_text: str | None = Field(description="The text of the mode that was asked for; null: there is none, see error.")
    short_alt_text: str | None = None
    long_alt_text: str | None = None
    seo_alt_text: str | None = None
    image_url: str
    name: str | None = None
    generated_at: Timestamp
    confidence: float | None = None
    language: str | None = None
    engine: str | None = None
    origin: Origin | None = None
    credits_used: int
    draft: bool | None = None
    decorative: bool | None = None
    advice: str | None = None
    error: str | None = None
    message: str | None = None
    code: str | None = None


class AltTextBatchResult(BaseModel):
    """The results, in the order of the request."""

    results: list[BatchResult]
    total: int
    successful: int
    failed: int


class AltTextBatch(Kind[AltTextBatchRequest, PictureInput, PictureTexts]):
    """POST /batch."""

    name = "alt_text_batch"
    queue = "vision"
    routes = ("/batch",)
    handler = HANDLER
    unit = "images"
    summary = "Describe up to 100 pictures, by URL or as files; one that can't be described fails alone, free."
    example = {
        "images": [
            {"image_url": EXAMPLE_URL, "mode": "all", "language": "en"},
            {"image_url": EXAMPLE_PHOTO, "mode": "long", "language": "es"},
        ]
    }
    many_files = ManyFiles("image", "images", "image_url", BatchImage)
    bulky = frozenset({"images"})
    subject = "image_url"
    shown_by = SHOWN_BY
    lanes = (LANE,)
    answer = Answer(model=AltTextBatchResult, shows_inputs=True, without_success=True)
    limits = PICTURE_LIMITS
    origins = ORIGINS

    def __init__(self, max_images: int = MAX_IMAGES) -> None:
        self._max_images = max_images

    def configured(self, settings: Settings) -> "AltTextBatch":
        return AltTextBatch(settings.of(CaptioningSettings).max_images)

    def check(self, request: AltTextBatchRequest, offers: Offers) -> None:
        """Refuse too many pictures; any other fault fails only the picture that has it."""
        count = len(request.images)
        if count > self._max_images:
            message = (
                f"The request has {count:,} images; /batch takes at most {self._max_images:,}. Send them in parts."
            )
            raise InvalidRequest(message, code="too_many_images", field="images")

    def counts_as(self, request: AltTextBatchRequest) -> int:
        """Return how many pictures there are (docs/api.md, Limits)."""
        return len(request.images)

    def counts_again(self, items: int) -> int:
        return items

    def items(self, request: AltTextBatchRequest) -> list[NewItem[PictureInput]]:
        return [
            NewItem(
                PictureInput(
                    image_url=image.image_url,
                    mode=image.mode,
                    language=image.language,
                    hints=image.hints(),
                    **({"name": image.name} if image.name else {}),
                ),
                CREDITS,
                lane=LANE,
            )
            for image in request.images
        ]

    def response(self, job: Job, items: Sequence[FinishedItem[PictureInput, PictureTexts]]) -> Response:
        done = sum(item.output is not None for item in items)
        return Response(
            {
                "results": [_result(item) for item in items],
                "total": len(items),
                "successful": done,
                "failed": len(items) - done,
            }
        )


def _result(item: FinishedItem[PictureInput, PictureTexts]) -> dict[str, Any]:
    named = {"name": item.given.name} if item.given.name else {}
    told: dict[str, Any] = {"image_url": item.given.image_url, **named, "generated_at": timestamp(item.ended_at)}
    output = item.output
    if output is None:
        reason = {name: item.error[name] for name in ("error", "message", "code") if name in item.error}
        return {"alt_text": None, **told, "credits_used": item.credits, **reason}
    modes = modes_of(item.given.mode)
    main = output.main
    return {
        "alt_text": main.text,
        **{f"{mode}_alt_text": output.texts[mode].text for mode in modes},
        **told,
        "confidence": main.confidence,
        "language": output.language,
        "engine": output.engine,
        "origin": AltTextBatch.origin(output.engine),
        "credits_used": item.credits,
        **({"decorative": True} if main.decorative else {}),
        **({"draft": True, "advice": output.advice} if main.draft else {}),
    }
