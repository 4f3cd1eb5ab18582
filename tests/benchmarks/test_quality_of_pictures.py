"""What `make quality` says of pictures, on the engine that is always there."""

import pytest

from benchmarks.quality.drawing import drawn_pictures
from benchmarks.quality.pictures import Judged, judge_caption, judge_pictures
from capabilities.alt_text.engines import Caption
from capabilities.alt_text.engines.basic.basic import Basic


@pytest.fixture(scope="module")
def judged() -> list[Judged]:
    return list(judge_pictures(Basic(), every=4))


def test_basic_claims_nothing_false(judged: list[Judged]) -> None:
    assert {one.drawn.name: one.false for one in judged if one.false} == {}


def test_basic_finds_most_of_what_is_written_and_gives_the_rest_away(judged: list[Judged]) -> None:
    paid = [one for one in judged if not one.is_draft]

    assert len(paid) >= len(judged) / 3
    assert sum(len(one.missed) for one in paid) <= sum(len(one.drawn.facts) for one in paid) / 3
    assert all(one.confidence <= 0.5 for one in judged if one.is_draft)


@pytest.mark.parametrize(
    ("text", "false"),
    [
        ("A banner titled “Winter sale”", "Winter sale"), ("Photo of a banner", "photo"),
        ("<b>Summer sale</b>", "markup"),
        ("A banner with “Summer sale: 50 % off”", ""),
    ],
)  # fmt: skip
def test_what_is_not_there_is_a_false_claim(text: str, false: str) -> None:
    banner = next(drawn_pictures())

    found = judge_caption(banner, Caption(text, 0.5), 0.1).false

    assert (false in found[0]) if false else not found
