"""Blog metadata: pictures, excerpt, category and tags for a post, from its title and content."""

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, Field

from pipeline.errors import InvalidRequest
from pipeline.kind import (
    NOT_BLANK,
    Answer,
    FileLink,
    FinishedItem,
    Kind,
    Limits,
    NewItem,
    Origin,
    Request,
    Response,
    Source,
    Stored,
)
from pipeline.lifecycle.jobs import Job
from pipeline.offers.languages import LanguageTag
from pipeline.offers.offers import Offers
from pipeline.timestamps import Timestamp

#: Credits of one post (docs/api.md, Limits).
CREDITS = 3
#: Pictures of a post. Each missing one returns a credit; the last credit pays for the text.
PICTURES = 3
#: Longest title and content, in Unicode code points.
MAX_TITLE = 1_000
MAX_CONTENT = 500_000
#: Room for both in any script: an escaped character outside the BMP has 12 bytes.
MAX_BODY_BYTES = 8 * 2**20

#: Unicode's general categories of letters, numbers, punctuation and symbols.
VISIBLE = "LNPS"

Style = Literal["realistic", "illustration", "abstract", "minimalist", "photographic"]
DEFAULT_STYLE: Style = "realistic"


class BlogMetadataRequest(Request):
    """The post, and the style of its pictures."""

    title: str = Field(min_length=1, max_length=MAX_TITLE, json_schema_extra=NOT_BLANK, description="The post's title.")
    content: str | None = Field(
        None,
        max_length=MAX_CONTENT,
        description="The post as text, Markdown or HTML. Improves every part of the answer.",
    )
    image_style: Style = Field(
        DEFAULT_STYLE, description="If it can't be made here, you get the nearest one, and image_note says so."
    )
    image_title: bool = Field(
        True, description="Show the title on drawn pictures; set false where your theme shows it."
    )
    language: LanguageTag | None = Field(
        None, description="Such as en, pt-BR or zh-Hant; by default en, unless the post evidently is in another."
    )
    source: Source | None = Field(None, description="Where the request comes from.")


class StoredPicture(Stored):
    """A picture, by the key of its artifact."""

    artifact: str
    style: Style
    description: str
    content_type: str
    width: int
    height: int
    expires_at: str
    #: None in results that older releases stored.
    origin: Origin | None = None


class BlogMetadataOutput(Stored):
    """The texts and pictures of a post."""

    images: list[StoredPicture]
    excerpt: str
    category: str
    #: None in results that older releases stored.
    category_confidence: float | None = None
    tags: list[str]
    language: str
    warnings: list[str]
    generated_at: str
    image_note: str | None = None


class BlogPicture(BaseModel):
    """A picture; its URL needs no key, and works until `expires_at`."""

    url: str = Field(description="Temporary: copy the file to keep it.")
    style: Style = Field(description="Its style, which may be the nearest to the requested one.")
    description: str = Field(description="Alt text.")
    content_type: str
    width: int
    height: int
    expires_at: Timestamp
    origin: Origin | None = Field(description="synthetic: a model painted it; composed: rules drew it.")


class BlogMetadataResult(BaseModel):
    """A post's pictures, excerpt, category and tags."""

    images: list[BlogPicture]
    excerpt: str
    category: str
    category_confidence: float | None = Field(
        description="From 0 to 1. Below 0.5, ask a person: the post suggests no category, or several."
    )
    tags: list[str]
    language: str = Field(description="The language sent, or the detected one.")
    engine: str = Field(description="The engines that wrote, painted and described: llama+diffusion+vlm.")
    origin: Origin | None = Field(description="synthetic: a model wrote or painted a part; composed: rules alone did.")
    credits_used: int
    warnings: list[str] = Field(description="Differences from the request, and their reasons.")
    image_note: str | None = Field(
        None, description="A note on all pictures: that they are drawn, where no model makes photographs."
    )
    generated_at: Timestamp


class BlogMetadata(Kind[BlogMetadataRequest, BlogMetadataRequest, BlogMetadataOutput]):
    """POST /blog/generate."""

    name = "blog_metadata"
    queue = "vision"
    routes = ("/blog/generate",)
    handler = "capabilities.blog.handlers.blog:BlogHandler"
    unit = "parts"
    summary = "Make up to three pictures, an excerpt, a category and tags for a blog post."
    example = {
        "title": "How to Grow Tomatoes on a Small Balcony",
        "content": (
            "Tomatoes need sun, water and a pot that is deep enough. Choose a cherry variety, which forgives more. "
            "Water the plants in the morning, and feed them every second week once they flower."
        ),
        "image_style": "illustration",
    }
    bulky = frozenset({"content"})
    subject = "title"
    shown_by = ("images", "0", "artifact")
    answer = Answer(model=BlogMetadataResult)
    origins = MappingProxyType({"extractive": "extracted", "drawn": "composed", "": "synthetic"})
    #: A diffusion model without a GPU takes half an hour for three pictures.
    limits = Limits(run=timedelta(minutes=30), body_bytes=MAX_BODY_BYTES)

    def check(self, request: BlogMetadataRequest, offers: Offers) -> None:
        if not any(unicodedata.category(sign)[0] in VISIBLE for sign in request.title):
            raise InvalidRequest("The title is empty. Send at least one word.", code="title_empty", field="title")

    def items(self, request: BlogMetadataRequest) -> list[NewItem[BlogMetadataRequest]]:
        return [NewItem(request, CREDITS)]

    def response(self, job: Job, items: Sequence[FinishedItem[BlogMetadataRequest, BlogMetadataOutput]]) -> Response:
        made = items[0].delivered
        images = [_in_order(BlogPicture, {**dict(image), "url": _link(image)}) for image in made.images]
        shown = {**dict(made), "images": images, "credits_used": items[0].credits, "engine": job.engine}
        shown["origin"] = self.origin(job.engine)
        return Response(_in_order(BlogMetadataResult, shown))


def _link(image: StoredPicture) -> FileLink:
    return FileLink(image.artifact, datetime.fromisoformat(image.expires_at))


def _in_order(model: type[BaseModel], fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: fields[name] for name in model.model_fields}
