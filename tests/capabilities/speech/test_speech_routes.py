"""The speech routes, as their users have them: a whole system, real HTTP, and the audio measured."""

import io
import json
import re
import subprocess
import sys
import time
import urllib.request
import wave
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from http_service import form
from mp3_files import decoded
from ran import Ran
from systems import Answer, Running
from waiting import files_in, wait_for

from capabilities.speech.engines.espeak.espeak import Espeak
from capabilities.speech.handlers.script import write_script
from capabilities.speech.kinds.stream import SpeechStreamRequest
from capabilities.speech.normalization.sentences import split_text
from pipeline.settings import Settings
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.audio.pcm import encode_wav

pytestmark = pytest.mark.system

FFMPEG = find_ffmpeg(Settings()).path
RATE = 16_000
SENTENCES = "The first sentence is short. Here comes a second one, which is longer! Is this the third? It is the last."


@pytest.fixture(scope="module")
def service(shared_system: Running) -> Running:
    return replace(shared_system)


@pytest.fixture(scope="module")
def music(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds of a chord, as a stranger would send it."""
    file = tmp_path_factory.mktemp("music") / "chord.ogg"
    source = "sine=330:duration=3[a];sine=415:duration=3[b];[a][b]amix"
    subprocess.run([FFMPEG, "-loglevel", "error", "-f", "lavfi", "-i", source, "-ac", "2", str(file)], check=True)
    return file


def left_off(service: Running, kind: str) -> list[str]:
    """Return the metrics' lines of items that a handler has left off; one that spoke on would have counted as done."""
    lines = service.ask("/metrics").body.decode().splitlines()
    return [line for line in lines if "pressroom_items_total{" in line and kind in line and '"release"' in line]


def said_of(audio: bytes, *options: str) -> str:
    """Return what ffmpeg says of audio."""
    ask = [FFMPEG, "-hide_banner", "-i", "pipe:0", *options, "-f", "null", "-"]
    return subprocess.run(ask, input=audio, capture_output=True, check=True).stderr.decode()


def silences(sound: np.ndarray, *, shortest: float) -> list[float]:
    """Return the lengths in seconds of the silences inside a sound, its ends left out."""
    block = RATE // 100
    quiet = np.abs(sound[: len(sound) // block * block].reshape(-1, block)).max(axis=1) < 0.003
    lengths = [len(run) / 100 for run in re.findall(r"1+", "".join("1" if flag else "0" for flag in quiet).strip("1"))]
    return [length for length in lengths if length >= shortest]


def send_form(service: Running, path: str, fields: dict[str, str], files: dict[str, bytes]) -> Answer:
    """Send a form, as a browser does."""
    parts = [(name, value.encode(), None) for name, value in fields.items()]
    return service.post_bytes(path, *form(*parts, *((name, value, f"{name}.bin") for name, value in files.items())))


def test_a_text_is_a_wav_file_whose_header_has_its_real_length(service: Running) -> None:
    answer = service.ask("/tts", {"text": SENTENCES})

    assert (answer.status, answer.headers["Content-Type"]) == (200, "audio/wav")
    assert answer.headers["Content-Disposition"] == "attachment; filename=output.wav"
    with wave.open(io.BytesIO(answer.body)) as file:
        frames, seconds = file.getnframes(), file.getnframes() / file.getframerate()
        assert (file.getnchannels(), file.getsampwidth(), len(file.readframes(frames))) == (1, 2, 2 * frames)
    assert len(decoded(answer.body, RATE)) / RATE == pytest.approx(seconds, abs=0.01)


def test_a_batch_is_one_even_mp3_with_pauses_where_chunks_meet(service: Running, espeak: Espeak) -> None:
    text = " ".join(f"{SENTENCES} This is part {number}." for number in range(6))
    chunks = split_text(text, limit=250, language="en")

    answer = service.ask("/tts/batch", {"text": text, "pause_duration": 1500})

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "audio/mpeg"
    assert answer.headers["Content-Disposition"] == "attachment; filename=chapter.mp3"
    assert answer.headers["X-Credits-Used"] == "1"
    assert (answer.headers["X-Engine"], answer.headers["X-Voice"]) == ("espeak", "en-US")
    said = said_of(answer.body, "-af", "ebur128=peak=true")
    assert "44100 Hz, mono" in said
    assert "192 kb/s" in said
    loudness, peak = re.findall(r"(?:I|Peak):\s+(-?[\d.]+) (?:LUFS|dBFS)", said)[-2:]
    assert abs(float(loudness) + 16) <= 1
    assert float(peak) <= -1
    sound = decoded(answer.body, RATE)
    assert len([length for length in silences(sound, shortest=1.4) if length < 2.4]) == len(chunks) - 1
    spoken = sum(espeak.speak(chunk.strip(), voice="en-US").duration.total_seconds() for chunk in chunks)
    assert len(sound) / RATE == pytest.approx(spoken + 1.5 * (len(chunks) - 1), abs=0.3)


def test_a_batch_that_is_too_long_gets_the_body_that_was_promised(service: Running) -> None:
    answer = service.ask("/tts/batch", {"text": "x" * 20_001})

    assert answer.status == 400
    assert answer.json["text_length"] == 20_001
    assert answer.json["max_length"] == 20_000
    assert "20,001" in answer.json["error"]
    assert answer.json["suggestion"]


def test_a_stream_is_one_valid_mp3_without_pauses_and_its_job_has_the_same_bytes(
    service: Running, espeak: Espeak
) -> None:
    text = SENTENCES * 20
    answer = service.ask("/tts/stream", {"text": text, "chunk_size": 120})

    assert answer.status == 200
    assert answer.headers["Content-Disposition"] == "inline"
    assert answer.headers["Transfer-Encoding"] == "chunked"
    assert answer.headers["X-Voice"] == "en-US"
    said = said_of(answer.body)
    assert "44100 Hz, mono" in said
    assert "128 kb/s" in said
    script = write_script(SpeechStreamRequest(text=text), limit=120, language="en", starts_short=True)
    spoken = sum(espeak.speak(line.text.strip(), voice="en-US").duration.total_seconds() for line in script)
    assert len(decoded(answer.body, RATE)) / RATE == pytest.approx(spoken, abs=0.3)
    job = service.wait_for_state(answer.headers["X-Job-Id"])
    assert job["credits"] == {"held": 3, "captured": 3, "released": 0}
    whole = service.ask(f"/jobs/{job['id']}/result")
    assert whole.body == answer.body
    assert whole.headers["X-Voice"] == "en-US"
    assert int(whole.headers["Content-Length"]) == len(answer.body)


def test_a_stream_with_an_error_before_its_first_chunk_has_a_proper_status(service: Running) -> None:
    assert service.ask("/tts/stream", {"text": " . "}).status == 400
    assert service.ask("/tts/stream", {"text": "Hello", "voice_name": "nobody"}).json["code"] == "voice_unknown"
    assert service.ask("/tts/stream", {"text": "Hello", "chunk_size": 10}).status == 400


def test_a_client_that_leaves_a_stream_stops_it_and_pays_what_was_spoken(service: Running) -> None:
    body = json.dumps({"text": "Some words that are spoken now. " * 1_500, "speed": 0.5}).encode()
    head = (
        f"POST /tts/stream HTTP/1.1\r\nHost: x\r\nX-API-Key: {service.key}\r\nX-Request-Id: leaves\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    before = left_off(service, '"speech_stream"')
    with service.connect() as connection:
        connection.sendall(head.encode() + body)
        assert connection.recv(100).startswith(b"HTTP/1.1 200")

    job = service.wait_for_state(service.ask("/jobs?request_id=leaves").json[0]["id"])

    assert job["state"] == "cancelled"
    assert 1 <= job["credits"]["captured"] < job["credits"]["held"]
    wait_for(lambda: left_off(service, '"speech_stream"') != before)


def test_music_lies_under_speech_and_stands_before_and_behind_it(service: Running, espeak: Espeak, music: Path) -> None:
    fields = {
        "text": SENTENCES,
        "music_volume": "-20",
        "fade_duration": "500",
        "music_intro": "2",
        "music_outro": "1.5",
    }
    answer = send_form(service, "/tts/with-music", fields, {"music": music.read_bytes()})

    assert answer.status == 200
    assert answer.headers["Content-Disposition"] == "attachment; filename=output_with_music.mp3"
    assert answer.headers["X-Credits-Used"] == "2"
    assert answer.headers["X-Voice"] == "en-US"
    spoken = espeak.speak(SENTENCES, voice="en-US").duration.total_seconds()
    sound = decoded(answer.body, RATE)
    assert len(sound) / RATE == pytest.approx(2 + spoken + 1.5, abs=0.2)
    assert min(np.abs(part).max() for part in (sound[RATE : 2 * RATE], sound[-RATE : -RATE // 2])) > 0.01


def test_music_is_put_under_a_recording(service: Running, espeak: Espeak, music: Path) -> None:
    recording = encode_wav(espeak.speak(SENTENCES, voice="en-US"))

    answer = send_form(
        service,
        "/tts/add-music",
        {"bit_rate": "96", "channels": "2"},
        {"audio": recording, "music": music.read_bytes()},
    )

    assert answer.status == 200
    assert answer.headers["X-Credits-Used"] == "1"
    assert "X-Voice" not in answer.headers
    assert "44100 Hz, stereo, fltp, 96 kb/s" in said_of(answer.body)
    assert len(decoded(answer.body, RATE)) == pytest.approx(len(decoded(recording, RATE)), abs=RATE / 10)


def test_a_file_that_is_no_audio_is_refused_and_nothing_is_charged_or_kept(service: Running) -> None:
    uploads = service.data / "artifacts" / "uploads"
    before = files_in(uploads)  # another file's broken upload stays for an hour

    answer = send_form(service, "/tts/with-music", {"text": "Hello."}, {"music": b"#EXTM3U\nfile:///etc/passwd\n"})

    assert answer.status == 400
    assert (answer.json["code"], answer.json["details"][0]["field"]) == ("audio_undecodable", "music")
    assert answer.json["message"].startswith("music: The file is not audio")
    assert answer.headers["X-Credits-Used"] == "0"
    wait_for(lambda: set(files_in(uploads)) <= {*before}, about=lambda: files_in(uploads))


def fetch(url: str) -> tuple[str, bytes]:
    """Return the type and the content of what a link leads to, without a key."""
    with urllib.request.urlopen(url) as answer:
        return answer.headers["Content-Type"], answer.read()


@pytest.mark.parametrize(("path", "suffix"), [("/tts", "audio/wav"), ("/tts/batch", "audio/mpeg")])
def test_times_and_subtitles_come_with_a_link_to_the_sound(service: Running, path: str, suffix: str) -> None:
    text = "It costs $10 million. [pause 2s] Really?"

    answer = service.ask(path, {"text": text, "timestamps": True})

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    times = answer.json
    assert list(times) == [
        *("audio_url", "content_type", "duration", "voice", "engine", "origin", "estimated", "sentences", "words"),
        *("warnings", "srt_url", "vtt_url", "credits_used", "expires_at"),
    ]
    assert (times["content_type"], times["voice"], times["engine"]) == (suffix, "en-US", "espeak")
    assert (times["estimated"], times["credits_used"]) == (False, 1)
    assert [sentence["text"] for sentence in times["sentences"]] == ["It costs $10 million.", "Really?"]
    assert [word["word"] for word in times["words"]] == ["It", "costs", "$10", "million.", "Really?"]
    kind, sound = fetch(times["audio_url"])
    assert kind == suffix
    heard = decoded(sound, RATE)
    assert len(heard) / RATE == pytest.approx(times["duration"], abs=0.1)
    (gap,) = silences(heard, shortest=1.5)
    assert gap == pytest.approx(2, abs=0.03)
    assert times["words"][4]["start"] - times["words"][3]["end"] == pytest.approx(2, abs=0.03)
    assert fetch(times["srt_url"])[0] == "application/x-subrip; charset=utf-8"
    assert b"Really?" in fetch(times["vtt_url"])[1]
    again = service.ask(f"/jobs/{answer.headers['X-Job-Id']}/result")
    assert again.json["sentences"] == times["sentences"]


def test_times_with_music_count_from_the_start_of_the_music(service: Running, music: Path) -> None:
    fields = {"text": "Elephants. [pause 1s] Yes.", "music_intro": "3", "timestamps": "true"}

    times = send_form(service, "/tts/with-music", fields, {"music": music.read_bytes()}).json

    assert times["words"][0]["start"] == pytest.approx(3, abs=0.03)
    assert times["words"][1]["start"] - times["words"][0]["end"] == pytest.approx(1, abs=0.03)
    assert len(decoded(fetch(times["audio_url"])[1], RATE)) / RATE == pytest.approx(times["duration"], abs=0.1)
    assert b"00:00:03,0" in fetch(times["srt_url"])[1]


def test_progress_counts_chunks_and_a_cancelled_text_stops_between_them(service: Running) -> None:
    before = left_off(service, '"speech_batch"')
    job_id = service.submit({"text": SENTENCES * 180, "speed": 0.26}, "/tts/batch")
    seen = set()
    until = time.monotonic() + 120
    while len(seen) < 3 and time.monotonic() < until:
        progress = service.ask(f"/jobs/{job_id}").json["progress"]
        seen.add(progress["done"])
        assert progress["unit"] == "chunks"
        time.sleep(0.1)
    assert service.ask(f"/jobs/{job_id}/cancel", {}, method="POST").json["state"] == "cancelled"

    assert len(seen) >= 3
    wait_for(lambda: left_off(service, '"speech_batch"') != before)


def test_a_long_text_holds_up_no_short_one(service: Running) -> None:
    # A German voice spells Braille out, sign by sign: at this speed, hours of sound.
    long = service.submit({"text": "⠿" * 5_000, "language": "de", "speed": 0.5}, "/tts")
    service.wait_for_state(long, "running")
    for _ in range(3):
        assert service.ask("/tts", {"text": "Short."}).status == 200

    # It runs still, or there would be nothing to cancel.
    assert service.ask(f"/jobs/{long}/cancel", {}, method="POST").json["state"] == "cancelled"


def test_say_makes_a_recording_of_a_text_file(
    service: Running, command_here: Callable[..., Ran], music: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, plain, mixed = tmp_path / "text.txt", tmp_path / "plain.mp3", tmp_path / "mixed.mp3"
    text.write_text(SENTENCES, "utf-8")

    def say(*arguments: str) -> Ran:
        return command_here("say", *arguments, "--data", str(service.data), PRESSROOM_API_KEY=service.key)

    assert say(str(text), "-o", str(plain)).code == 0
    srt, vtt = tmp_path / "mixed.srt", tmp_path / "mixed.vtt"
    timed = ("--srt", str(srt), "--vtt", str(vtt))
    assert say(str(text), "-o", str(mixed), "--music", str(music), *timed).code == 0
    assert "The first sentence is short." in srt.read_text("utf-8").replace("\n", " ")
    assert vtt.read_text("utf-8").startswith("WEBVTT")
    for file in (plain, mixed):
        assert "192 kb/s" in said_of(file.read_bytes())
    # From standard input, a text of more parts than one, as a format that is not what comes.
    long, before = tmp_path / "long.flac", int(service.ask("/jobs?limit=1").headers["X-Total-Count"])
    monkeypatch.setattr("capabilities.speech.commands.speech.MAX_CHARACTERS", 300)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"A very short sentence. " * 30)))
    assert say("-", "-o", str(long), "--voice", "en-US").code == 0
    assert int(service.ask("/jobs?limit=1").headers["X-Total-Count"]) == before + 3
    said = said_of(long.read_bytes(), "-c", "copy")
    assert "flac" in said
    assert int(said.partition("Duration: 00:00:")[2][:2]) >= 20, said
    kept = say(str(text), "-o", str(plain))
    assert (kept.code, "--overwrite" in kept.err) == (1, True)
    failed = say(str(text), "-o", str(plain), "--voice", "nobody", "--overwrite")
    assert failed.code == 1
    assert "nobody" in failed.err
    assert "Traceback" not in failed.err
