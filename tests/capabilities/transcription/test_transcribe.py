"""Transcribe: what the command refuses before anything is sent."""

from pathlib import Path

import pytest
from spoken import encoded, samples_of

from capabilities.transcription.commands import _check, _convert
from pipeline.errors import InvalidRequest


def test_no_text_overwrites_a_recording(tmp_path: Path) -> None:
    recording = tmp_path / "talk.txt"
    recording.write_bytes(b"RIFF")

    with pytest.raises(InvalidRequest, match=r"would overwrite .*talk\.txt"):
        _check({recording: recording}, overwrite=True)
    (tmp_path / "talk.mp3").write_bytes(b"ID3")
    with pytest.raises(InvalidRequest, match=r"would overwrite .*talk\.txt"):
        _check({tmp_path / "talk.mp3": recording, recording: tmp_path / "out" / "talk.txt"}, overwrite=True)
    _check({recording: tmp_path / "out" / "talk.txt"}, overwrite=False)

    with pytest.raises(InvalidRequest, match="no file"):
        _check({tmp_path / "none.wav": tmp_path / "none.txt"}, overwrite=False)


def test_a_text_that_somebody_may_have_worked_on_is_not_overwritten_unless_told(tmp_path: Path) -> None:
    recording, text = tmp_path / "interview.mp3", tmp_path / "interview.srt"
    recording.write_bytes(b"ID3")
    text.write_text("corrected by hand")

    with pytest.raises(InvalidRequest, match=r"interview\.srt exists already.*--overwrite"):
        _check({recording: text}, overwrite=False)
    _check({recording: text}, overwrite=True)


def test_a_large_recording_is_sent_as_a_much_smaller_one_and_what_is_no_sound_as_it_is(tmp_path: Path) -> None:
    large, text = tmp_path / "talk.mp3", tmp_path / "talk.txt"
    large.write_bytes(encoded(samples_of("weather"), tmp_path, "mp3", "-b:a", "128k"))
    text.write_text("no sound")

    with (tmp_path / "made").open("w+b") as made:
        assert _convert(large, made)
        assert made.tell() < large.stat().st_size / 3
        made.seek(0)
        assert made.read(4) == b"OggS"
    with (tmp_path / "none").open("w+b") as made:
        assert not _convert(text, made)
