"""Fetchable: models that the catalogue has and this machine has not, as the pools tell of them in their offers."""

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.offers.offers import Offers


@dataclass(frozen=True, slots=True)
class Fetchable:
    """A model that could be fetched, and what it would bring: languages (BCP 47), and ids of voices."""

    model: str
    languages: tuple[str, ...] = ()
    voices: tuple[str, ...] = ()
    engine: str = ""

    @property
    def remedy(self) -> str:
        """The sentence that tells how to get it."""
        return f"Who runs this service can add it: pressroom models fetch {self.model}."


def list_fetchable(offers: Offers, family: str) -> Iterator[Fetchable]:
    """Yield the models that would add to the engines of a family, the preferred engine's first."""
    for offer in offers.of(family):
        for found in offer.content.get("fetchable", ()):
            yield Fetchable(
                found["model"], tuple(found.get("languages", ())), tuple(found.get("voices", ())), offer.engine
            )
