"""A text that is too long for its route, and the route that takes it."""

import pytest

from capabilities.speech.kinds.fields import TextTooLong
from capabilities.speech.kinds.speech import Speech, SpeechRequest
from pipeline.offers.offers import Offers


@pytest.mark.parametrize(
    ("length", "remedy"), [(10_001, "Use /tts/batch"), (20_001, "Use /tts/stream"), (50_001, "Split the text")]
)
def test_a_text_that_is_too_long_is_told_a_route_that_takes_it(length: int, remedy: str) -> None:
    with pytest.raises(TextTooLong, match=remedy):
        Speech().check(SpeechRequest(text="x" * length), Offers())
