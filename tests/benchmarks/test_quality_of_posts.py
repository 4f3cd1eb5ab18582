"""What `make quality` says of posts, on the engine that is always there."""

import pytest

from benchmarks.quality.posts import Expected, Judged, judge, judge_all
from capabilities.blog.engines.metadata import Metadata
from capabilities.blog.engines.metadata.extractive.extractive import Extractive
from capabilities.blog.engines.metadata.plain import read_post
from capabilities.blog.engines.metadata.taxonomy import load_taxonomy


@pytest.fixture(scope="module")
def judged() -> list[Judged]:
    engine = Extractive()
    engine.setup()
    return list(judge_all(engine))


def test_extractive_claims_nothing_false(judged: list[Judged]) -> None:
    assert {post.expected.title: post.false for post in judged if post.false} == {}


def test_extractive_finds_nine_facts_in_ten(judged: list[Judged]) -> None:
    assert sum(post.found for post in judged) >= 0.9 * sum(post.facts for post in judged)


def test_what_is_false_is_counted() -> None:
    expected = Expected("A dog", "en", ["Pets"], ["dog"], ["photo"], ["subscribe"])
    post = read_post("A dog", "A dog sleeps all day, and nobody minds. It is 14 years old.", "en")
    made = Metadata(
        "A dog of 15 years <b>sleeps</b>. Subscribe!",
        "Gaming",
        ("dog", "photo credit", "casino", "img.jpg"),
        category_confidence=0.8,
    )
    found = judge(expected, post, made, load_taxonomy(), 0.1)
    assert found.missed == ["category Pets"]
    assert len(found.false) == 7
    assert (found.found, found.facts) == (2, 3)
