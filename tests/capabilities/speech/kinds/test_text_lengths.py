"""A text that is too long for its route, what a text costs, and the bounds and defaults of the fields beside it."""

from datetime import timedelta

import pytest
from pydantic import ValidationError

from capabilities.audiobooks.kinds.audiobook import Audiobook
from capabilities.speech.kinds.batch import SpeechBatch, SpeechBatchRequest
from capabilities.speech.kinds.fields import SpokenRequest, TextTooLong
from capabilities.speech.kinds.music import SpeechWithMusic, SpeechWithMusicRequest
from capabilities.speech.kinds.speech import Speech, SpeechRequest
from capabilities.speech.kinds.stream import SpeechStream, SpeechStreamRequest
from pipeline.kind import AnyKind
from pipeline.offers.offers import Offers
from workers.media.audio.encoding import encoded_stream


@pytest.mark.parametrize(
    ("length", "remedy"), [(10_001, "Use /tts/batch"), (20_001, "Use /tts/stream"), (50_001, "Split the text")]
)
def test_a_text_that_is_too_long_is_told_a_route_that_takes_it(length: int, remedy: str) -> None:
    with pytest.raises(TextTooLong, match=remedy):
        Speech().check(SpeechRequest(text="x" * length), Offers())


@pytest.mark.parametrize(("length", "credits"), [(1, 1), (1_000, 1), (1_001, 2), (5_000, 5), (20_000, 20)])
def test_each_started_thousand_characters_cost_a_credit_and_music_one_more(length: int, credits: int) -> None:
    text = "x" * length

    assert [item.price for item in Speech().items(SpeechRequest(text=text))] == [credits]
    assert [item.price for item in SpeechWithMusic().items(SpeechWithMusicRequest(text=text))] == [credits + 1]


@pytest.mark.parametrize("kind", [Speech(), SpeechBatch(), SpeechStream(), SpeechWithMusic(), Audiobook()])
def test_a_voice_as_slow_as_people_may_speak_the_longest_text_and_a_hung_one_ends(kind: AnyKind) -> None:
    assert min(kind.limits.run, encoded_stream.TIME_LIMIT) > timedelta(seconds=50_000 / 10)
    assert kind.limits.stall == timedelta(minutes=10)


@pytest.mark.parametrize(
    ("request_of", "field", "default", "least", "most"),
    [
        (SpeechRequest, "speed", 1.0, 0.25, 4.0),
        (SpeechRequest, "pitch", 0.0, -20, 20),
        (SpeechRequest, "volume_gain_db", 0.0, -96, 16),
        (SpeechBatchRequest, "pause_duration", 800, 0, 10_000),
        (SpeechStreamRequest, "chunk_size", 200, 50, 1_000),
        (SpeechWithMusicRequest, "music_volume", -20, -60, 0),
        (SpeechWithMusicRequest, "fade_duration", 2_000, 0, 10_000),
    ],
)
def test_a_field_takes_its_bounds_and_nothing_past_them(
    request_of: type[SpokenRequest], field: str, default: float, least: float, most: float
) -> None:
    def read(**fields: float) -> object:
        return getattr(request_of.model_validate({"text": "hi", **fields}), field)

    past = 1 if field == "chunk_size" else 0.01
    assert (read(), read(**{field: least}), read(**{field: most})) == (default, least, most)
    for wrong in (least - past, most + past):
        with pytest.raises(ValidationError):
            read(**{field: wrong})
