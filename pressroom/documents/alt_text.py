"""Alt text: pictures in words."""

from datetime import datetime

from pressroom.documents.document import Document


class AltText(Document):
    """What stands for a picture."""

    alt_text: str
    confidence: float
    credits_used: int
    language: str
    engine: str
    draft: bool | None = None
    decorative: bool | None = None
    advice: str | None = None


class BatchAltText(Document):
    """What stands for one picture of several; `code` and `message` say why there is none."""

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
    error: str | None = None
    message: str | None = None
    code: str | None = None
