"""OpenAI's audio API as its users have it: the official Python client, with only its base URL and key changed."""

import base64
import io
import json
import os
import shutil
import subprocess
import wave
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2
import numpy as np
import pytest
import tools
from mp3_files import decoded
from spoken import FOLDER, TEXTS, word_error_rate
from systems import Running

from pipeline.settings import Settings
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.audio.pcm import Pcm, encode_wav

pytestmark = pytest.mark.system

FFMPEG = find_ffmpeg(Settings()).path
#: What the JavaScript client does, and the versions of it that are tried.
SCRIPT = Path(__file__).with_name("openai_client.mjs")
JAVASCRIPT_CLIENT = ">=6 <8"
TEXT = "The first sentence is short. Here comes a second one, which is longer!"
#: What ffmpeg calls the codec of each format, and the container.
CODECS = {
    "mp3": ("mp3", "mp3"),
    "opus": ("ogg", "opus"),
    "aac": ("aac", "aac"),
    "flac": ("flac", "flac"),
    "wav": ("wav", "pcm_s16le"),
}


@pytest.fixture(scope="module")
def service(shared_system: Running) -> Running:
    return replace(shared_system)


@pytest.fixture(scope="module")
def openai() -> ModuleType:
    """OpenAI's package, whose import takes a second."""
    return import_module("openai")


@pytest.fixture(scope="module")
def client(service: Running, openai: ModuleType) -> Iterator[Any]:
    with openai.OpenAI(base_url=f"{service.address}/v1", api_key=service.key, max_retries=0) as made:
        yield made


def said_of(audio: bytes) -> str:
    """Return what ffmpeg says of audio."""
    ask = [FFMPEG, "-hide_banner", "-i", "pipe:0", "-f", "null", "-"]
    return subprocess.run(ask, input=audio, capture_output=True, check=True).stderr.decode()


