"""The page of examples has each chosen post with its covers and texts."""

import importlib.util
import re
from pathlib import Path

import pytest
from PIL import Image

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def examples() -> object:
    spec = importlib.util.spec_from_file_location("make_examples", DOCS / "make_examples.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_sample_post_is_on_the_page_with_covers_and_texts_within_limits(examples: object) -> None:
    page = (DOCS / "engines.md").read_text("utf-8")
    sections = re.split(r"^### ", page[page.index(examples.START) : page.index(examples.END)], flags=re.MULTILINE)[1:]
    posts = examples.chosen_posts()

    assert [section.splitlines()[0] for section in sections] == [post.title for post in posts]
    for section, post in zip(sections, posts, strict=True):
        (excerpt,) = re.findall(r"^> (.+)$", section, re.MULTILINE)
        (name,) = re.findall(r"\]\(pictures/([a-z0-9-]+\.jpg)\)", section)
        assert section.count(f"`{post.language}`, style") == 1
        assert re.search(r"^!\[[^\]]+[.。]\]\(pictures/", section, re.MULTILINE)
        assert 20 <= len(excerpt) <= 200
        assert 5 <= len(set(re.findall(r"`([^`]+)`", section.split("**")[2]))) <= 8
        with Image.open(DOCS / "pictures" / name) as image:
            assert image.size == (3 * examples.WIDTH + 2 * examples.GAP, examples.HEIGHT)


def test_the_pages_pictures_are_few_and_light(examples: object) -> None:
    pictures = list((DOCS / "pictures").glob("cover-*"))

    assert len(pictures) == len(examples.chosen_posts())
    assert sum(picture.stat().st_size for picture in pictures) < 350_000
