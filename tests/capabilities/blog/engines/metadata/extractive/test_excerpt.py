"""Excerpts say what a post is about, and not how it greets or thanks."""

import pytest

from capabilities.blog.engines.metadata.extractive.extractive import Extractive
from capabilities.blog.engines.metadata.plain import read_post


@pytest.mark.parametrize(
    ("title", "language", "excerpt"),
    [
        ("10 Tips for Better Sleep", "en", "10 Tips for Better Sleep – a post about health and wellness."),
        ("¿Cómo cuidar a un gato?", "es", "¿Cómo cuidar a un gato? Un artículo sobre mascotas."),
        ("Mit dem Zug durch Norwegen", "de", "Mit dem Zug durch Norwegen – ein Beitrag zum Thema Reisen."),
        (
            "Les meilleures plages de Bretagne",
            "fr",
            "Les meilleures plages de Bretagne – un article sur le thème « voyage ».",
        ),
        ("猫と暮らす", "ja", "猫と暮らす。ペットについてわかりやすく紹介する記事です。"),
        ("วิธีปลูกมะเขือเทศ", "th", "บทความในบล็อกเรื่อง “วิธีปลูกมะเขือเทศ”"),
        ("כלב", "he", "פוסט בבלוג שכותרתו ״כלב״."),
        ("Kahve", "tr", "“Kahve” başlıklı bir blog yazısı."),
    ],
)
def test_a_title_alone_becomes_a_sentence_in_its_language(
    title: str, language: str, excerpt: str, engine: Extractive
) -> None:
    made = engine.write(read_post(title, None, language))
    assert made.excerpt == excerpt


def test_sentences_of_scripts_that_write_vowels_as_marks_are_found(engine: Extractive) -> None:
    content = "योग शुरू करने के लिए आपको जिम जाने की ज़रूरत नहीं है। " * 2 + "एक चटाई, थोड़ी सी जगह और रोज़ बीस मिनट काफ़ी हैं। " * 3
    assert engine.write(read_post("घर पर योग", content, "hi")).excerpt.startswith("योग शुरू करने")


def excerpt(engine: Extractive, title: str, content: str, language: str = "en") -> str:
    return engine.write(read_post(title, content, language)).excerpt


@pytest.mark.parametrize(
    ("language", "greeting", "content"),
    [
        (
            "en",
            "Hi friends! Welcome back to the blog. If you’re new here, I’m Jenny, and I bake a lot of bread. Today I’m"
            " talking about sourdough mistakes.",
            "Cold water slows the fermentation of a sourdough down. An underproofed loaf is dense at the bottom. The"
            " crumb of a sourdough sets as it cools.",
        ),
        (
            "es",
            "¡Hola a todos! Bienvenidos un día más al blog. Hoy os traigo un post muy pedido sobre las plantas.",
            "Regar las plantas antes de irse no basta. Una maceta pequeña se seca en tres días de agosto. La sombra"
            " mantiene la humedad de las plantas.",
        ),
        (
            "de",
            "Hallo ihr Lieben! Willkommen auf meinem Blog über Pflanzen. Heute zeige ich euch meine liebsten Pflanzen.",
            "Pflanzen vor dem Urlaub zu gießen reicht nicht. Ein kleiner Topf trocknet im August in drei Tagen aus. Im"
            " Schatten bleiben die Pflanzen feucht.",
        ),
    ],
    ids=["en", "es", "de"],
)
def test_greetings_are_no_excerpt(language: str, greeting: str, content: str, engine: Extractive) -> None:
    made = excerpt(
        engine, "Sourdough" if language == "en" else "Plantas, Pflanzen", f"{greeting}\n\n{content}", language
    )
    assert made.startswith(content.partition(". ")[0])


def test_thanks_alone_say_less_than_the_title(engine: Extractive) -> None:
    made = excerpt(engine, "Release notes: 2.4", "- Dark mode\n- OAuth\n\nThanks to all contributors: @anna, @ben.")
    assert made.startswith("Release notes: 2.4")


