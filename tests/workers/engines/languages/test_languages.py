"""Languages are told apart, in sentences and in titles."""

from pathlib import Path

import pytest

from workers.engines.languages import identifying
from workers.engines.languages.languages import evident_language, language_of


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
        ("আলো জ্বলছে।", "bn"),
        ("விளக்கு எரிகிறது.", "ta"),
    ],
)
def test_the_language_of_a_short_sentence_is_told_where_it_is_evident(said: str, language: str) -> None:
    assert evident_language(said, "en") == language


@pytest.mark.parametrize(
    ("title", "language"),
    [
        *(("Tarta de queso al horno", "es"), ("Bolo de cenoura fofinho", "pt"), ("Ricetta del tiramisù", "it")),
        *(
            ("Mit dem Zug durch Norwegen", "de"),
            ("Randonnée dans le Vercors en automne", "fr"),
            ("Jak upiec dobry chleb", "pl"),
        ),
        *(("Zo bak je het beste brood", "nl"), ("Sådan bager du rugbrød", "da"), ("Evde kolay ekmek yapımı", "tr")),
        *(("Cách nấu phở bò tại nhà", "vi"), ("Cara merawat tanaman hias", "id"), ("Як вибрати велосипед", "uk")),
        *(("Как выбрать велосипед", "ru"), ("Kuinka leipoa ruisleipää", "fi"), ("Perché ho venduto la moto", "it")),
    ],
)
def test_a_title_alone_tells_its_language(title: str, language: str) -> None:
    assert language_of(title, "", "en").code == language


@pytest.mark.parametrize(
    "title",
    [
        *("Pasta", "Hygge", "Docker Compose: Volumes", "10 Tips for Better Sleep", "La Dolce Vita: a weekend in Rome"),
        *("Sauerkraut 101", "Release notes: 2.4", "Zucchini Bread", "2026", "Café culture in Buenos Aires"),
    ],
)
def test_a_title_that_could_be_in_any_language_is_in_the_one_asked_for(title: str) -> None:
    assert language_of(title, "", "en").code == "en"


def test_prepared_numbers_tell_what_the_package_tells(tmp_path: Path) -> None:
    package = identifying._load()
    identifying._write(package, tmp_path)
    prepared = identifying._Mapped(tmp_path)
    for text in ("Die Haustür ist offen.", "Zo bak je het beste brood", "Как выбрать велосипед", "Café culture", ""):
        assert prepared.rank(text) == package.rank(text)
