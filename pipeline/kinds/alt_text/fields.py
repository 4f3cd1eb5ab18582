"""Captioning: what the kinds that describe pictures have in common: fields, languages and price."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from pipeline.images import ImageUrlInvalid
from pipeline.jobs import Item
from pipeline.languages import LanguageNotSupported, LanguageTag, base_language, offered_languages
from pipeline.offers import Offers
from pipeline.urls import fault_of

FAMILY = "captioning"
#: Credits of one picture, whatever texts are asked of it (docs/api.md, Limits).
CREDITS = 1
#: The kind that all pictures are claimed as, those of batches too.
CLAIMED_AS = "alt_text"
HANDLER = "workers.handlers.alt_text.alt_text:AltTextHandler"
#: The picture of the examples in the documents; the demo serves one of its own in its place.
EXAMPLE_URL = "https://www.example.com/images/banner.png"

Mode = Literal["short", "long", "seo"]
#: The texts that `all` stands for; alt_text is the first.
MODES: tuple[Mode, ...] = ("short", "long", "seo")

ImageUrl = Annotated[
    str, StringConstraints(min_length=1), Field(description="Where the picture is: http or https, at most 20 MB.")
]
Language = Annotated[LanguageTag, Field(description="Language of the text; a region such as that of pt-BR is ignored.")]


def modes_of(mode: str) -> tuple[Mode, ...]:
    """Return the texts that a mode asks for, that of alt_text first."""
    return MODES if mode == "all" else tuple(known for known in MODES if known == mode)


def image_input(image_url: str, mode: str, language: str) -> dict[str, Any]:
    """Return what a worker needs to know of a picture."""
    return {"image_url": image_url, "mode": mode, "language": base_language(language)}


def check_image_url(image_url: str) -> None:
    """Refuse what can't be the URL of a picture before a job is made of it. Raises ImageUrlInvalid.

    Where it leads to is looked at by the worker, who goes there."""
    if fault := fault_of(image_url.strip().replace(" ", "%20")):
        raise ImageUrlInvalid(f"image_url can't be fetched: {fault}.", field="image_url")


def check_language(language: str, offers: Offers) -> None:
    """Refuse a language that no engine writes, where that is known. Raises LanguageNotSupported."""
    # Before any pool has spoken up, its word is waited for.
    if known := offered_languages(offers, FAMILY):
        require_language(language, known)


def require_language(language: str, known: Sequence[str]) -> None:
    """Refuse a language that is not among those known. Raises LanguageNotSupported."""
    if base_language(language) not in known:
        raise LanguageNotSupported(f"Alt text can't be written in {language[:40]!a} here.", known)


def texts_of(item: Item) -> dict[str, dict[str, Any]]:
    """Return the texts that a picture was given, by mode, each with its confidence."""
    texts: dict[str, dict[str, Any]] = (item.output or {})["texts"]
    return texts
