"""A post is written of in the language and the script that it is in."""

from examples.posts import POSTS

from capabilities.blog.engines.metadata.extractive.extractive import Extractive
from capabilities.blog.engines.metadata.plain import read_post


def test_the_language_of_the_content_wins_over_the_one_asked_for(engine: Extractive) -> None:
    german = next(post for post in POSTS if post.language == "de" and post.content)
    asked = engine.write(read_post(german.title, german.content, "en"))
    assert asked == engine.write(read_post(german.title, german.content, "de"))


def test_a_post_in_traditional_characters_gets_its_texts_in_them(engine: Extractive) -> None:
    made = engine.write(read_post("如何寫好一份履歷", None, "zh"))
    assert made.excerpt == "如何寫好一份履歷。一篇為您介紹職場相關內容的文章。"
    assert made.tags == ("履歷", "職場", "博客", "博客文章", "文章")
