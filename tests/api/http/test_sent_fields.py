"""Fields that a model lacks are named by their path, once for all entries of a list."""

from typing import Any

import pytest
from pydantic import AliasChoices, BaseModel, Field

from api.http.bodies.sent_fields import MAX_PATHS, paths_of, unknown


class Voice(BaseModel):
    name: str
    speed: float = 1


class Said(BaseModel):
    voice: str | Voice
    parts: list[Voice] = []
    labels: dict[str, Voice] = {}
    text: str = Field("", validation_alias=AliasChoices("text", "input"))


@pytest.mark.parametrize(
    ("sent", "named"),
    [
        ({"voice": "Heart", "input": "hi"}, set()),
        ({"voice": {"name": "Heart", "spede": 2}}, {"voice.spede"}),
        ({"parts": [{"name": "a"}, {"name": "b", "pitch": {"of": 1}}]}, {"parts.pitch"}),
        ({"labels": {"anything": {"name": "a"}}}, set()),
        ({"txet": {"voice": 1}}, {"txet"}),
        ({"text": {"a": 1}}, set()),
    ],
)
def test_fields_that_a_model_lacks_are_named(sent: dict[str, Any], named: set[str]) -> None:
    assert {unknown(path, Said) for path in paths_of(sent)} - {None} == named


def test_a_body_of_a_million_names_costs_no_more_than_one_of_a_thousand() -> None:
    assert len(paths_of({str(number): {} for number in range(2 * MAX_PATHS)})) == MAX_PATHS
