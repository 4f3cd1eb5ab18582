"""Offered voices: which voices the synthesis engines offer now, and which of them a request gets."""

from collections.abc import Sequence
from datetime import timedelta

from pipeline.errors import ServiceUnavailable
from pipeline.kinds.speech.voices import Voice, VoiceUnknown, pick_voice, shipped_voices
from pipeline.offers import Offer, Offers

FAMILY = "synthesis"
#: Pairs of voice and language, as requests spell them, whose voice is cached.
MAX_CHOSEN = 1_000


class VoiceUnavailable(ServiceUnavailable):
    """The voice is known, and its engine can't be used at the moment."""

    code = "engine_unavailable"


class OfferedVoices:
    """The voices of one copy of the offers."""

    def __init__(self, offers: Offers) -> None:
        self._offers = offers.of(FAMILY)
        self._chosen: dict[tuple[str | None, str | None], Voice] = {}
        #: The voices that can speak now. Before any pool has published an offer, those that espeak ships with.
        self.ready: tuple[Voice, ...] = (
            tuple(voice for offer in self._offers if offer.ready for voice in _voices(offer))
            if self._offers
            else shipped_voices()
        )

    def pick(self, *, voice_name: str | None, language: str | None) -> Voice:
        """Return the voice for a request; looked for once, as it takes a third of a millisecond.

        Raises VoiceUnknown, LanguageUnknown, VoiceLanguageMismatch, and VoiceUnavailable for the voice of an engine
        that can't be used at the moment: a request that names a voice gets no other."""
        voice = self._chosen.get((voice_name, language))
        if voice is None:
            voice = self._choose(voice_name, language)
            if len(self._chosen) < MAX_CHOSEN:
                self._chosen[voice_name, language] = voice
        return voice

    def _choose(self, voice_name: str | None, language: str | None) -> Voice:
        try:
            return pick_voice(self.ready, voice_name=voice_name, language=language)
        except VoiceUnknown:
            away = [offer for offer in self._offers if not offer.ready]
            voices = [voice for offer in away for voice in _voices(offer)]
            voice = pick_voice(voices, voice_name=voice_name, language=language)
            needs = next(offer.needs for offer in away if offer.engine == voice.engine)
            raise VoiceUnavailable(
                f"The voice {voice.id} can't speak now: {needs or 'its engine is unavailable'}. Nothing was charged. "
                "Try again later, or leave voice_name out.",
                retry_after=timedelta(minutes=1),
            ) from None


def offered_voices(offers: Offers) -> OfferedVoices:
    """Return the voices of a copy of the offers, made once."""
    return offers.derived(OfferedVoices)


def _voices(offer: Offer) -> Sequence[Voice]:
    return [Voice.from_document(document) for document in offer.content.get("voices", ())]
