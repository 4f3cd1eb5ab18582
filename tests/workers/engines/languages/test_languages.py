"""The language that a text is in, told from the text alone."""

import pytest

from workers.engines.languages.languages import evident_language


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("Turn on the light.", "en"),
        ("OK", "en"),
        ("Die Haustür ist offen.", "de"),
        ("La lumière est allumée.", "fr"),
        ("La luz está encendida.", "es"),
        ("La luce è accesa.", "it"),
        ("A luz está acesa.", "pt"),
        ("Het licht is aan.", "nl"),
        ("Drzwi są otwarte.", "pl"),
        ("Свет включён.", "ru"),
        ("電気がつきました。", "ja"),
    ],
)
def test_the_language_of_a_short_sentence_is_told_where_it_is_evident(said: str, language: str) -> None:
    assert evident_language(said, "en") == language
