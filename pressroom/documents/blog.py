"""Blog posts: covers, excerpt, category and tags."""

from datetime import datetime

from pydantic import Field

from pressroom.documents.document import Document


class Cover(Document):
    """A picture for a post; its link is good until `expires_at`."""

    url: str
    style: str
    description: str
    content_type: str
    width: int
    height: int
    expires_at: datetime


class BlogPost(Document):
    """What a post needs beside its words."""

    images: list[Cover]
    excerpt: str
    category: str
    category_confidence: float | None = None
    tags: list[str]
    language: str
    engine: str
    credits_used: int
    warnings: list[str] = Field(default_factory=list)
    image_note: str | None = None
    generated_at: datetime
