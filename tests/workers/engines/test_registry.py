"""The registry: engines of this project and of other packages, in the order that the operator wants."""

import re
from pathlib import Path

import pytest

from capabilities.speech.engines import ENGINES
from pipeline.errors import NotReady
from pipeline.offers.offers import order_offers
from pipeline.settings import Settings
from workers.engines.family import Family
from workers.engines.registry import list_engines, list_families, load_engines

PLUG_IN = Path(__file__).parents[2] / "plug_in"


@pytest.fixture(autouse=True)
def _plug_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PLUG_IN)
    monkeypatch.delenv("PRESSROOM_SYNTHESIS__ENGINES")


def names(settings: Settings) -> list[str]:
    return [engine.name for engine in load_engines(settings, "synthesis")]


def test_each_folder_is_a_family_and_lists_engines_that_are_there() -> None:
    families = ["captioning", "metadata", "pictures", "search", "submission", "synthesis", "transcription"]
    assert list_families() == families
    for family in families:
        assert all(point.load().name == name for name, point in list_engines(family).items() if point.dist is None)


def test_an_engine_of_another_package_stands_last_unless_the_operator_names_it_earlier() -> None:
    assert names(Settings()) == [*ENGINES, "hum", "broken"]
    assert names(Settings(synthesis={"engines": "hum, espeak"})) == ["hum", "espeak"]
    assert names(Settings(synthesis={"engines": ""})) == names(Settings())


def test_an_engine_that_can_not_be_loaded_says_so_and_takes_no_other_away() -> None:
    *_, broken = load_engines(Settings(), "synthesis")

    assert "pressroom_hum:Missing can't be loaded" in (broken.readiness() or "")


def test_a_name_that_nobody_knows_is_refused_with_those_that_there_are() -> None:
    known = ", ".join(sorted([*ENGINES, "broken", "hum"]))
    with pytest.raises(NotReady, match=re.escape(f"names 'hmm'; the synthesis engines are {known}.")):
        load_engines(Settings(synthesis={"engines": "hmm"}), "synthesis")


def test_offers_are_in_the_order_of_the_pool_where_the_operator_has_none() -> None:
    family = Family(Settings(synthesis={"engines": "hum,espeak"}), "synthesis")
    family.setup()
    offers = sorted(family.offers(), key=lambda offer: offer.engine)  # as the database has them

    assert [offer.engine for offer in order_offers(Settings(), offers).engines] == ["hum", "espeak"]
    preferred = order_offers(Settings(synthesis={"engines": "espeak"}), offers)
    assert [offer.engine for offer in preferred.engines] == ["espeak"]
