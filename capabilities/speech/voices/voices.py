"""Voices: what can speak, in which languages, and which one a request gets."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt

from pipeline.errors import InvalidRequest
from pipeline.offers.languages import base_language

Gender = Literal["MALE", "FEMALE", "NEUTRAL"]
#: Whether a voice sounds like a person, or like a machine.
Quality = Literal["natural", "robotic"]
QUALITIES: tuple[Quality, ...] = ("natural", "robotic")

#: The espeak voices as a file, so that the API lists and checks them while every worker is down.
SHIPPED = Path(__file__).with_name("espeak_voices.json")

#: Where most speakers of a language with several voices live (CLDR, likely subtags); elsewhere the region is named like
#: the language, as in de-DE.
MAIN_REGION = {"ar": "EG", "bn": "BD", "en": "US", "pt": "BR", "sw": "TZ", "ta": "IN", "ur": "PK", "zh": "CN"}

#: A language and a region alone. In another region it is spoken with another accent; but zh-HK is Cantonese.
REGIONAL = re.compile(r"(?!zh)([a-z]{2,3})-(?:[a-z]{2}|[0-9]{3})")

#: Characters of the longest text that gets a slow voice without naming one: about a minute of sound.
MOST_FOR_SLOW = 1_000

#: What a text is spoken in that names neither a language nor a voice.
DEFAULT_LANGUAGE = "en"

#: What a document lacks that a release before these fields has stored, by engine.
OLDER: dict[str, dict[str, Any]] = {"espeak": {"quality": "robotic"}, "edge": {"local": False}}

#: The form of a language tag (RFC 5646): a code of two or three letters, then script, region or variant.
LANGUAGE_TAG = re.compile(r"[a-z]{2,3}(-[a-z0-9]{1,8})*")


@dataclass(frozen=True, slots=True)
class Voice:
    """One voice of an engine, as `GET /tts/voices` shows it.

    The first of `language_codes` (BCP 47) is what the voice speaks best. `local`: no text leaves this machine.
    `is_slow`: it speaks about as slowly as people do, so a longer text gets it only by its name.
    """

    id: str
    name: str
    language_codes: tuple[str, ...]
    ssml_gender: Gender
    natural_sample_rate_hertz: NonNegativeInt
    display_name: Annotated[str, Field(description="Says in words what the other fields say.")]
    engine: str
    quality: Quality = "natural"
    local: Annotated[bool, Field(description="Texts stay on the server's own machines.")] = True
    is_slow: Annotated[bool, Field(description="Too slow for over 1,000 characters, unless it is named.")] = False

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Voice":
        """Return the voice of a JSON object, which has fewer fields from an older release, and more from a newer one.

        Raises KeyError, TypeError for what is no voice."""
        told = {**OLDER.get(document["engine"], {}), **document, "language_codes": tuple(document["language_codes"])}
        return cls(**{field.name: told[field.name] for field in fields(cls) if field.name in told})

    def speaks(self, language: str) -> bool:
        """Tell whether the voice speaks a language: en-GB speaks en and en-GB, de (no region) speaks de and de-AT."""
        return has_language(self.language_codes, language)

    def code_for(self, language: str) -> str:
        """Return its code for a language, or for that of another region, else the one that it speaks best."""
        codes = (code for tag in lookup(language) for code in self.language_codes if has_language((code,), tag))
        return next(codes, self.language_codes[0])


def has_language(language_codes: Iterable[str], language: str) -> bool:
    """Tell whether a language is among those codes, as `Voice.speaks` tells it."""
    tag = folded(language)
    return any(_covers(code, tag) or _covers(tag, code) for code in map(folded, language_codes))


def lookup(language: str) -> Iterator[str]:
    """Yield a language tag, then without its last part, and so on (RFC 4647, lookup); nothing if it is malformed."""
    tag = folded(language)
    while LANGUAGE_TAG.fullmatch(tag):
        yield tag
        tag = tag.rpartition("-")[0]


class VoiceUnknown(InvalidRequest):
    """No engine has a voice of that name."""

    code = "voice_unknown"
    field = "voice_name"


class LanguageUnknown(InvalidRequest):
    """No voice speaks that language."""

    code = "language_unknown"
    field = "language"


class VoiceLanguageMismatch(InvalidRequest):
    """The voice that was asked for doesn't speak the language that was asked for."""

    code = "voice_language_mismatch"
    field = "voice_name"


