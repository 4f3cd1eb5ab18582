"""Offered voices: the voices that the synthesis engines offer now, and the choice of one for a request.

A refusal names the command that brings a missing voice, if there is one (docs/models.md).
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path

from capabilities.speech.voices.voices import (
    DEFAULT_LANGUAGE,
    MAIN_REGION,
    MOST_FOR_SLOW,
    REGIONAL,
    Gender,
    LanguageUnknown,
    Voice,
    VoiceUnknown,
    folded,
    has_language,
    lookup,
    pick_voice,
    quoted,
    shipped_voices,
)
from pipeline.errors import InvalidRequest, ServiceUnavailable
from pipeline.offers.offers import Fetchable, Offer, Offers, list_fetchable

FAMILY = "synthesis"
#: Choices that are cached, by the voice and language of the request.
MAX_CHOSEN = 1_000


class VoiceUnavailable(ServiceUnavailable):
    """The engine of the voice can't be used at the moment."""

    code = "engine_unavailable"


class VoiceNotInstalled(InvalidRequest):
    """The voice is in the catalogue, but not on this machine."""

    code = "voice_not_installed"


@dataclass(frozen=True, slots=True)
class VoiceAlias:
    """A name that no voice has. `turn` is its place among the names of its gender."""

    name: str
    gender: Gender
    voices: tuple[str, ...]
    turn: int

    def pick(self, offers: Sequence[Voice], language: str, characters: int) -> Voice | None:
        """Return the local voice that speaks for it, or None.

        A natural voice of another gender is better than a robotic one of its own."""
        local = [one for one in offers if one.local and (not one.is_slow or characters <= MOST_FOR_SLOW)]
        for tag in lookup(language):
            speakers = [voice for voice in local if voice.speaks(tag)]
            for preferred in self.voices:
                for voice in speakers:
                    if voice.id == preferred:
                        return voice
            if speakers:
                return self._of(speakers, tag)
        return None

    def _of(self, speakers: Sequence[Voice], tag: str) -> Voice:
        """Return one of the best voices; the names take turns among several."""
        main = f"{tag}-{MAIN_REGION.get(tag, tag)}".lower()

        def rank(voice: Voice) -> tuple[bool, ...]:
            best = folded(voice.language_codes[0])
            is_foreign = not best.startswith(tag)
            is_other = voice.ssml_gender != self.gender
            return voice.quality != "natural", is_foreign, voice.is_slow, is_other, best not in {tag, main}

        best = min(map(rank, speakers))
        equals = [voice for voice in speakers if rank(voice) == best]
        # Robots differ by dialect: the first suits the language best.
        return equals[self.turn % len(equals)] if equals[0].quality == "natural" else equals[0]


@cache
def voice_aliases() -> Mapping[str, VoiceAlias]:
    """Return all aliases by their names, in lower case."""
    told = tomllib.loads(Path(__file__).with_name("voice_aliases.toml").read_text("utf-8"))
    turns: dict[str, int] = {}
    aliases = {}
    for name, fields in told.items():
        turn = turns.get(fields["gender"], 0)
        turns[fields["gender"]] = turn + 1
        aliases[name] = VoiceAlias(name, fields["gender"], tuple(fields["voices"]), turn)
    return aliases


