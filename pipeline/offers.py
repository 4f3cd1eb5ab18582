"""Offers: what the engines of each family can do, published by the pools and read by the API."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any

from psycopg.types.json import Jsonb

from pipeline.database import Statement
from pipeline.errors import ServiceUnavailable
from pipeline.kinds.speech.voices import Voice, VoiceUnknown, pick_voice, shipped_voices
from pipeline.settings import Settings

#: Pairs of voice and language that are remembered; there are about as many ways to write them.
MAX_PICKED = 1_000


@dataclass(frozen=True, slots=True)
class Offer:
    """What one engine can do; `needs` says what is missing when it is not ready."""

    family: str
    engine: str
    ready: bool
    needs: str | None = None
    content: Mapping[str, Any] = field(default_factory=dict)
    #: Where the engine stands in its pool's order of preference; the first is 0.
    place: int = 0


@dataclass(frozen=True)
class Offers:
    """What all pools offer, engines in order of preference."""

    engines: tuple[Offer, ...] = ()
    _picked: dict[tuple[str | None, str | None], Voice] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def voices(self) -> tuple[Voice, ...]:
        """Return the voices that can speak now. Before any pool has ever spoken up, those that espeak ships with."""
        synthesis = [offer for offer in self.engines if offer.family == "synthesis"]
        if not synthesis:
            return shipped_voices()
        return tuple(voice for offer in synthesis if offer.ready for voice in _voices(offer))

    def pick_voice(self, *, voice_name: str | None, language: str | None) -> Voice:
        """Return the voice for a request; looked for once, as it takes a third of a millisecond.

        Raises VoiceUnknown, LanguageUnknown, VoiceLanguageMismatch, and VoiceUnavailable for the voice of an engine
        that can't be used at the moment: who named it wants no other."""
        picked = self._picked.get((voice_name, language))
        if picked is None:
            picked = self._pick(voice_name, language)
            if len(self._picked) < MAX_PICKED:
                self._picked[voice_name, language] = picked
        return picked

    def _pick(self, voice_name: str | None, language: str | None) -> Voice:
        try:
            return pick_voice(self.voices, voice_name=voice_name, language=language)
        except VoiceUnknown:
            away = [offer for offer in self.engines if offer.family == "synthesis" and not offer.ready]
            voices = [voice for offer in away for voice in _voices(offer)]
            voice = pick_voice(voices, voice_name=voice_name, language=language)
            needs = next(offer.needs for offer in away if offer.engine == voice.engine)
            raise VoiceUnavailable(
                f"The voice {voice.id} can't speak now: {needs or 'its engine is unavailable'}. Nothing was charged. "
                "Try again later, or leave voice_name out.",
                retry_after=timedelta(minutes=1),
            ) from None


class VoiceUnavailable(ServiceUnavailable):
    """The voice is known, and its engine can't be used at the moment."""

    code = "engine_unavailable"


def _voices(offer: Offer) -> list[Voice]:
    return [Voice.from_document(document) for document in offer.content.get("voices", ())]


def preferred_engines(settings: Settings, family: str) -> list[str]:
    """Return the engines that the operator wants of a family, in order of preference (`PRESSROOM_<FAMILY>__ENGINES`).

    None are named: all of the family, in its own order. So it is with a family that the settings don't know."""
    named: str | None = getattr(getattr(settings, family, None), "engines", None)
    return [name.strip() for name in (named or "").split(",") if name.strip()]


def order_offers(settings: Settings, offers: Sequence[Offer]) -> Offers:
    """Put offers in the operator's order of preference; an engine that is not in it is not used.

    Where the operator has none, the family's own order counts.
    """
    ordered: list[Offer] = []
    for family in dict.fromkeys(offer.family for offer in offers):
        by_place = sorted((offer for offer in offers if offer.family == family), key=lambda offer: offer.place)
        offered = {offer.engine: offer for offer in by_place}
        preferred = preferred_engines(settings, family) or list(offered)
        ordered += [offered[engine] for engine in preferred if engine in offered]
    return Offers(tuple(ordered))


def publish_offers(offers: Sequence[Offer]) -> Statement[None]:
    """Tell everybody what this process's engines can do."""
    rows = [asdict(offer) for offer in offers]
    return Statement(
        "INSERT INTO offer (family, engine, ready, needs, place, content, updated_at)"
        " SELECT o.family, o.engine, o.ready, o.needs, o.place, o.content, now() FROM jsonb_to_recordset(%(offers)s)"
        " AS o (family text, engine text, ready boolean, needs text, place integer, content jsonb)"
        " ON CONFLICT (family, engine) DO UPDATE SET ready = excluded.ready, needs = excluded.needs,"
        " place = excluded.place, content = excluded.content, updated_at = excluded.updated_at"
        " RETURNING 1 AS published",
        {"offers": Jsonb(rows)},
        lambda rows: None,
    )


def read_offers() -> Statement[list[Offer]]:
    """Read what all pools offer."""
    return Statement(
        "SELECT family, engine, ready, needs, place, content FROM offer ORDER BY family, engine",
        {},
        lambda rows: [Offer(**row) for row in rows],
    )
