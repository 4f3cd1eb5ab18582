"""Posts are sorted into the category that their words speak for."""

import pytest

from capabilities.blog.engines.metadata.extractive.extractive import Extractive
from capabilities.blog.engines.metadata.plain import read_post


@pytest.mark.parametrize(
    ("title", "language"),
    [
        *(
            ("A Question, and Three Examples", "en"),
            ("Why I Am So Tired", "en"),
            ("Hundert Seiten, trotzdem gut", "de"),
        ),
        *(("Was Anfänger wissen sollten", "de"), ("Sempre più semplice: una guida generale", "it")),
        *(("Un noviembre especial", "es"), ("Un groupe, un accord, une hypothèse", "fr"), ("Pelo contrário", "pt")),
        *(("Почему это долго", "ru"), ("The Surface of the Court Order", "en")),
    ],
)
def test_a_word_that_only_begins_like_another_sorts_no_post(title: str, language: str, engine: Extractive) -> None:
    assert engine.write(read_post(title, None, language)).category in ("General", "Politics & Society"), title


def test_a_word_in_passing_sorts_no_post(engine: Extractive) -> None:
    made = engine.write(read_post("We Have Moved", "We moved. Come and see us. There is coffee.", "en"))
    assert made.category == "General"


def test_a_post_that_says_nothing_is_general(engine: Extractive) -> None:
    made = engine.write(read_post("Hello world", "Qwrtz plmkn.", "en"))
    assert made.category == "General"
    assert made.excerpt == "A blog post titled “Hello world”."
    assert made.category_confidence == 0


def test_a_word_of_another_language_that_is_a_short_english_one_sorts_no_post(engine: Extractive) -> None:
    assert engine.write(read_post("Iso lumiukko", None, "fi")).category == "General"


@pytest.mark.parametrize(
    ("title", "language", "category"),
    [
        *(("טיול לאיטליה", "he", "Travel"), ("कुत्ता पालने के सुझाव", "hi", "Pets"), ("กาแฟ", "th", "Food & Recipes")),
        *(("Le télétravail à la campagne", "fr", "Careers"), ("Sauerkraut selber machen", "de", "Food & Recipes")),
        *(("Our New Office", "en", "Business"), ("Umzug", "de", "Home & Garden"), ("Mes déchets", "fr", "Environment")),
        *(("أفضل المطاعم في مدينة فاس", "ar", "Food & Recipes"), ("はじめての確定申告", "ja", "Finance")),
        *(("二手车选购指南", "zh", "Automotive"), ("Restaurare una vecchia sedia", "it", "DIY & Crafts")),
        *(("Tips and Ideas for a Small Dog", "en", "Pets"), ("Waarom mijn hond blaft", "nl", "Pets")),
        *(("Jak oszczędzać na emeryturę", "pl", "Finance"), ("İstanbul'da gezilecek yerler", "tr", "Travel")),
        *(("10 Things I Wish I Knew Before Buying My First House", "en", "Real Estate"),),
        *(("How to Remove Coffee Stains from a Carpet", "en", "Home & Garden"),),
        *(
            ("Cold Email Templates That Get Replies", "en", "Marketing"),
            ("Old Windows of a House", "en", "Home & Garden"),
        ),
        *(("Lentejas con chorizo", "es", "Food & Recipes"), ("Qué es un agujero negro", "es", "Science")),
        *(("Rompre sans se déchirer", "fr", "Relationships"), ("Soulager une migraine", "fr", "Health & Wellness")),
        *(("Roadtrip durch Portugal", "de", "Travel"), ("Nagellack richtig auftragen", "de", "Beauty")),
        *(("Como pedir aumento", "pt", "Careers"), ("Troca de óleo: quando fazer", "pt", "Automotive")),
        *(("Mal di testa: i rimedi", "it", "Health & Wellness"), ("Le Dolomiti e i loro rifugi", "it", "Travel")),
        *(("Tio tips för bättre sömn", "sv", "Health & Wellness"), ("Як зварити борщ", "uk", "Food & Recipes")),
        *(("Cara merawat anak kucing", "id", "Pets"), ("Du lịch Đà Nẵng tự túc", "vi", "Travel")),
        *(("比特幣還能買嗎？", "zh", "Finance"), ("京都三日遊", "zh-Hant", "Travel")),
        # A phrase may have any ending, too.
        *(("Are Credit Cards Evil?", "en", "Finance"), ("Landing Pages That Sell", "en", "Marketing")),
        # The last part of a joined word names the thing.
        *(("Linsensuppe für alle", "de", "Food & Recipes"), ("Rückentraining", "de", "Sports & Fitness")),
        *(("Warum unser Kindergarten kein Spielzeug hat", "de", "Parenting & Family"),),
        # A place says less than a subject, and these say nothing.
        *(("Jazz in New York", "en", "Music"), ("The London Mayor", "en", "Politics & Society")),
        *(("El Real Madrid gana en casa", "es", "Sports & Fitness"),),
        *(("We Hit 10k Followers", "en", "Marketing"), ("A Talk with My Boss", "en", "General")),
    ],
)
def test_a_title_alone_is_sorted_in_its_language(title: str, language: str, category: str, engine: Extractive) -> None:
    assert engine.write(read_post(title, None, language)).category == category


def test_a_category_that_one_alone_speaks_for_is_surer_than_one_of_two(engine: Extractive) -> None:
    alone, torn = (
        engine.write(read_post(title, None, "en"))
        for title in ("A recipe for lentil soup", "A week in Lisbon with two toddlers")
    )
    assert alone.category == "Food & Recipes"
    assert alone.category_confidence > 0.6 > torn.category_confidence > 0


def test_what_a_post_opens_with_weighs_more_than_its_end(engine: Extractive) -> None:
    begins, ends = "The dog barks at the cat. ", "We cooked a soup. "
    filling = "Nothing else of note was said by anybody on that long and quiet evening. " * 12
    assert engine.write(read_post("An evening", begins + filling + ends, "en")).category == "Pets"


@pytest.mark.parametrize(
    ("title", "content", "language", "category"),
    [
        (
            "Three days in Lisbon",
            "The tram climbs to Alfama, and the view from the castle is worth the queue. We ate grilled sardines with "
            "bread, then custard tarts. In Belém the restaurant served soup and rice.",
            *("en", "Travel"),
        ),
        (
            "Remembering Mr Bell",
            "Mr Bell passed away in his sleep. He played football as a boy, and coached an athletics team.",
            *("en", "General"),
        ),
    ],
)
def test_a_title_decides_where_a_text_tells_of_meals_or_of_a_life(
    title: str, content: str, language: str, category: str, engine: Extractive
) -> None:
    assert engine.write(read_post(title, content, language)).category == category
