"""Posts: alt text for pictures; covers, excerpt, category and tags for blog posts."""

from dataclasses import field
from datetime import datetime

from pressroom.documents import Document


class AltText(Document):
    """The alt text of a picture."""

    alt_text: str
    confidence: float
    credits_used: int
    language: str
    engine: str
    origin: str | None = None  #: synthetic, composed or extracted
    draft: bool | None = None
    decorative: bool | None = None
    advice: str | None = None


class BatchAltText(Document):
    """The alt text of one picture of a batch; `code` and `message` say why there is none."""

    image_url: str
    alt_text: str | None
    short_alt_text: str | None = None
    long_alt_text: str | None = None
    seo_alt_text: str | None = None
    generated_at: datetime
    confidence: float | None = None
    language: str | None = None
    engine: str | None = None
    credits_used: int
    draft: bool | None = None
    decorative: bool | None = None
    advice: str | None = None
    origin: str | None = None  #: synthetic, composed or extracted
    name: str | None = None  #: as it was sent
    error: str | None = None
    message: str | None = None
    code: str | None = None


class Cover(Document):
    """A picture for a post; its link works until `expires_at`."""

    url: str
    style: str
    description: str
    content_type: str
    width: int
    height: int
    expires_at: datetime
    origin: str | None = None  #: synthetic or composed


class BlogPost(Document):
    """The metadata and covers of a post."""

    images: list[Cover]
    excerpt: str
    category: str
    category_confidence: float | None = None
    tags: list[str]
    language: str
    engine: str
    credits_used: int
    origin: str | None = None  #: synthetic, composed or extracted
    warnings: list[str] = field(default_factory=list)
    image_note: str | None = None
    generated_at: datetime
