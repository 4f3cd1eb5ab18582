"""Music under a recording: how long that may be, and what its answer warns of."""

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from given_task import GivenTask

from capabilities.speech.handlers.music import MIX, AddMusicHandler, keep_mix
from capabilities.speech.kinds.music import AddMusicRequest
from capabilities.speech.settings import SynthesisSettings
from pipeline.settings import Settings
from workers.engines import never
from workers.engines.resources import Resources
from workers.media.audio.decoding import AudioTooLong
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.audio.mixing import MIX_RATE
from workers.media.audio.pcm import Pcm, encode_wav
from workers.media.audio.track import Track


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


def test_music_that_is_cut_short_is_warned_of_beside_what_the_voice_leaves_out() -> None:
    with Track(MIX_RATE) as speech, Track(MIX_RATE) as music:
        for track in (speech, music):
            track.append_silence(timedelta(seconds=1))
        music.is_cut_short = True
        done = keep_mix(GivenTask(AddMusicRequest()), speech, music, find_ffmpeg(Settings()), made=MIX, warning="A.")

    assert done.output.warning.startswith("A. music: the file ends before its header says")
