"""Places that a text names, in its own language."""

import pytest

from capabilities.blog.engines.metadata.extractive.extractive import Extractive
from capabilities.blog.engines.metadata.places import places_in
from capabilities.blog.engines.metadata.plain import read_post
from workers.engines.languages.languages import language_of


@pytest.mark.parametrize(
    ("text", "language", "places"),
    [
        (
            "From Lisbon to New York City by train, and on to Rio de Janeiro.",
            "en",
            {"lisbon", "new york city", "rio de janeiro"},
        ),
        ("Turkey in the oven, Reading in bed and a nice Bath.", "en", set()),
        ("Wir fuhren durch Norwegen und aßen in Essen.", "de", {"norwegen"}),
        ("Nous étions en Suède, puis à Lisbonne.", "fr", {"suède", "lisbonne"}),
        ("京都とフランスを旅する", "ja", {"フランス"}),
        ("", "en", set()),
    ],
)
def test_places_are_found_by_their_names(text: str, language: str, places: set[str]) -> None:
    assert set(places_in(text, language_of(text, "", language))) == places


def test_places_speak_for_travelling(engine: Extractive) -> None:
    made = engine.write(read_post("Ten days between Oviedo and Lugo", None, "en"))
    assert made.category == "Travel"
    assert {"oviedo", "lugo"} <= set(made.tags)


def test_a_place_in_a_recipe_makes_no_travel_of_it(engine: Extractive) -> None:
    content = "A soup of lentils with vinegar, as it is cooked in Sweden. The recipe needs onions, butter and patience."
    made = engine.write(read_post("Lentil soup", content * 3, "en"))
    assert made.category == "Food & Recipes"
