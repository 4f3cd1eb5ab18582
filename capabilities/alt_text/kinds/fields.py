"""Fields: the common parts of kinds that describe pictures: input, output, languages and price."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from pipeline.downloads.images import ImageTooLarge, ImageUrlInvalid
from pipeline.kind import UPLOADED, Limits, Origin, Request, Stored
from pipeline.offers.languages import LanguageNotSupported, LanguageTag, base_language

#: Credits of one picture, whatever texts are asked of it (docs/api.md, Limits).
CREDITS = 1
#: The lane of all pictures, those of batches too: a model takes them together.
LANE = "alt_text"
HANDLER = "capabilities.alt_text.handlers.alt_text:AltTextHandler"
#: The pictures of the examples in the documents; the demo serves its own in their place.
EXAMPLE_URL = "https://www.example.com/images/banner.png"
EXAMPLE_PHOTO = "https://www.example.com/images/coffee.jpg"

#: `basic` only quotes what stands in a picture, and names its colours.
ORIGINS: Mapping[str, Origin] = {"basic": "extracted", "": "synthetic"}
#: A language model without a GPU takes a minute a picture, and three batches of eight wait for each other.
PICTURE_LIMITS = Limits(run=timedelta(minutes=30), slice_size=8)

#: Most keywords, and most characters of each, of a page's title and of the text around a picture.
MAX_KEYWORDS, MAX_KEYWORD, MAX_TITLE, MAX_CONTEXT = 6, 60, 300, 2_000

MAX_NAME = 200
#: The path of the thumbnail in an item's output.
SHOWN_BY = ("thumbnail",)

Mode = Literal["short", "long", "seo"]
#: The texts that `all` stands for; alt_text is the first.
MODES: tuple[Mode, ...] = ("short", "long", "seo")

ImageUrl = Annotated[
    str,
    StringConstraints(min_length=1),
    Field(description="Where the picture is: http or https, at most 20 MB; or a data: URL of 10 MB."),
]
Language = Annotated[LanguageTag, Field(description="Language of the text; a region such as that of pt-BR is ignored.")]


def modes_of(mode: str) -> tuple[Mode, ...]:
    """Return the texts that a mode asks for, that of alt_text first."""
    return MODES if mode == "all" else tuple(known for known in MODES if known == mode)


@dataclass(frozen=True, slots=True)
class Caption:
    """A text about a picture; `confidence` is in 0..1 (docs/alt-text.md, Confidence).

    `draft`: the engine found neither a subject nor a title nor a note, so it is free of charge."""

    text: str
    confidence: float
    draft: bool = False
    #: An ornament, whose alt text is empty; only said where it was allowed.
    decorative: bool = False


@dataclass(frozen=True, slots=True)
class Hints:
    """The caller's hints: texts that may name what the picture shows, and whether it may be an ornament."""

    keywords: tuple[str, ...] = ()
    page_title: str = ""
    context: str = ""
    allow_decorative: bool = False


def _as_list(value: object) -> object:
    """Return the keywords of a form, which are one text with commas, as a list."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


NO_HINTS = Hints()


class Hinted(Request):
    """The fields of what the caller knows of a picture."""

    keywords: Annotated[list[Annotated[str, Field(max_length=MAX_KEYWORD)]], BeforeValidator(_as_list)] = Field(
        default_factory=list, max_length=MAX_KEYWORDS, description="To be used where they say what is seen."
    )
    page_title: str = Field("", max_length=MAX_TITLE, description="The title of the page that shows the picture.")
    context: str = Field(
        "", max_length=MAX_CONTEXT, description="Text around it; names of products, places, people may come from it."
    )
    allow_decorative: bool = Field(
        False, description="An ornament is answered with decorative: true and an empty alt_text."
    )

    def hints(self) -> Hints:
        return Hints(
            tuple(keyword.strip() for keyword in self.keywords if keyword.strip()),
            self.page_title.strip(),
            self.context.strip(),
            self.allow_decorative,
        )


class PictureInput(Stored):
    """A picture to be described, with the texts and the language that are wanted."""

    image_url: str
    mode: Literal["short", "long", "seo", "all"]
    #: ISO 639-1; of a tag such as pt-BR its language remains.
    language: Annotated[str, AfterValidator(base_language)]
    hints: Hints | None = None
    name: str = ""


class PictureTexts(Stored):
    """The texts of a picture by mode, and the engine that wrote them."""

    texts: dict[Mode, Caption]
    language: str
    engine: str
    #: With a draft: how to get a text that describes the picture.
    advice: str | None = None
    #: The artifact of a small picture of it, for lists.
    thumbnail: str | None = None

    @property
    def main(self) -> Caption:
        """Return the text that `alt_text` shows: the shortest mode that was asked for."""
        return next(self.texts[mode] for mode in MODES if mode in self.texts)


def require_language(language: str, known: Sequence[str]) -> None:
    """Refuse a language that is not among those known. Raises LanguageNotSupported."""
    if base_language(language) not in known:
        raise LanguageNotSupported(f"Alt text can't be written in {language[:40]!a} here.", known)


MAX_DATA_BYTES = 10_000_000
#: RFC 2397, of which base64 alone is taken.
DATA_URL = re.compile(r"data:(?:image/[\w.+-]{1,40})?(?:;[\w.=+-]{1,60}){0,3};base64,", re.IGNORECASE)


def is_inline(url: str) -> bool:
    return url.startswith(UPLOADED) or url[:5].lower() == "data:"


def check_inline(url: str) -> None:
    """Refuse a `data:` URL that is too large or of another form. Raises ImageUrlInvalid, ImageTooLarge."""
    if url.startswith(UPLOADED):
        return
    found = DATA_URL.match(url)
    if found is None or found.end() == len(url):
        raise ImageUrlInvalid("image_url is not a picture: send data:image/png;base64,…", field="image_url")
    if (size := (len(url) - found.end()) * 3 // 4) > MAX_DATA_BYTES + 2:
        raise ImageTooLarge(
            f"The picture in image_url has about {size:,} bytes; a data URL may hold {MAX_DATA_BYTES:,}. "
            "Send it as the file `image` of a form, or its URL."
        )


def read_data_url(url: str) -> bytes:
    """Return the bytes of a `data:` URL. Raises ImageUrlInvalid, ImageTooLarge."""
    check_inline(url)
    try:
        return base64.b64decode(url.partition(",")[2], validate=True)
    except (binascii.Error, ValueError) as error:
        raise ImageUrlInvalid(f"The data URL in image_url is not base64: {error}.", field="image_url") from error
