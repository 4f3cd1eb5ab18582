"""Blog metadata: a post's pictures, excerpt, category and tags, from its title and, if there is one, its content."""

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from pipeline.errors import InvalidRequest
from pipeline.jobs import Item, Job
from pipeline.kind import FileLink, Kind, Part, Request, Response
from pipeline.languages import LanguageTag
from pipeline.offers import Offers
from pipeline.sources import Source

#: Credits of one post (docs/api.md, Limits).
CREDITS = 3
#: Pictures that are always attempted; each that is missing gives a credit back, and the text keeps one.
PICTURES = 3
#: Longest title and content, in Unicode code points.
MAX_TITLE = 1_000
MAX_CONTENT = 500_000
#: Room for both in any script: a character outside the BMP, escaped as many programs do, has 12 bytes.
MAX_BODY_BYTES = 8 * 2**20

#: Unicode's general categories of letters, numbers, punctuation and symbols.
VISIBLE = "LNPS"

Style = Literal["realistic", "illustration", "abstract", "minimalist", "photographic"]


class TitleEmpty(InvalidRequest):
    """The title has no word to make anything of."""

    code = "title_empty"


class BlogMetadataRequest(Request):
    """The post, and how its pictures are to look."""

    title: str = Field(min_length=1, max_length=MAX_TITLE, description="The post's title; everything is based on it.")
    content: str | None = Field(
        None,
        max_length=MAX_CONTENT,
        description="The post as text, Markdown or HTML: it makes everything more to the point.",
    )
    image_style: Style = Field("realistic", description="One that can't be made here gives the nearest, and a warning.")
    language: LanguageTag = Field("en", description="Language code of the post: en, pt-BR, zh-Hant.")
    source: Source | None = Field(None, description="Where the request comes from.")


class BlogPicture(BaseModel):
    """A picture; its URL needs no key, and is good until `expires_at`."""

    url: str = Field(description="Temporary: copy the file to keep it.")
    style: Style = Field(description="The style that it has, which may be the nearest to what was asked for.")
    description: str = Field(description="What it shows; alt text.")
    content_type: str
    width: int
    height: int
    expires_at: str


class BlogMetadataResult(BaseModel):
    """What the post needs beside its words."""

    images: list[BlogPicture]
    excerpt: str
    category: str
    tags: list[str]
    language: str
    engine: str = Field(description="Who wrote, who painted, and who looked at generated pictures: llm+diffusion+vlm.")
    credits_used: int
    warnings: list[str] = Field(description="What is not as it was asked for, and why.")
    generated_at: str


class BlogMetadata(Kind[BlogMetadataRequest]):
    """POST /blog/generate."""

    name = "blog_metadata"
    queue = "vision"
    routes = ("/blog/generate",)
    handler = "workers.handlers.blog.blog:BlogHandler"
    unit = "parts"
    summary = "Make up to three pictures, an excerpt, a category and tags for a blog post."
    example: ClassVar[dict[str, Any]] = {
        "title": "How to Grow Tomatoes on a Small Balcony",
        "content": (
            "Tomatoes need sun, water and a pot that is deep enough. Choose a cherry variety, which forgives more. "
            "Water the plants in the morning, and feed them every second week once they flower."
        ),
        "image_style": "illustration",
    }
    bulky: ClassVar[frozenset[str]] = frozenset({"content"})
    #: Three pictures by a diffusion model without a GPU.
    run_limit = timedelta(minutes=30)
    max_body_bytes = MAX_BODY_BYTES
    answer = BlogMetadataResult
    request = BlogMetadataRequest

    def check(self, request: BlogMetadataRequest, offers: Offers) -> None:
        """Refuse a title that shows nothing: of white space, or of signs that nobody sees."""
        if not any(unicodedata.category(sign)[0] in VISIBLE for sign in request.title):
            raise TitleEmpty("The title is empty. Send at least one word.", field="title")

    def parts(self, request: BlogMetadataRequest) -> list[Part]:
        """Return the whole post as one item."""
        return [Part(request.model_dump(exclude_unset=True), CREDITS)]

    def response(self, job: Job, items: Sequence[Item]) -> Response:
        """Return the texts, and links to the pictures."""
        stored = {**(items[0].output or {}), "credits_used": items[0].captured, "engine": job.engine}
        images = [_in_order(BlogPicture, {**image, "url": _link(image)}) for image in stored["images"]]
        return Response(_in_order(BlogMetadataResult, {**stored, "images": images}))


def _link(image: Mapping[str, Any]) -> FileLink:
    return FileLink(image["artifact"], datetime.fromisoformat(image["expires_at"]))


def _in_order(model: type[BaseModel], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a model has of what is stored; JSONB keeps no order."""
    return {name: stored[name] for name in model.model_fields}
