"""Decoding: every usual format, and nothing that only looks like one; nothing else is opened."""

import socket
import struct
import tempfile
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from sound import file_of

from workers.engines import Stopped
from workers.media.audio.decoding import AudioTooLong, AudioUndecodable, _decode, decode
from workers.media.audio.ffmpeg import Ffmpeg
from workers.media.audio.sniffing import is_cut_short
from workers.media.audio.track import Track

RATE = 22_050
HOUR = timedelta(hours=1)

#: File ending: options of its encoder.
FORMATS = {
    "mp3": [], "wav": [], "ogg": [], "opus": [], "flac": [], "m4a": [], "mp4": ["-c:a", "aac"], "mov": ["-c:a", "alac"],
    "aac": [], "webm": [], "mkv": [], "aiff": [], "wma": [], "ac3": [], "eac3": [], "caf": [], "w64": [], "au": [],
    "wv": [], "mp2": [], "ts": ["-c:a", "mp2"], "m2ts": ["-c:a", "ac3"], "flv": ["-c:a", "libmp3lame"], "mpg": [],
    "vob": ["-c:a", "ac3"], "avi": ["-c:a", "libmp3lame"], "amr": ["-ar", "8000", "-ac", "1"],
    "dts.mkv": ["-c:a", "dca", "-strict", "-2", "-ar", "48000"], "nellymoser.flv": ["-c:a", "nellymoser"],
    "truehd.mkv": ["-c:a", "truehd", "-strict", "-2", "-ar", "48000"],
}  # fmt: skip


