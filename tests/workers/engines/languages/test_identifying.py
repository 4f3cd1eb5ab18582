"""The language of a title is told, and one that could be of any stays what was asked for."""

import pytest

from workers.engines.languages.languages import language_of


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
