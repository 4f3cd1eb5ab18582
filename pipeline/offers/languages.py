"""Languages: their codes and tags, in the one form that everything here uses, and which of them an engine has."""

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from pipeline.errors import InvalidRequest
from pipeline.offers.offers import Offers

#: As BCP 47 writes tags; underscores, which many programs send instead of hyphens, are taken too.
WELL_FORMED = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
MAX_TAG = 35

_CODES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en"
    " eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv"
    " ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne"
    " ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st"
    " su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu haw yue"
)
#: ISO 639-1, and the languages of Whisper that have a code in ISO 639-3 alone.
CODES = frozenset(_CODES.split())

#: Former codes of languages, and codes of varieties, with the code that is used here.
SAME_AS = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "nb": "no", "mo": "ro", "fil": "tl", "cmn": "zh"}


def read_language(tag: str) -> str | None:
    """Return the code of a language tag such as `en`, `EN` or `en-US`; None for what is not a language."""
    code = tag.strip().replace("_", "-").partition("-")[0].lower()
    code = SAME_AS.get(code, code)
    return code if code in CODES else None


def base_language(tag: str) -> str:
    """Return the language of a well-formed tag, without region or script: pt of pt-BR."""
    return read_language(tag) or re.split("[-_]", tag, maxsplit=1)[0].lower()


def is_tag(text: str) -> bool:
    """Return whether a text is a well-formed tag, of whatever language."""
    return len(text) <= MAX_TAG and WELL_FORMED.fullmatch(text) is not None


def check_tag(tag: str) -> str:
    """Return a well-formed tag as it is. Raises PydanticCustomError, which names the request's field."""
    if not is_tag(tag):
        raise PydanticCustomError("language_invalid", "Input should be a language code such as en, es or pt-BR")
    return tag


#: A request's field that may name any language, whether an engine knows it or not.
LanguageTag = Annotated[
    str,
    AfterValidator(check_tag),
    Field(json_schema_extra={"pattern": f"^{WELL_FORMED.pattern}$", "maxLength": MAX_TAG}),
]


class LanguageNotSupported(InvalidRequest):
    """The language exists, but no engine here knows it."""

    code = "language_not_supported"

    def __init__(self, fault: str, known: Iterable[str], *, remedy: str | None = None) -> None:
        names = list(dict.fromkeys(known))
        which = "one of " if len(names) > 1 else ""
        super().__init__(" ".join(filter(None, (fault, remedy, f"Send {which}{', '.join(names)}."))), field="language")


def offered_languages(offers: Offers, family: str) -> list[str]:
    """Return the languages of a family's engines that are ready; none before any pool has published its offers."""
    ready = [offer for offer in offers.of(family) if offer.ready]
    return list(dict.fromkeys(code for offer in ready for code in offer.content.get("languages", ())))
