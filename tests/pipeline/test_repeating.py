"""Which items can be carried out a second time: not those whose files are gone, nor those that can't be at all."""

from typing import Any

import pytest

from pipeline.registry import load_kinds
from pipeline.settings import Settings

KINDS = load_kinds(Settings())


@pytest.mark.parametrize(
    ("kind", "stored", "can_be"),
    [
        ("speech", {"text": "upload:me"}, True),
        ("alt_text", {"image_url": "https://example.org/a.jpg"}, True),
        ("alt_text", {"image_url": "upload:image"}, False),
        ("alt_text_batch", {"image_url": "https://example.org/a.jpg"}, True),
        ("transcription", {"language": "en"}, False),
        ("add_music", {}, False),
        ("index_check", {"url": "https://example.org/"}, True),
        ("index_check", {"url": "x y", "fault": "It has a space."}, False),
    ],
)
def test_an_item_can_be_repeated_if_all_of_it_is_still_there(kind: str, stored: dict[str, Any], can_be: bool) -> None:
    assert KINDS[kind].can_repeat(stored) is can_be


def test_each_picture_of_a_batch_counts_again_and_anything_else_once() -> None:
    assert {name: kind.counts_again(7) for name, kind in KINDS.items() if kind.counts_again(7) != 1} == {
        "alt_text_batch": 7
    }


def test_kinds_name_fields_that_their_items_have() -> None:
    named = {name: kind.subject for name, kind in KINDS.items() if kind.subject is not None}
    assert len(named) >= 6
    for name, field in named.items():
        assert field in KINDS[name].input.model_fields
