"""Subjects: covers show the thing that a title names, and not what its words mean elsewhere."""

import pytest

from capabilities.blog.engines.pictures import Brief, Painted
from capabilities.blog.engines.pictures.drawn import topics
from capabilities.blog.engines.pictures.drawn.drawn import Drawn
from capabilities.blog.engines.pictures.drawn.plans import plans_of
from capabilities.blog.engines.pictures.drawn.topics import subject_of

NAMED = [
    ("en", "How to Brew Coffee at Home", "cup"),
    ("en", "Three Days in Lisbon Without a Car", "suitcase"),
    ("en", "Train your dog in a week", "paw"),
    ("en", "The Pomodoro Technique, explained", "clock"),
    ("en", "Why I gave up my smartphone for coffee", "phone"),
    ("es", "Mi coche eléctrico, un año después", "car"),
    ("fr", "Bien choisir son vélo", "bicycle"),
    ("de", "Mit dem Zug durch Norwegen", "train"),
    ("pt", "Bolo de cenoura da minha avó", "cake"),
    ("it", "Pasta al pomodoro", "pasta"),
    ("it", "La tecnica del pomodoro", "clock"),
    ("it", "Suonare il piano da adulti", "piano"),
    ("zh", "番茄工作法入门", "clock"),
    ("zh-Hant", "騎單車環島", "bicycle"),
    ("ja", "ベランダで始めるトマト栽培", "tomatoes"),
    ("ko", "기타 배우기", "guitar"),
    ("ar", "فوائد القَهْوة", "cup"),
    ("nl", "Espresso zetten", "cup"),
    ("en", "The Offside Rule, Explained for People Who Hate Football", "football"),
    ("en", "Fixing a Leaky Faucet Without Calling a Plumber", "tools"),
]


UNNAMED = [
    ("en", "Running a small business"),
    ("en", "Keep your servers up and running"),
    ("en", "How I made $10k in a month"),
    ("en", "Growth is a marathon, not a sprint"),
    ("en", "How to season a pan"),
    ("en", "Handy tips for every window pane"),
    ("en", "It was a piece of cake"),
    ("en", "Cookies and the law"),
    ("en", "Ten coffee tables we love"),
    ("en", "Hot dogs, ranked"),
    ("en", "Training a neural network on one GPU"),
    ("en", ""),
    ("es", "La mala suerte no existe"),
    ("fr", "Discuter par chat en ligne, car il faut bien vivre"),
    ("de", "Autonome Systeme auf der Autobahn"),
    ("de", "Reisen ohne Auto"),
    ("it", "Il piano di studi"),
    ("zh", "二手面包车值得买吗"),
    ("ja", "フライパンの選び方"),
    ("ko", "기타 궁금한 점"),
    ("it", "Dieci alimenti ricchi di calcio"),
]


@pytest.mark.parametrize(("language", "title", "motif"), NAMED)
def test_what_a_title_names_is_found_in_its_language(language: str, title: str, motif: str) -> None:
    assert subject_of(title, (), language) == motif


@pytest.mark.parametrize(("language", "title"), UNNAMED)
def test_words_that_mean_something_else_name_nothing(language: str, title: str) -> None:
    assert subject_of(title, (), language) is None


@pytest.mark.parametrize("motif", topics.SUBJECTS)
def test_each_word_is_found_and_no_exception_is(motif: str) -> None:
    for language, line in topics.SUBJECTS[motif].items():
        for entry in topics._entries(line):
            found = subject_of(entry.strip("^$*"), (), language)
            assert found == (None if language == "not" else motif), (language, entry)


def _described(engine: Drawn, title: str, category: str, language: str = "en") -> str:
    (cover,) = engine.paint(Brief(title, "", category, (), "illustration", language), count=1)
    assert isinstance(cover, Painted)
    return cover.description


def test_a_scene_suits_the_post_and_the_other_covers_show_its_subject(engine: Drawn) -> None:
    covers = engine.paint(Brief("Pot roast", "", "Food & Recipes", (), "illustration", "en"), count=3)
    shown = [cover.description for cover in covers if isinstance(cover, Painted)]
    assert sum("a plate between a fork and a knife" in one for one in shown) == 2
    assert sum("a kitchen shelf" in one for one in shown) == 1


@pytest.mark.parametrize(
    ("title", "language", "quoted"),
    [
        ("🎉 Ten years 🎉 of us", "en", "with the title “Ten years of us”."),
        ("How “quiet quitting” began", "en", "with the title “How ‘quiet quitting’ began”."),
        ("„Der Zauberberg“ heute", "de", "mit dem Titel „‚Der Zauberberg‘ heute“."),
        ("《红楼梦》怎么读", "zh", "标题为《〈红楼梦〉怎么读》。"),
    ],
)
def test_a_description_quotes_the_title(title: str, language: str, quoted: str, engine: Drawn) -> None:
    assert _described(engine, title, "General", language).endswith(quoted)


def test_three_covers_are_three_ideas_unless_illustrations_are_asked_for() -> None:
    def motifs(style: str) -> list[str | None]:
        brief = Brief("How to Grow Tomatoes on a Balcony", "Sun.", "Home & Garden", (), style, "en")
        return [plan.motif for plan in plans_of(brief, 3, has_title=True)]

    assert sorted(map(str, motifs("realistic"))) == ["None", "None", "tomatoes"]
    assert "tomatoes" in motifs("illustration")