class OfferedVoices:
    """The voices of one copy of the offers."""

    def __init__(self, offers: Offers) -> None:
        self._offers = offers.of(FAMILY)
        self._fetchable = list(list_fetchable(offers, FAMILY))
        self._chosen: dict[tuple[str | None, str | None, bool], Voice] = {}
        #: The voices that can speak now; espeak's, before any pool has published an offer.
        self.ready: tuple[Voice, ...] = (
            tuple(voice for offer in self._offers if offer.ready for voice in _voices(offer))
            if self._offers
            else shipped_voices()
        )

    def pick(self, *, voice_name: str | None, language: str | None, characters: int) -> Voice:
        """Return the voice for a text of so many characters, cached, since a choice takes a third of a millisecond.

        Raises VoiceUnknown, LanguageUnknown, VoiceLanguageMismatch; VoiceUnavailable if a named voice can't speak at
        the moment; VoiceNotInstalled, or InvalidRequest (`language_not_supported`), if a model that could be fetched
        would speak."""
        asked = voice_name, language, characters > MOST_FOR_SLOW
        voice = self._chosen.get(asked)
        if voice is None:
            voice = self._choose(voice_name, language, characters)
            if len(self._chosen) < MAX_CHOSEN:
                self._chosen[asked] = voice
        return voice

    def alias(self, voice_name: str | None) -> VoiceAlias | None:
        """Return the alias of that name; None for any other name, or if a voice here has that name."""
        alias = voice_aliases().get((voice_name or "").strip().lower())
        return None if alias is None or any(folded(voice.id) == alias.name for voice in self.ready) else alias

    def is_own_name(self, voice_name: str | None) -> bool:
        """Return whether a name is one voice's own, which has one language."""
        return voice_name is not None and self.alias(voice_name) is None

    def _choose(self, voice_name: str | None, language: str | None, characters: int) -> Voice:
        if (alias := self.alias(voice_name)) is not None:
            voice = alias.pick(self.ready, language or DEFAULT_LANGUAGE, characters)
            if voice is not None:
                return voice
            voice_name = None  # so that the refusal is about the language
        try:
            return pick_voice(self.ready, voice_name=voice_name, language=language, characters=characters)
        except LanguageUnknown:
            if language is not None and (model := self.fetchable_for(language)):
                raise InvalidRequest(
                    f"No voice here speaks {quoted(language)} yet. {model.remedy} "
                    "GET /tts/voices lists the languages that are here.",
                    code="language_not_supported",
                    field="language",
                ) from None
            raise
        except VoiceUnknown:
            self._refuse_known(voice_name or "")
            away = [offer for offer in self._offers if not offer.ready]
            voices = [voice for offer in away for voice in _voices(offer)]
            voice = pick_voice(voices, voice_name=voice_name, language=language)
            needs = next(offer.needs for offer in away if offer.engine == voice.engine)
            raise VoiceUnavailable(
                f"The voice {voice.id} can't speak now: {needs or 'its engine is unavailable'}. Nothing was charged. "
                "Try again later, or leave voice_name out.",
                retry_after=timedelta(minutes=1),
            ) from None

    def fetchable_for(self, language: str) -> Fetchable | None:
        """Return the first model that would bring a voice for a language, or None."""
        voices = [model for model in self._fetchable if model.voices]
        found = (model for tag in lookup(language) for model in voices if has_language(model.languages, tag))
        return next(found, None)

    def better(self, voice: Voice, *, voice_name: str | None, language: str | None, is_long: bool) -> Fetchable | None:
        """Return the model to fetch for a voice that suits a request better than the one picked for it, or None.

        A model that comes on demand is slow, so a long text wants another one."""
        if self.is_own_name(voice_name):
            return None
        tag = folded(language or DEFAULT_LANGUAGE)
        if voice.quality == "robotic" or (language and REGIONAL.fullmatch(tag) and not voice.speaks(tag)):
            base = tag if voice.quality == "natural" else tag.partition("-")[0]
            suited = [model for model in self._fetchable if model.voices and has_language(model.languages, base)]
        elif (alias := self.alias(voice_name)) and voice.ssml_gender != alias.gender and voice.speaks(DEFAULT_LANGUAGE):
            suited = [model for model in self._fetchable if set(alias.voices) & set(model.voices)]
        else:
            return None
        return min(suited, key=lambda model: model.on_demand == is_long, default=None)

    def slow_voice(self, language: str | None) -> Voice | None:
        """Return a natural voice that speaks a language, but no long text unless it is named; None without one."""
        slow = [voice for voice in self.ready if voice.is_slow]
        speakers = (voice for tag in lookup(language or DEFAULT_LANGUAGE) for voice in slow if voice.speaks(tag))
        return next(speakers, None)

    def _refuse_known(self, voice_name: str) -> None:
        """Raise VoiceNotInstalled if a model that could be fetched has the voice."""
        for model in self._fetchable:
            for voice in model.voices:
                if folded(voice) == folded(voice_name):
                    raise VoiceNotInstalled(
                        f"The voice {voice} is not on this machine yet. {model.remedy} "
                        "GET /tts/voices lists the voices that are here.",
                        field="voice_name",
                    )


def offered_voices(offers: Offers) -> OfferedVoices:
    """Return the voices of a copy of the offers, computed once."""
    return offers.derived(OfferedVoices)


def _voices(offer: Offer) -> Sequence[Voice]:
    return [Voice.from_document(document) for document in offer.content.get("voices", ())]
