"""Subjects: covers show the thing that a title names, and not what its words mean elsewhere."""

import pytest

from capabilities.blog.engines.pictures import Brief, Painted
from capabilities.blog.engines.pictures.drawn import shapes, topics
from capabilities.blog.engines.pictures.drawn.drawn import Drawn
from capabilities.blog.engines.pictures.drawn.plans import plans_of
from capabilities.blog.engines.pictures.drawn.topics import subject_of

NAMED = [
    ("en", "How to Brew Coffee at Home", "cup"),
    ("en", "A Beginner's Guide to Running", "shoe"),
    ("en", "Three Days in Lisbon Without a Car", "suitcase"),
    ("en", "A Beginner's Guide to Sourdough Bread", "bread"),
    ("en", "Baking with kids", "cake"),
    ("en", "Train your dog in a week", "paw"),
    ("en", "The Pomodoro Technique, explained", "clock"),
    ("en", "Why I gave up my smartphone for coffee", "phone"),
    ("es", "Cómo hacer pan en casa", "bread"),
    ("es", "Mi coche eléctrico, un año después", "car"),
    ("fr", "Apprendre le piano à l’âge adulte", "piano"),
    ("fr", "Courir son premier marathon à quarante ans", "shoe"),
    ("fr", "Bien choisir son vélo", "bicycle"),
    ("de", "Mit dem Zug durch Norwegen", "train"),
    ("de", "Das richtige Handy für Senioren", "phone"),
    ("pt", "Bolo de cenoura da minha avó", "cake"),
    ("pt", "Aprender violão sozinho", "guitar"),
    ("it", "Pasta al pomodoro", "pasta"),
    ("it", "Salsa di pomodoro", "tomatoes"),
    ("it", "La tecnica del pomodoro", "clock"),
    ("it", "Suonare il piano da adulti", "piano"),
    ("zh", "如何在家冲一杯好咖啡", "cup"),
    ("zh", "普通人也能坚持的跑步计划", "shoe"),
    ("zh", "番茄工作法入门", "clock"),
    ("zh-Hant", "騎單車環島", "bicycle"),
    ("ja", "ベランダで始めるトマト栽培", "tomatoes"),
    ("ja", "家で食パンを焼く", "bread"),
    ("ko", "작은 발코니에서 토마토 키우기", "tomatoes"),
    ("ko", "기타 배우기", "guitar"),
    ("ar", "كيف تزرع الطماطم في شرفة صغيرة", "tomatoes"),
    ("ar", "فوائد القَهْوة", "cup"),
    ("nl", "Espresso zetten", "cup"),
    ("en", "The Offside Rule, Explained for People Who Hate Football", "football"),
    ("en", "Why basketball players are so tall", "ball"),
    ("en", "Planning a Wedding on $5,000", "rings"),
    ("en", "Fixing a Leaky Faucet Without Calling a Plumber", "tools"),
    ("en", "My gym routine", "dumbbell"),
    ("en", "Sunscreen, every day", "lotion"),
    ("de", "Zelten mit Kindern", "tent"),
    ("fr", "Apprendre à tricoter une écharpe", "yarn"),
    ("it", "Il calcio di una volta", "football"),
]


UNNAMED = [
    ("en", "Running a small business"),
    ("en", "Keep your servers up and running"),
    ("en", "How I made $10k in a month"),
    ("en", "Growth is a marathon, not a sprint"),
    ("en", "How to season a pan"),
    ("en", "Pain relief, and an online course"),
    ("en", "Handy tips for every window pane"),
    ("en", "Careers in carbon accounting"),
    ("en", "The state of the art of party hosting"),
    ("en", "It was a piece of cake"),
    ("en", "Cookies and the law"),
    ("en", "Ten coffee tables we love"),
    ("en", "Hot dogs, ranked"),
    ("en", "Training a neural network on one GPU"),
    ("en", "What I learned from 1,000 phone calls"),
    ("en", "Weekend in the garden"),
    ("en", "Teamwork makes teaching easier"),
    ("en", ""),
    ("es", "La mala suerte no existe"),
    ("es", "Biología celular para principiantes"),
    ("es", "El corredor de bolsa"),
    ("fr", "Discuter par chat en ligne, car il faut bien vivre"),
    ("fr", "Une course contre la montre"),
    ("de", "Hundert Tipps zum Sparen"),
    ("de", "Autonome Systeme auf der Autobahn"),
    ("de", "Reisen ohne Auto"),
    ("it", "Il piano di studi"),
    ("it", "Arredare una camera da letto piccola"),
    ("zh", "二手面包车值得买吗"),
    ("ja", "フライパンの選び方"),
    ("ja", "ランニングコストを下げる"),
    ("ko", "기타 궁금한 점"),
    ("en", "Fantasy football, week one"),
    ("it", "Dieci alimenti ricchi di calcio"),
    ("zh", "十款免费的人工智能工具"),
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


def test_the_first_tags_name_a_subject_where_the_title_does_not() -> None:
    assert subject_of("Mornings", ("espresso", "milk"), "en") == "cup"
    assert subject_of("Mornings", ("milk", "running"), "en") == "shoe"
    assert subject_of("Mornings with a dog", ("espresso",), "en") == "paw"
    assert subject_of("Mornings", ("milk", "sugar", "espresso"), "en") is None


def _described(engine: Drawn, title: str, category: str, language: str = "en") -> str:
    (cover,) = engine.paint(Brief(title, "", category, (), "illustration", language), count=1)
    assert isinstance(cover, Painted)
    return cover.description


def test_covers_show_the_subject_rather_than_the_category(engine: Drawn) -> None:
    assert "冒着热气的杯子" in _described(engine, "如何在家冲一杯好咖啡", "Food & Recipes", "zh")
    assert "a running shoe" in _described(engine, "My first marathon", "Sports & Fitness")
    assert "un piano droit" in _described(engine, "Apprendre le piano", "Music", "fr")


def test_covers_without_a_subject_show_what_is_true_for_the_category(engine: Drawn) -> None:
    assert "a compass" in _described(engine, "Small plans, big sky", "Travel")
    assert "two speech bubbles" in _described(engine, "Notes on letting go", "Relationships")
    assert "three toy blocks" in _described(engine, "Why they say no", "Parenting & Family")


def test_scenes_stand_beside_things_that_there_are() -> None:
    assert set(topics.SCENES) <= set(shapes.MOTIFS)
    assert set(topics.SYMBOLS.keys()) <= set(shapes.MOTIFS)


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
def test_a_description_quotes_the_title_as_it_stands_on_the_picture(
    title: str, language: str, quoted: str, engine: Drawn
) -> None:
    assert _described(engine, title, "General", language).endswith(quoted)


def test_three_covers_are_three_ideas_unless_illustrations_are_asked_for() -> None:
    def motifs(style: str) -> list[str | None]:
        brief = Brief("How to Grow Tomatoes on a Balcony", "Sun.", "Home & Garden", (), style, "en")
        return [plan.motif for plan in plans_of(brief, 3, has_title=True)]

    assert sorted(map(str, motifs("realistic"))) == ["None", "None", "tomatoes"]
    assert "tomatoes" in motifs("illustration")