def events(body: bytes) -> list[dict[str, Any]]:
    """Return the data of server-sent events."""
    return [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: ")]


@pytest.mark.parametrize("form", CODECS)
def test_each_format_is_the_encoding_that_was_asked_for(client, form):
    audio = client.audio.speech.create(model="tts-1", voice="alloy", input=TEXT, response_format=form).content

    container, codec = CODECS[form]
    said = said_of(audio)
    assert f"Input #0, {container}," in said
    assert f"Audio: {codec}" in said
    assert 2 < len(decoded(audio, 24_000)) / 24_000 < 12


def test_pcm_is_24_khz_16_bit_mono(client):
    pcm = client.audio.speech.create(model="tts-1", voice="alloy", input=TEXT, response_format="pcm").content
    mp3 = client.audio.speech.create(model="tts-1", voice="alloy", input=TEXT).content

    heard, same = np.frombuffer(pcm, "<i2"), decoded(mp3, 24_000)
    assert abs(len(heard) - len(same)) < 24_000 * 0.2
    assert np.corrcoef(np.abs(heard[: len(same)])[:20_000], np.abs(same[: len(heard)])[1_105:21_105])[0, 1] > 0.1


def test_a_wav_file_says_its_true_length(client):
    audio = client.audio.speech.create(model="tts-1", voice="nova", input=TEXT, response_format="wav").content

    with wave.open(io.BytesIO(audio)) as file:
        # Behind the samples there is the mark, a chunk of its own.
        assert 44 + file.getnframes() * 2 == audio.index(b"C2PA")
    assert int.from_bytes(audio[4:8], "little") + 8 == len(audio)


def test_events_hold_the_sound_in_base64_and_end_with_done(client):
    with client.audio.speech.with_streaming_response.create(
        model="gpt-4o-mini-tts", voice="sage", input=TEXT, response_format="wav", stream_format="sse"
    ) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        told = events(answer.read())

    assert {event["type"] for event in told[:-1]} == {"speech.audio.delta"}
    assert told[-1] == {
        "type": "speech.audio.done",
        "usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0},
    }
    audio = b"".join(base64.b64decode(event["audio"]) for event in told[:-1])
    assert audio[:4] == b"RIFF"
    assert len(decoded(audio, 24_000)) > 48_000


def test_a_name_speaks_the_language_of_the_text(client):
    said = {
        "Das Licht im Wohnzimmer ist jetzt an.": "de",
        "La lumière du salon est allumée.": "fr",
        "Свет в гостиной включён.": "ru",
        "The light is on.": "en",
    }
    for text, language in said.items():
        answer = client.audio.speech.with_raw_response.create(model="tts-1", voice="alloy", input=text)
        assert answer.headers["x-voice"].startswith(language)


def test_a_voice_of_ours_is_taken_by_its_id(client, service):
    voices = service.ask("/tts/voices?language=es").json["voices"]
    answer = client.audio.speech.with_raw_response.create(model="tts-1", voice={"id": voices[0]["id"]}, input="Hola.")

    assert answer.headers["x-voice"] == voices[0]["id"]


def test_speed_is_heard(client):
    slow, quick = (
        client.audio.speech.create(model="tts-1", voice="echo", input=TEXT, speed=speed, response_format="pcm").content
        for speed in (0.5, 2.0)
    )
    assert len(slow) > 2.5 * len(quick)


def test_instructions_are_said_to_be_without_effect(client):
    answer = client.audio.speech.with_raw_response.create(
        model="gpt-4o-mini-tts", voice="alloy", input="Hi.", instructions="Whisper."
    )
    assert answer.headers["x-ignored-fields"] == "instructions"


def test_models_are_listed_and_told_one_by_one(client, openai):
    listed = [model.id for model in client.models.list()]

    assert {"whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-tts", "tts-1", "tts-1-hd", "pressroom"} <= set(listed)
    assert client.models.retrieve("tts-1-hd").id == "tts-1-hd"
    with pytest.raises(openai.NotFoundError) as refused:
        client.models.retrieve("gpt-9")
    assert refused.value.code == "model_not_found"


SAID = TEXTS["weather"]


@pytest.fixture(scope="module")
def recording() -> tuple[str, bytes]:
    return "weather.flac", (FOLDER / "weather.flac").read_bytes()


@pytest.mark.parametrize("model", ["whisper-1", "gpt-4o-transcribe"])
def test_a_recording_is_written_down(client, recording, model):
    written = client.audio.transcriptions.create(model=model, file=recording)

    assert word_error_rate(SAID, written.text) < 0.2
    assert (written.usage.type, written.usage.seconds) == ("duration", 6)


def test_verbose_json_has_segments_as_whisper_tells_them(client, recording):
    told = client.audio.transcriptions.create(model="whisper-1", file=recording, response_format="verbose_json")

    assert (told.task, told.language, told.words) == ("transcribe", "english", None)
    assert told.duration == pytest.approx(5.66)
    assert " ".join(segment.text for segment in told.segments) == told.text
    first = told.segments[0]
    assert (first.id, first.temperature) == (0, 0.0)
    assert -1 < first.avg_logprob < 0
    assert 0 <= first.no_speech_prob < 0.5
    assert 0.5 < first.compression_ratio < 2.4
    assert first.tokens


@pytest.mark.parametrize(
    ("asked", "has_segments", "has_words"),
    [(["word"], False, True), (["segment", "word"], True, True), (["segment"], True, False)],
)
def test_granularities_say_what_is_told(client, recording, asked, has_segments, has_words):
    told = client.audio.transcriptions.create(
        model="whisper-1",
        file=recording,
        response_format="verbose_json",
        timestamp_granularities=asked,
        language="en",
        prompt="weather",
        temperature=0,
    )

    assert (bool(told.segments), bool(told.words)) == (has_segments, has_words)
    if told.words:
        assert word_error_rate(told.text, " ".join(word.word for word in told.words)) == 0
        assert all(0 <= word.start <= word.end <= told.duration for word in told.words)


def test_a_streamed_transcript_comes_in_deltas_and_is_charged_as_any(client, service, recording):
    with client.audio.transcriptions.with_streaming_response.create(
        model="gpt-4o-mini-transcribe", file=recording, stream=True
    ) as answer:
        told = events(answer.read())
        job_id = answer.headers["x-job-id"]

    assert {event["type"] for event in told[:-1]} == {"transcript.text.delta"}
    assert told[-1]["type"] == "transcript.text.done"
    assert "".join(event["delta"] for event in told[:-1]) == told[-1]["text"]
    assert word_error_rate(SAID, told[-1]["text"]) < 0.2
    job = service.wait_for_state(job_id)
    assert (job["kind"], job["state"], job["credits"]["captured"]) == ("transcription_stream", "succeeded", 5)


def test_silence_is_an_empty_text_streamed_or_not(client):
    silence = "silence.wav", encode_wav(Pcm(bytes(32_000), 16_000))

    assert client.audio.transcriptions.create(model="whisper-1", file=silence).text == ""
    told = list(client.audio.transcriptions.create(model="whisper-1", file=silence, stream=True))
    assert [(event.type, event.text) for event in told] == [("transcript.text.done", "")]


def test_what_is_no_sound_names_the_file(client, openai):
    with pytest.raises(openai.BadRequestError) as refused:
        client.audio.transcriptions.create(model="whisper-1", file=("letter.txt", b"Dear reader"))
    assert (refused.value.param, refused.value.code) == ("file", "audio_undecodable")


def test_a_recording_is_translated_by_the_installed_model(client, recording):
    with pytest.warns(DeprecationWarning, match="deprecated"):
        assert client.audio.translations.create(model="whisper-1", file=recording).text


def test_home_assistant_and_open_webui_are_answered_as_they_ask(service, recording):
    """As their integrations send it: a speed that is a whole number, empty fields of a form, unknown ones."""
    with httpx2.Client(
        base_url=service.address, headers={"Authorization": f"Bearer {service.key}"}, timeout=60
    ) as http:
        asked = {"model": "tts-1", "input": "Dinner is ready.", "voice": "nova", "response_format": "wav", "speed": 1}
        spoken = http.post("/v1/audio/speech", json=asked | {"metadata": {"user": "Anna"}})
        form = {"model": "whisper-1", "language": "en-US", "prompt": "", "temperature": "0", "response_format": "json"}
        heard = http.post("/v1/audio/transcriptions", data=form, files={"file": ("a.wav", recording[1], "audio/wav")})
        listed = http.get("/v1/audio/voices", params={"limit": 100})

    assert (spoken.status_code, spoken.headers["content-type"]) == (200, "audio/wav")
    assert word_error_rate(SAID, heard.json()["text"]) < 0.2
    assert {"id": "nova", "name": "Nova"} in listed.json()["voices"]


@pytest.fixture(scope="module")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the JavaScript client, as npm installs it."""
    npm, folder = tools.require("npm"), tmp_path_factory.mktemp("javascript")
    # No script of a package runs, and nothing of the user's settings is needed but where the registry is.
    asked = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", f"openai@{JAVASCRIPT_CLIENT}"]
    installed = subprocess.run(asked, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if installed.returncode:
        reason = f"npm can't install openai: {installed.stderr.strip()[-300:]}"
        (pytest.fail if "npm" in os.environ.get(tools.NEEDED, "") else pytest.skip)(reason)
    shutil.copy(SCRIPT, folder)
    return folder / SCRIPT.name


def test_the_javascript_client_speaks_listens_and_reads_errors(service, javascript):
    run = [tools.require("node"), javascript.name, f"{service.address}/v1", service.key, str(FOLDER / "weather.flac")]
    told = json.loads(
        subprocess.run(run, cwd=javascript.parent, capture_output=True, text=True, check=True, timeout=300).stdout
    )

    assert told["first"] in {"fffb", "fff3", "4944"}  # how a frame of MP3 begins, and its tag
    assert word_error_rate(SAID, told["verbose"]["text"]) < 0.2
    assert told["verbose"]["words"]
    assert told["verbose"]["segments"]
    assert told["events"][-1]["type"] == "transcript.text.done"
    assert "".join(event["delta"] for event in told["events"][:-1]) == told["events"][-1]["text"]
    assert "tts-1" in told["models"]
    assert told["refused"] == {"status": 400, "code": "voice_unknown", "param": "voice"}
