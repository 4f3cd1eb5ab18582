"""llama: the real engine and its child process, on models with random weights of one megabyte."""

from collections.abc import Iterator

import pytest
from drawn_pictures import banner, photo, picture_of
from tiny_gguf import build_gguf

from capabilities.alt_text.engines import MODES, CaptionRequest
from capabilities.alt_text.engines.llama import Llama
from capabilities.alt_text.engines.text.shaping import LIMITS
from capabilities.alt_text.settings import CaptioningSettings

PICTURES = [picture_of(draw()) for draw in (banner, photo)]


@pytest.fixture(scope="module", params=["qwen3vl", "llama"])
def llama(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Llama]:
    folder = build_gguf(tmp_path_factory.mktemp(request.param), request.param)
    engine = Llama(CaptioningSettings(llama={"model": str(folder)}))
    assert engine.readiness() is None
    engine.setup()
    yield engine
    engine.server.stop()


def test_three_texts_of_a_picture_come_in_one_answer_and_keep_their_limits(llama: Llama) -> None:
    first, second = llama.caption([CaptionRequest(picture, MODES, "en") for picture in PICTURES])

    for mode in MODES:
        assert 0 < len(first[mode].text) <= LIMITS[mode]
        assert 0 < first[mode].confidence < 1
        assert first[mode] != second[mode]
