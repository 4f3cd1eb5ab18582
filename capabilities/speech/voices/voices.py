"""Voices: their languages, and the choice of one for a request."""

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
#: The sound of a voice: like a person or a machine.
Quality = Literal["natural", "robotic"]
QUALITIES: tuple[Quality, ...] = ("natural", "robotic")
#: The voices of espeak, so that the API lists and checks them while every worker is down.
SHIPPED = Path(__file__).with_name("espeak_voices.json")
#: Region of most speakers of a language (CLDR, likely subtags), unless it is named like the language (de-DE).
MAIN_REGION = {"ar": "EG", "bn": "BD", "en": "US", "pt": "BR", "sw": "TZ", "ta": "IN", "ur": "PK", "zh": "CN"}
#: A language and a region, which stands for an accent; but zh-HK is Cantonese.
REGIONAL = re.compile(r"(?!zh)([a-z]{2,3})-(?:[a-z]{2}|[0-9]{3})")
#: Longest text, in characters, that gets a slow voice without naming one: about a minute of sound.
MOST_FOR_SLOW = 1_000
#: For a request that names neither a language nor a voice.
DEFAULT_LANGUAGE = "en"
#: The form of a language tag (RFC 5646): a code of two or three letters, then script, region or variant.
LANGUAGE_TAG = re.compile(r"[a-z]{2,3}(-[a-z0-9]{1,8})*")


@dataclass(frozen=True, slots=True)
class Voice:
    """One voice of an engine, as `GET /tts/voices` shows it.

    The voice speaks the first of `language_codes` (BCP 47) best. `local`: no text leaves this machine. `is_slow`: it
    renders no faster than people speak, so a longer text gets it only by its name."""

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
        """Return the voice of a JSON object, of an older or newer release too. Raises KeyError, TypeError."""
        told = {**document, "language_codes": tuple(document["language_codes"])}
        return cls(**{field.name: told[field.name] for field in fields(cls) if field.name in told})

    def speaks(self, language: str) -> bool:
        """Return whether it speaks a language: en-GB speaks en and en-GB; de, without a region, de and de-AT."""
        return has_language(self.language_codes, language)

    def code_for(self, language: str) -> str:
        """Return its code for a language, or for another region of it, or else its first code."""
        codes = (code for tag in lookup(language) for code in self.language_codes if has_language((code,), tag))
        return next(codes, self.language_codes[0])


def has_language(language_codes: Iterable[str], language: str) -> bool:
    """Return whether these codes include a language, as in `Voice.speaks`."""
    tag = folded(language)
    return any(_covers(code, tag) or _covers(tag, code) for code in map(folded, language_codes))


def lookup(language: str) -> Iterator[str]:
    """Yield a language tag and its ever shorter beginnings (RFC 4647, lookup); nothing if it is malformed."""
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
    """The requested voice doesn't speak the requested language."""

    code = "voice_language_mismatch"
    field = "voice_name"


def pick_voice(
    offers: Sequence[Voice],
    *,
    voice_name: str | None,
    language: str | None,
    characters: int = 0,
) -> Voice:
    """Return the voice for a text of so many characters; `offers` are in order of preference of their engines.

    A voice is named by its id, such as af_heart, or its name, such as Heart. Case is ignored, and `_` stands for `-`. A
    region without a voice gets a voice of its language (RFC 4647, lookup).
    Raises VoiceUnknown, LanguageUnknown, VoiceLanguageMismatch, and InvalidRequest (`language_not_supported`) for a
    long text that only slow voices speak."""
    if voice_name is None:
        wanted = DEFAULT_LANGUAGE if language is None else language
        quick = [offer for offer in offers if not offer.is_slow or characters <= MOST_FOR_SLOW]
        try:
            return _voice_for(quick, wanted)
        except LanguageUnknown:
            if any(offer.speaks(tag) for tag in lookup(wanted) for offer in offers):
                raise InvalidRequest(
                    f"Only slow voices speak {quoted(wanted)} here, about as slow as people; name one (voice_name) to "
                    f"have it speak a text of more than {MOST_FOR_SLOW:,} characters.",
                    code="language_not_supported",
                    field="language",
                ) from None
            raise
    named = [offer for offer in offers if folded(offer.id) == folded(voice_name)]
    named += [offer for offer in offers if folded(offer.name) == folded(voice_name)]
    if not named:
        raise VoiceUnknown(f"There is no voice {quoted(voice_name)}; GET /tts/voices lists the voices.")
    voice = next((offer for offer in named if language is None or offer.speaks(language)), named[0])
    if language is not None and not voice.speaks(language):
        raise VoiceLanguageMismatch(
            f"The voice {voice.id} speaks {', '.join(voice.language_codes)}, not {quoted(language)}: "
            "leave language out, or pick a voice from GET /tts/voices?language=…"
        )
    return voice


@cache
def shipped_voices() -> tuple[Voice, ...]:
    """Return the voices of the espeak release that this version is tested with."""
    return tuple(Voice.from_document(document) for document in json.loads(SHIPPED.read_text("utf-8")))


def _voice_for(offers: Sequence[Voice], language: str) -> Voice:
    for tag in lookup(language):
        if speakers := [voice for voice in offers if voice.speaks(tag)]:
            best = _best(speakers, tag)
            return best if best.quality == "natural" else _natural_elsewhere(offers, best, tag) or best
    raise LanguageUnknown(f"No voice speaks {quoted(language)}; GET /tts/voices lists the languages.")


def _best(speakers: Sequence[Voice], tag: str) -> Voice:
    """Return the preferred engine's voice for exactly the tag, else for its main region, else its first.

    Foreign voices come last: Kokoro's Japanese voices speak English too."""
    engine = speakers[0].engine
    main = f"{tag}-{MAIN_REGION.get(tag, tag)}".lower()

    def rank(voice: Voice) -> tuple[bool, int]:
        codes = [folded(code) for code in voice.language_codes]
        is_foreign = base_language(codes[0]) != base_language(tag)
        return is_foreign, 0 if tag in codes else 1 if main in codes else 2

    return min((voice for voice in speakers if voice.engine == engine), key=rank)


def _natural_elsewhere(offers: Sequence[Voice], robotic: Voice, tag: str) -> Voice | None:
    """Return a preferred engine's natural voice for another region of the language; None if there is none.

    Sites send their locale: en-GB would be a robot, while en-AU, which no voice has, would sound natural."""
    if (regional := REGIONAL.fullmatch(tag)) is None:
        return None
    preferred = takewhile(lambda voice: voice.engine != robotic.engine, offers)
    speakers = [voice for voice in preferred if voice.quality == "natural" and voice.speaks(regional[1])]
    return _best(speakers, regional[1]) if speakers else None


def _covers(broad: str, narrow: str) -> bool:
    return f"{narrow}-".startswith(f"{broad}-")


def folded(tag: str) -> str:
    """Return a language tag or a voice's id for comparison: in lower case, with hyphens."""
    return tag.strip().replace("_", "-").lower()


def quoted(value: str) -> str:
    """Return a user's value for a message, short and on one line."""
    return repr(value if len(value) <= 60 else value[:57] + "…")
