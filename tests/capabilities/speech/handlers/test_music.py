"""Music under a recording: how long that may be."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from capabilities.speech.handlers.music import AddMusicHandler
from capabilities.speech.kinds.music import AddMusicRequest
from capabilities.speech.settings import SynthesisSettings
from pipeline.settings import Settings
from workers.engines import never
from workers.engines.resources import Resources
from workers.media.audio.decoding import AudioTooLong
from workers.media.audio.pcm import Pcm, encode_wav


def test_a_recording_over_the_limit_is_refused_with_its_field(tmp_path: Path) -> None:
    assert Settings().of(SynthesisSettings).max_recording_minutes == 60
    handler = AddMusicHandler(Resources(Settings(synthesis={"max_recording_minutes": 1})))
    handler.setup()
    wav = tmp_path / "long.wav"
    wav.write_bytes(encode_wav(Pcm(bytes(2 * 8_000 * 61), 8_000)))
    task: Any = SimpleNamespace(input=AddMusicRequest(), is_stopped=never, upload=lambda _: wav.open("rb"))

    with pytest.raises(AudioTooLong) as refused:
        handler.carry_out(task)

    assert refused.value.details["field"] == "audio"
