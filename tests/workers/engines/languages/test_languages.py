"""A post is written of in the language and the script that it is in."""

import pytest
from examples.posts import POSTS

from capabilities.blog.engines.metadata.extractive.extractive import Extractive
from capabilities.blog.engines.metadata.plain import read_post
from workers.engines.languages.languages import evident_language


def test_the_language_of_the_content_wins_over_the_one_asked_for(engine: Extractive) -> None:
    german = next(post for post in POSTS if post.language == "de" and post.content)
    asked = engine.write(read_post(german.title, german.content, "en"))
    assert asked == engine.write(read_post(german.title, german.content, "de"))


def test_a_post_in_traditional_characters_gets_its_texts_in_them(engine: Extractive) -> None:
    made = engine.write(read_post("如何寫好一份履歷", None, "zh"))
    assert made.excerpt == "如何寫好一份履歷。一篇為您介紹職場相關內容的文章。"
    assert made.tags == ("履歷", "職場", "博客", "博客文章", "文章")


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