def pick_voice(
    offers: Sequence[Voice],
    *,
    voice_name: str | None,
    language: str | None,
    characters: int = 0,
    default_language: str = DEFAULT_LANGUAGE,
) -> Voice:
    """Return the voice for a text of so many characters; `offers` are in order of preference of their engines.

    Case is ignored, and `_` stands for `-`. A region that no voice has gets a voice of its language (RFC 4647, lookup):
    en-AU is spoken by the voice for en.
    Raises VoiceUnknown, LanguageUnknown, VoiceLanguageMismatch; and InvalidRequest with `language_not_supported` for a
    long text where only slow voices speak.
    """
    if voice_name is None:
        wanted = default_language if language is None else language
        quick = [offer for offer in offers if not offer.is_slow or characters <= MOST_FOR_SLOW]
        try:
            return _voice_for(quick, wanted)
        except LanguageUnknown:
            if any(offer.speaks(tag) for tag in lookup(wanted) for offer in offers):
                raise InvalidRequest(
                    f"Only slow voices speak {quoted(wanted)} here, which take about as long as people do; name one "
                    f"(voice_name) to have a text of more than {MOST_FOR_SLOW:,} characters spoken by it.",
                    code="language_not_supported",
                    field="language",
                ) from None
            raise
    voice = next((offer for offer in offers if folded(offer.id) == folded(voice_name)), None)
    if voice is None:
        raise VoiceUnknown(f"There is no voice {quoted(voice_name)}; GET /tts/voices lists the voices.")
    if language is not None and not voice.speaks(language):
        raise VoiceLanguageMismatch(
            f"The voice {voice.id} speaks {', '.join(voice.language_codes)}, not {quoted(language)}: "
            "leave language out, or pick a voice from GET /tts/voices?language=…"
        )
    return voice


def filter_voices(
    offers: Iterable[Voice],
    *,
    language: str | None = None,
    gender: str | None = None,
    quality: str | None = None,
    local: bool | None = None,
) -> list[Voice]:
    """Return the voices that speak a language (`en` matches en-GB) and are as asked; nothing when that is unknown."""
    return [
        voice
        for voice in offers
        if (language is None or voice.speaks(language))
        and (gender is None or voice.ssml_gender == gender.upper())
        and (quality is None or voice.quality == quality)
        and (local is None or voice.local == local)
    ]


@cache
def shipped_voices() -> tuple[Voice, ...]:
    """Return the espeak voices of the release that this version is tested with."""
    return tuple(Voice.from_document(document) for document in json.loads(SHIPPED.read_text("utf-8")))


def _voice_for(offers: Sequence[Voice], language: str) -> Voice:
    for tag in lookup(language):
        if speakers := [voice for voice in offers if voice.speaks(tag)]:
            best = _best(speakers, tag)
            return best if best.quality == "natural" else _natural_elsewhere(offers, best, tag) or best
    raise LanguageUnknown(f"No voice speaks {quoted(language)}; GET /tts/voices lists the languages.")


def _best(speakers: Sequence[Voice], tag: str) -> Voice:
    """Return the preferred engine's voice for exactly the tag, else for its main region, else the first.

    A voice that speaks another language best comes last: Kokoro's Japanese voices speak English too."""
    engine = speakers[0].engine
    main = f"{tag}-{MAIN_REGION.get(tag, tag)}".lower()

    def rank(voice: Voice) -> tuple[bool, int]:
        codes = [folded(code) for code in voice.language_codes]
        is_foreign = base_language(codes[0]) != base_language(tag)
        return is_foreign, 0 if tag in codes else 1 if main in codes else 2

    return min((voice for voice in speakers if voice.engine == engine), key=rank)


def _natural_elsewhere(offers: Sequence[Voice], robotic: Voice, tag: str) -> Voice | None:
    """Return a natural voice of a preferred engine for the same language in another region; None: there is none.

    Sites send their locale: who sends en-GB would hear a robot where en-AU, which no voice has, is spoken naturally."""
    if (regional := REGIONAL.fullmatch(tag)) is None:
        return None
    preferred = takewhile(lambda voice: voice.engine != robotic.engine, offers)
    speakers = [voice for voice in preferred if voice.quality == "natural" and voice.speaks(regional[1])]
    return _best(speakers, regional[1]) if speakers else None


def _covers(broad: str, narrow: str) -> bool:
    return f"{narrow}-".startswith(f"{broad}-")


def folded(tag: str) -> str:
    """Return a language tag or a voice's id as it is compared: in lower case, with hyphens."""
    return tag.strip().replace("_", "-").lower()


def quoted(value: str) -> str:
    """Return a user's value for a message, short and on one line."""
    return repr(value if len(value) <= 60 else value[:57] + "…")