def encoded(ffmpeg: Ffmpeg, samples: bytes, ending: str, *options: str) -> bytes:
    """Return one second or so of tone, in a format."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as source:
        source.write(samples)
        source.seek(0)
        raw = ["-f", "s16le", "-ar", str(RATE), "-ac", "1", "-i", "fd:"]
        with ffmpeg.start(
            [*raw, *options, f"{folder}/sound.{ending}"], stdin=source, stdout=-3, time_limit=timedelta(seconds=60)
        ) as run:
            run.check()
        return Path(f"{folder}/sound.{ending}").read_bytes()


@pytest.fixture(scope="module")
def tone() -> bytes:
    """1.5 s of 440 Hz."""
    return np.rint(10_000 * np.sin(2 * np.pi * 440 * np.arange(RATE * 3 // 2) / RATE)).astype("<i2").tobytes()


def heard(ffmpeg: Ffmpeg, upload: bytes, max_duration: timedelta = HOUR) -> np.ndarray:
    with file_of(upload) as file, decode(ffmpeg, file, sample_rate=44_100, max_duration=max_duration) as track:
        return track.read(0, len(track)) / 32_767


@pytest.mark.parametrize("ending", FORMATS)
def test_the_usual_formats_are_decoded(ffmpeg, tone, ending):
    samples = heard(ffmpeg, encoded(ffmpeg, tone, ending, *FORMATS[ending]))

    assert len(samples) == pytest.approx(1.5 * 44_100, rel=0.08)
    spectrum = np.abs(np.fft.rfft(samples[20_000:42_050]))
    assert spectrum.argmax() * 2 == pytest.approx(440, abs=3)
    assert np.abs(samples[20_000:42_050]).max() == pytest.approx(10_000 / 32_767, rel=0.2)


def test_tags_junk_and_an_open_file_are_no_obstacle(ffmpeg, tone, tmp_path):
    mp3 = encoded(ffmpeg, tone, "mp3", "-id3v2_version", "0")
    picture = b"ID3\x04\x00\x00" + bytes([0, 6, 0, 0]) + b"\0" * (6 << 14)
    (tmp_path / "sound").write_bytes(picture + mp3)

    assert len(heard(ffmpeg, b"junk" * 100 + mp3)) > 60_000
    assert len(heard(ffmpeg, picture * 3 + mp3)) > 60_000
    with (tmp_path / "sound").open("rb") as file, decode(ffmpeg, file, sample_rate=RATE, max_duration=HOUR) as track:
        assert track.duration.total_seconds() == pytest.approx(1.5, abs=0.1)


@pytest.mark.parametrize(
    ("ending", "options"),
    [("mkv", ["-c:v", "mpeg4"]), ("ts", ["-c:v", "libx264", "-c:a", "aac"]),
     ("ts", ["-c:v", "mpeg2video", "-c:a", "aac", "-mpegts_flags", "latm"])],
)  # fmt: skip
def test_a_film_gives_its_sound_and_its_picture_is_not_decoded(ffmpeg, tone, ending, options):
    picture = ["-f", "lavfi", "-i", "testsrc=d=1", "-map", "0:a", "-map", "1:v"]
    film = encoded(ffmpeg, tone, ending, *picture, *options)

    assert len(heard(ffmpeg, film)) > 60_000


@pytest.mark.parametrize(
    "upload",
    [
        b"", b"\0" * 1_000, b"RIFF", b"RIFF\x10\0\0\0WAVE", b"OggS" + b"\0" * 500, b"fLaC" + b"\xff" * 500, b"ID3",
        b"ID3\x04\0\0\x7f\x7f\x7f\x7f", b"\0\0\0\x18ftypisom" + b"\0" * 500, b"\x1a\x45\xdf\xa3" + b"\0" * 99, b"hello",
        b"<svg xmlns='x'/>", b"\x89PNG\r\n\x1a\n" + b"\0" * 500, b"%PDF-1.7", b"GIF89a", b"\xff\xfb\x90\x00",
        b"\xff" * 70_000, b"\0\0\0\x08moov", b"caff\x00\x01\0\0" * 9,
    ],
    ids=lambda upload: repr(upload[:8]),
)  # fmt: skip
def test_what_is_no_audio_is_refused(ffmpeg, upload):
    with pytest.raises(AudioUndecodable) as raised:
        heard(ffmpeg, upload)
    assert raised.value.code == "audio_undecodable"


@pytest.mark.parametrize("ending", ["mp3", "ogg", "flac", "wav", "webm"])
def test_a_file_that_is_cut_short_gives_what_there_is_and_a_wav_or_mp3_is_known_to_be(ffmpeg, tone, ending):
    whole = encoded(ffmpeg, tone * 10, ending)
    part = whole[: len(whole) * 2 // 3]

    assert 15 * 44_100 // 3 < len(heard(ffmpeg, part)) < 14 * 44_100
    for content, is_short in ((whole, False), (part, ending in ("mp3", "wav"))):
        with file_of(content) as file:
            assert is_cut_short(file, ending) == is_short


def wav(samples: bytes, *, rate: int = RATE, claimed: int | None = None) -> bytes:
    size = len(samples) if claimed is None else claimed
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate * 2 & 0xFFFFFFFF, 2, 16)
    return (
        struct.pack("<4sI4s", b"RIFF", 36 + size & 0xFFFFFFFF, b"WAVE")
        + form
        + struct.pack("<4sI", b"data", size)
        + samples
    )


@pytest.mark.parametrize("claimed", [0, 0x7FFFFFFF, 0xFFFFFFFF])
def test_the_length_is_that_of_the_samples_whatever_the_header_says(ffmpeg, tone, claimed):
    assert len(heard(ffmpeg, wav(tone, claimed=claimed))) == pytest.approx(1.5 * 44_100, rel=0.01)
    with file_of(wav(tone, claimed=claimed)) as file:
        assert not is_cut_short(file, "wav")


@pytest.mark.parametrize("rate", [0, 1, 7, 2**31, 2**32 - 1])
def test_absurd_sample_rates_are_refused_or_bounded(ffmpeg, tone, rate):
    with pytest.raises((AudioUndecodable, AudioTooLong)) as raised:
        heard(ffmpeg, wav(tone, rate=rate), timedelta(minutes=10))
    assert "within" not in raised.value.message  # the three minutes that it would have


def test_of_months_of_silence_in_a_small_file_little_more_than_the_longest_is_decoded(ffmpeg, monkeypatch):
    flac = encoded(ffmpeg, bytes(2 * RATE * 60 * 20), "flac")
    assert len(flac) < 500_000
    decoded: list[float] = []

    def note(track: Track) -> None:
        decoded.append(track.duration.total_seconds())
        track.file.close()

    monkeypatch.setattr(Track, "close", note)

    with pytest.raises(AudioTooLong, match="10 minutes") as raised:
        heard(ffmpeg, flac, timedelta(minutes=10))

    assert raised.value.code == "audio_too_long"
    assert decoded == [pytest.approx(600, abs=2)]


def test_a_decoder_that_hangs_is_ended(ffmpeg):
    flac = encoded(ffmpeg, bytes(2 * RATE * 60 * 20), "flac")

    with file_of(flac) as file, pytest.raises(AudioUndecodable, match="within 0 s"):
        decode(ffmpeg, file, sample_rate=192_000, max_duration=HOUR, time_limit=timedelta(seconds=0.02))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
def test_a_full_disk_is_not_the_fault_of_the_file(ffmpeg, tone):
    with file_of(wav(tone)) as file, Track(RATE) as track, Path("/dev/full").open("wb", buffering=0) as full:
        track.file.close()
        track.file = full

        with pytest.raises(OSError, match="No space left"):
            _decode(ffmpeg, file, "wav", track, HOUR, timedelta(seconds=60))


def test_decoding_ends_as_soon_as_nobody_wants_it(ffmpeg, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    flac = encoded(ffmpeg, bytes(2 * RATE * 60 * 20), "flac")
    looks = iter([False, True])

    with file_of(flac) as file, pytest.raises(Stopped):
        decode(ffmpeg, file, sample_rate=192_000, max_duration=HOUR, stop=lambda: next(looks))

    assert list(looks) == []


# What makes ffmpeg open other files and hosts.


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.3)
        yield server


def scripts(url: str, path: str) -> dict[str, bytes]:
    return {
        "hls": f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{url}\n#EXTINF:9,\n{path}\n#EXT-X-ENDLIST\n".encode(),
        "concat": f"ffconcat version 1.0\nfile '{path}'\nfile '{url}'\n".encode(),
        "sdp": b"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n",
        "dash": f"<MPD><Period><AdaptationSet><BaseURL>{url}</BaseURL></AdaptationSet></Period></MPD>".encode(),
        "imf": f"<CompositionPlaylist>{url}</CompositionPlaylist>".encode(),
    }  # fmt: skip


@pytest.mark.parametrize("script", ["hls", "concat", "sdp", "dash", "imf"])
@pytest.mark.parametrize("disguise", ["none", "tag", "ogg"])
def test_scripts_are_refused_and_nothing_that_they_name_is_opened(ffmpeg, tone, tmp_path, listener, script, disguise):
    canary = tmp_path / "canary.wav"
    canary.write_bytes(wav(tone))
    text = scripts(f"http://127.0.0.1:{listener.getsockname()[1]}/x.mp3", str(canary))[script]
    upload = {"none": b"", "tag": b"ID3\x04\0\0\0\0\0\0", "ogg": b"OggS"}[disguise] + text

    with pytest.raises(AudioUndecodable):
        heard(ffmpeg, upload)
    with pytest.raises(TimeoutError):
        listener.accept()


@pytest.mark.parametrize("script", ["hls", "concat", "sdp", "dash"])
def test_not_even_a_script_that_passed_for_audio_reaches_anything(ffmpeg, tone, tmp_path, listener, script):
    canary = tmp_path / "canary.wav"
    canary.write_bytes(wav(tone))
    text = scripts(f"http://127.0.0.1:{listener.getsockname()[1]}/x.mp3", str(canary))[script]

    with file_of(text) as file, Track(RATE) as track:
        with pytest.raises(AudioUndecodable):
            _decode(ffmpeg, file, script, track, HOUR, timedelta(seconds=20))
        assert len(track) == 0
    with pytest.raises(TimeoutError):
        listener.accept()