@pytest.mark.parametrize(
    ("title", "content", "start"),
    [
        (
            "The History of the Bicycle in Ten Objects",
            "The first bicycle had no pedals. Karl Drais built his running machine in 1817, after an eruption had "
            "ruined the harvest and horses were too expensive to feed.\n\nPedals came in the 1860s, on the wheel. "
            "To go faster, makers made that wheel bigger, and the penny-farthing was born. Falls were frequent.\n\n"
            "Today the electric motor is changing the bicycle again.",
            "The first bicycle had no pedals.",
        ),
        (
            "Running a Bookstore",
            "Q: Why did you open a bookstore?\n\nA: Because nobody would hire me. I had been a librarian for twenty "
            "years, and the library closed.\n\nQ: Is it profitable?\n\nA: Barely. Bookstores live on recommendations.",
            "I had been a librarian for twenty years",
        ),
        (
            "How to Write a Newsletter",
            "A newsletter needs a subject line that promises one thing. Most subscribers read it on a phone.\n\nWrite "
            "the newsletter to one person. Send it on the same day each week, and subscribers will wait for it.",
            "A newsletter needs a subject line",
        ),
        (
            "Tomatoes on a Balcony",
            "Have you ever tasted a tomato that was still warm from the sun? You don't need a garden for that.\n\nA "
            "balcony with six hours of sun is enough for four tomato plants. Choose compact varieties, because tall "
            "vines need stakes.",
            "A balcony with six hours of sun",
        ),
    ],
    ids=["opening", "interview", "newsletter", "answer"],
)
def test_an_excerpt_begins_with_the_first_sentence_that_stands_alone(
    title: str, content: str, start: str, engine: Extractive
) -> None:
    made = excerpt(engine, title, content)
    assert made.startswith(start)
    assert "Q:" not in made


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        (
            "en",
            "Dahlias take an English winter personally, and have to come in.",
            "As I said in my last post, they are fun.",
        ),
        (
            "en",
            "Dahlias take an English winter personally, and have to come in.",
            "The damn dahlias are heavy this year.",
        ),
        (
            "de",
            "Dahlien nehmen den Winter persönlich und müssen ins Haus.",
            "Wie im letzten Beitrag erwähnt, blühen sie.",
        ),
    ],
)
def test_no_second_sentence_starts_from_elsewhere(language: str, first: str, second: str, engine: Extractive) -> None:
    rest = {"en": "Tubers sleep in a cellar until April.", "de": "Die Knollen schlafen im Keller bis April."}
    content = f"{first} {second}\n\n" + "\n\n".join([rest.get(language, first.replace("dalia", "rosa"))] * 4)
    made = excerpt(engine, "Dahlias", content, language)
    assert made.startswith(first)
    assert second not in made


def test_a_recipe_is_told_by_its_introduction(engine: Extractive) -> None:
    content = (
        "<p>The soup of my grandmother had three secrets: vinegar, gravy and time.</p><h2>Ingredients</h2>"
        "<ul><li>Lentils</li></ul><h2>Instructions</h2><ol><li>Chop the onions for the soup and fry them.</li>"
        "<li>Add the lentils of the soup and cook them for 45 minutes.</li></ol>"
        "<p>Step 3: Season the soup with vinegar.</p>"
    )
    made = excerpt(engine, "Lentil soup", content)
    assert made == "The soup of my grandmother had three secrets: vinegar, gravy and time."


@pytest.mark.parametrize("title", ["Why I Stopped", "On letting go", "Q3", "Kahve", "?", "Über das Warten"])
def test_a_title_that_says_little_is_not_explained(title: str, engine: Extractive) -> None:
    made = engine.write(read_post(title, None, "en"))
    assert made.category_confidence < 0.5
    assert title in made.excerpt
    assert "about" not in made.excerpt
