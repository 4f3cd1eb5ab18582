"""Voices: what can speak, in which languages, and which one a request gets."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pipeline.errors import InvalidRequest

Gender = Literal["MALE", "FEMALE", "NEUTRAL"]

#: The espeak voices as a file, so that the API lists and checks them while every worker is down.
SHIPPED = Path(__file__).with_name("espeak_voices.json")

#: Where most speakers of a language with several voices live (CLDR, likely subtags); elsewhere the region is named like
#: the language, as in de-DE.
MAIN_REGION = {"ar": "EG", "bn": "BD", "en": "US", "pt": "BR", "sw": "TZ", "ta": "IN", "ur": "PK", "zh": "CN"}

#: The form of a language tag (RFC 5646): a code of two or three letters, then script, region or variant.
LANGUAGE_TAG = re.compile(r"[a-z]{2,3}(-[a-z0-9]{1,8})*")


@dataclass(frozen=True, slots=True)
class Voice:
    """One voice of an engine, as `GET /tts/voices` shows it.

    The first of `language_codes` (BCP 47) is what the voice speaks best.
    """

    id: str
    name: str
    language_codes: tuple[str, ...]
    ssml_gender: Gender
    natural_sample_rate_hertz: int
    display_name: str
    engine: str

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "Voice":
        """Return the voice of a JSON object that has this class's fields."""
        return cls(**{**document, "language_codes": tuple(document["language_codes"])})

    def speaks(self, language: str) -> bool:
        """Tell whether the voice speaks a language: en-GB speaks en and en-GB, de (no region) speaks de and de-AT."""
        tag = _folded(language)
        return any(_covers(code, tag) or _covers(tag, code) for code in map(_folded, self.language_codes))


class VoiceUnknown(InvalidRequest):
    """No engine has a voice of that name."""

    code = "voice_unknown"


class LanguageUnknown(InvalidRequest):
    """No voice speaks that language."""

    code = "language_unknown"


class VoiceLanguageMismatch(InvalidRequest):
    """The voice that was asked for doesn't speak the language that was asked for."""

    code = "voice_language_mismatch"


def pick_voice(
    offers: Sequence[Voice], *, voice_name: str | None, language: str | None, default_language: str = "en"
) -> Voice:
    """Return the voice for a request; `offers` are in order of preference of their engines.

    Case is ignored, and `_` stands for `-`. A region that no voice has gets a voice of its language (RFC 4647, lookup):
    en-AU is spoken by the voice for en.
    Raises VoiceUnknown, LanguageUnknown, VoiceLanguageMismatch.
    """
    if voice_name is None:
        return _voice_for(offers, default_language if language is None else language)
    voice = next((offer for offer in offers if _folded(offer.id) == _folded(voice_name)), None)
    if voice is None:
        raise VoiceUnknown(f"There is no voice {_quoted(voice_name)}; GET /tts/voices lists the voices.")
    if language is not None and not voice.speaks(language):
        raise VoiceLanguageMismatch(
            f"The voice {voice.id} speaks {', '.join(voice.language_codes)}, not {_quoted(language)}: "
            "leave language out, or pick a voice from GET /tts/voices?language=…"
        )
    return voice


def filter_voices(offers: Iterable[Voice], *, language: str | None = None, gender: str | None = None) -> list[Voice]:
    """Return the voices that speak a language (`en` matches en-GB) and have a gender; nothing when it is unknown."""
    return [
        voice
        for voice in offers
        if (language is None or voice.speaks(language)) and (gender is None or voice.ssml_gender == gender.upper())
    ]


@cache
def shipped_voices() -> tuple[Voice, ...]:
    """Return the espeak voices of the release that this version is tested with."""
    return tuple(Voice.from_document(document) for document in json.loads(SHIPPED.read_text("utf-8")))


def _voice_for(offers: Sequence[Voice], language: str) -> Voice:
    tag = _folded(language)
    while LANGUAGE_TAG.fullmatch(tag):
        if speakers := [voice for voice in offers if voice.speaks(tag)]:
            return _best(speakers, tag)
        tag = tag.rpartition("-")[0]
    raise LanguageUnknown(f"No voice speaks {_quoted(language)}; GET /tts/voices lists the languages.")


def _best(speakers: Sequence[Voice], tag: str) -> Voice:
    """Return the preferred engine's voice for exactly the tag, else for its main region, else the first."""
    engine = speakers[0].engine
    main = f"{tag}-{MAIN_REGION.get(tag, tag)}".lower()

    def rank(voice: Voice) -> int:
        codes = [_folded(code) for code in voice.language_codes]
        return 0 if tag in codes else 1 if main in codes else 2

    return min((voice for voice in speakers if voice.engine == engine), key=rank)


def _covers(broad: str, narrow: str) -> bool:
    return f"{narrow}-".startswith(f"{broad}-")


def _folded(tag: str) -> str:
    return tag.strip().replace("_", "-").lower()


def _quoted(value: str) -> str:
    """Return a user's value for a message, short and on one line."""
    return repr(value if len(value) <= 60 else value[:57] + "…")
