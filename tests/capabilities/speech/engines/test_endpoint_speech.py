"""The voices of an endpoint."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from model_server import ModelServer, refused

from capabilities.speech.engines.endpoint import EndpointSpeech
from capabilities.speech.voices.voices import VoiceUnknown
from pipeline.settings import Settings
from workers.engines import EngineUnavailable, never
from workers.engines.endpoints.errors import AnswerInvalid, EndpointBusy, KeyRefused
from workers.engines.family import Family
from workers.media.audio.pcm import Pcm, encode_wav

Engine = Callable[..., EndpointSpeech]


@pytest.fixture(name="engine")
def _engine() -> Iterator[Engine]:
    made: list[EndpointSpeech] = []

    def make(server: ModelServer, **endpoint: Any) -> EndpointSpeech:
        made.append(
            EndpointSpeech(Settings(endpoints={"house": {"url": server.url, "speech": "tts-1", **endpoint}}), "house")
        )
        made[-1].setup()
        return made[-1]

    yield make
    for one in made:
        one.close()


def say(body: Any) -> web.Response:
    return web.Response(body=encode_wav(Pcm(bytes(48_000), 24_000)), content_type="audio/wav")


def test_a_text_is_spoken_by_the_model_and_voice_of_the_server(engine: Engine) -> None:
    with ModelServer({"/models": {"data": [{"id": "tts-1"}]}, "/audio/speech": say}) as server:
        sound = engine(server).speak("Good morning.", voice="house-nova", speed=2.0)
        (asked,) = [one for one in server.asked if one.path == "/audio/speech"]
    assert sound.duration == timedelta(seconds=1)
    assert asked.body == {
        "model": "tts-1",
        "input": "Good morning.",
        "voice": "nova",
        "response_format": "wav",
        "speed": 2.0,
    }


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ({"voices": ["af_heart", "bm_george"]}, {"house-af_heart": "en-US", "house-bm_george": "en-GB"}),
        ({"voices": [{"id": "de_DE-thorsten-medium"}]}, {"house-de_DE-thorsten-medium": "de-DE"}),
        ({"data": [{"name": "anna"}, {"name": "<b>"}]}, {"house-anna": "en"}),
    ],
)
def test_voices_that_the_server_lists_are_published_with_their_language(
    engine: Engine, listed: Any, expected: dict[str, str]
) -> None:
    with ModelServer({"/audio/voices": listed}) as server:
        found = {voice.id: voice.language_codes[0] for voice in engine(server).voices()}
    assert found == expected


def test_the_operators_choice_of_voices_comes_before_the_servers(engine: Engine) -> None:
    with ModelServer({"/audio/voices": {"voices": ["af_heart"]}}) as server:
        speech = engine(server, voices="ben, anna")
    assert [voice.id for voice in speech.voices()] == ["house-ben", "house-anna"]
    assert not any(voice.local for voice in speech.voices())


def test_what_is_no_sound_or_too_short_is_an_error(engine: Engine) -> None:
    answers = {"/models": {}, "/audio/speech": web.Response(text="<html>Sign in</html>")}
    with ModelServer(answers) as server:
        speech = engine(server)
        with pytest.raises(AnswerInvalid, match="something else than sound"):
            speech.speak("Good morning.", voice="house-nova")
        server.answers["/audio/speech"] = say
        with pytest.raises(AnswerInvalid, match="too little sound"):
            speech.speak("Good morning. " * 20, voice="house-nova")
        server.answers["/audio/speech"] = lambda _: web.Response(body=encode_wav(Pcm(bytes(48_000 * 60), 24_000)))
        with pytest.raises(AnswerInvalid, match="too much sound"):
            speech.speak("Good morning.", voice="house-nova")


def test_a_line_waits_for_a_server_that_takes_few_a_minute(engine: Engine) -> None:
    busy, turns = web.json_response({"error": "busy"}, status=429, headers={"Retry-After": "1"}), count(1)
    answers = {"/models": {}, "/audio/speech": lambda body: busy if next(turns) == 1 else say(body)}
    with ModelServer(answers) as server:
        speech = engine(server)
        assert speech.speak("Good morning.", voice="house-nova").duration == timedelta(seconds=1)
        server.answers["/audio/speech"] = refused(429, {"error": "busy"}, Retry_After="60")
        with pytest.raises(EndpointBusy):
            speech.speak("Good morning.", voice="house-nova")


def test_a_refused_key_takes_the_voices_away_until_a_probe_succeeds(engine: Engine) -> None:
    with ModelServer({"/models": {}, "/audio/speech": refused(401, {"error": "no"})}) as server:
        speech = engine(server)
        assert speech.is_available()
        with pytest.raises(KeyRefused):
            speech.speak("Good morning.", voice="house-nova")
        assert not speech.is_available()
        with pytest.raises(EngineUnavailable, match="house is unavailable: it refuses the key"):
            speech.render("Good morning.", voice="house-nova", speed=1, pitch=0, stop=never)
        with pytest.raises(VoiceUnknown):
            speech.speak("Good morning.", voice="nova")


def test_an_endpoint_comes_first_of_its_family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PRESSROOM_SYNTHESIS__ENGINES")
    with ModelServer({"/models": {}}) as server:
        endpoints = {"house": {"url": server.url, "speech": "tts-1"}, "other": {"url": server.url, "captions": "x"}}
        family = Family(Settings(data=tmp_path, endpoints=endpoints), "synthesis")
        family.setup()
    assert next(iter(family.engines)).name == "house"
    family.engine("house").close()
    assert "other" not in [offer.engine for offer in family.offers()]
