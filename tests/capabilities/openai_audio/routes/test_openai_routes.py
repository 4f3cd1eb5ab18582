"""The routes of OpenAI's API over raw HTTP: what clients other than the official ones send, and every refusal."""

import pytest
from http_service import Service, form
from payers import Payer, open_account

from api.services.waiting import Restarting
from capabilities.openai_audio.routes.errors import openai_error
from pipeline.database import Database
from pipeline.errors import ServiceUnavailable

SPEECH = {"model": "tts-1", "voice": "alloy", "input": "Good morning!"}


def error_of(answer) -> dict[str, object]:
    """Return the error of an answer, which is in OpenAI's form and in no other."""
    assert set(answer.json) == {"error", "request_id"}, answer.body
    assert set(answer.json["error"]) == {"message", "type", "param", "code"}
    return answer.json["error"]


def ask(service: Service, key: str, **changed) -> object:
    return service.post("/v1/audio/speech", {**SPEECH, **changed}, Authorization=f"Bearer {key}")


@pytest.mark.parametrize(
    ("changed", "param", "code"),
    [
        ({"input": ""}, "input", "text_empty"),
        ({"input": 5}, "input", "invalid_request"),
        ({"input": "a" * 50_001}, "input", "text_too_long"),
        ({"response_format": "midi"}, "response_format", "invalid_request"),
        ({"voice": ""}, "voice", "invalid_request"),
        ({"voice": {"name": "alloy"}}, "voice.VoiceReference.id", "invalid_request"),
        ({"voice": "no-such-voice"}, "voice", "voice_unknown"),
        ({"speed": 0.2}, "speed", "invalid_request"),
        ({"speed": 4.1}, "speed", "invalid_request"),
        ({"stream_format": "chunks"}, "stream_format", "invalid_request"),
        ({"language": "xx"}, "language", "language_unknown"),
        ({"input": "Доброе утро", "voice": "en-US"}, "language", "language_not_supported"),
    ],
)
def test_a_wrong_field_is_named(service: Service, client: Payer, changed, param, code) -> None:
    answer = ask(service, client.api_key, **changed)

    error = error_of(answer)
    assert (answer.status, error["type"]) == (400, "invalid_request_error")
    assert error["code"] == code
    assert str(error["param"]).startswith(param.partition(".")[0])


def test_what_is_null_counts_as_not_sent(service: Service, client: Payer) -> None:
    sent = {**SPEECH, "instructions": None, "speed": None, "response_format": None, "stream_format": None}
    job = service.submit(sent, client.api_key, "/v1/audio/speech")

    assert service.get(f"/jobs/{job}", client.api_key).json["kind"] == "speech_stream"


def test_a_whole_wav_file_is_a_job_of_speech_and_a_streamed_one_of_its_stream(service: Service, client: Payer) -> None:
    whole = service.submit({**SPEECH, "response_format": "wav"}, client.api_key, "/v1/audio/speech")
    streamed = {**SPEECH, "response_format": "wav", "stream_format": "audio"}
    other = service.submit(streamed, client.api_key, "/v1/audio/speech")

    kinds = [service.get(f"/jobs/{job}", client.api_key).json["kind"] for job in (whole, other)]
    assert kinds == ["speech", "speech_stream"]


def test_an_unknown_model_is_not_found(service: Service, client: Payer) -> None:
    answer = ask(service, client.api_key, model="whisper-1")

    assert (answer.status, error_of(answer)["code"]) == (404, "model_not_found")


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer sk-proj-nothing"}])
def test_a_missing_or_wrong_key_is_told_in_their_form(service: Service, headers) -> None:
    answer = service.post("/v1/audio/speech", SPEECH, **headers)

    assert (answer.status, error_of(answer)["code"]) == (401, "invalid_api_key")


def test_too_few_credits_are_an_insufficient_quota_that_is_not_tried_again(
    service: Service, api_database: Database
) -> None:
    answer = ask(service, open_account(api_database, credits=0).api_key)

    error = error_of(answer)
    assert (answer.status, error["type"], error["code"]) == (429, "insufficient_quota", "insufficient_quota")
    assert answer.headers["x-should-retry"] == "false"


def test_clients_do_not_ask_again_while_the_job_goes_on() -> None:
    error = Restarting()

    assert openai_error(503, error.document()).headers == {"x-should-retry": "false"}
    assert openai_error(503, ServiceUnavailable("Busy.").document()).headers == {}


def test_what_is_no_json_and_no_path_is_told_in_their_form(service: Service, client: Payer) -> None:
    broken = service.post_bytes("/v1/audio/speech", b"{", client.api_key)
    nowhere = service.get("/v1/chat/completions", client.api_key)
    method = service.get("/v1/audio/speech", client.api_key)

    assert (broken.status, error_of(broken)["code"]) == (400, "json_invalid")
    assert (nowhere.status, error_of(nowhere)["code"]) == (404, "unknown_url")
    assert (method.status, error_of(method)["code"]) == (405, "method_not_allowed")


def test_a_base_url_without_the_version_is_told(service: Service, client: Payer) -> None:
    answer = service.post_bytes("/audio/speech", b"{}", client.api_key)

    assert (answer.status, error_of(answer)["code"]) == (404, "unknown_url")
    assert "/v1" in error_of(answer)["message"]


def test_open_webui_finds_voices_and_models_without_a_key(service: Service) -> None:
    voices = service.get("/v1/audio/voices").json["voices"]
    models = service.get("/v1/audio/models").json["models"]

    assert voices[0] == {"id": "alloy", "name": "Alloy"}
    assert len(voices) > 200
    assert {"id": "tts-1", "name": "tts-1"} in models
    assert "whisper-1" not in {model["id"] for model in models}


def test_models_want_a_key(service: Service, client: Payer) -> None:
    assert service.get("/v1/models").status == 401
    listed = service.get("/v1/models", client.api_key).json
    assert listed["object"] == "list"
    assert {(model["object"], model["owned_by"]) for model in listed["data"]} == {("model", "pressroom")}


RECORDING = ("file", b"sound", "a.wav")


def submit_form(service: Service, key: str, *parts, path: str = "/v1/audio/transcriptions"):
    body, content_type = form(*parts)
    return service.post_bytes(path, body, key, Content_Type=content_type, Prefer="respond-async")


def stored_request(service: Service, key: str, *parts) -> str:
    answer = submit_form(service, key, *parts)
    assert answer.status == 202, answer.body
    return str(answer.json["kind"])


def field(name: str, value: str) -> tuple[str, bytes, None]:
    return name, value.encode(), None


@pytest.mark.parametrize("name", ["timestamp_granularities[]", "timestamp_granularities"])
def test_a_list_is_sent_with_brackets_or_without(service: Service, client: Payer, name: str) -> None:
    kind = stored_request(
        service,
        client.api_key,
        RECORDING,
        field("model", "whisper-1"),
        field("response_format", "verbose_json"),
        field(name, "word"),
        field(name, "segment"),
        field("include[]", "logprobs"),
        field("chunking_strategy", "auto"),
        field("language", ""),
    )
    assert kind == "transcription"


def test_openais_model_that_tells_speakers_apart_is_known(service: Service, client: Payer) -> None:
    parts = field("model", "gpt-4o-transcribe-diarize"), field("response_format", "diarized_json")

    assert stored_request(service, client.api_key, RECORDING, *parts) == "transcription"


@pytest.mark.parametrize(
    ("parts", "param"),
    [
        ([field("model", "whisper-1")], "file"),
        ([RECORDING, field("response_format", "docx")], "response_format"),
        ([RECORDING, field("temperature", "7")], "temperature"),
        ([RECORDING, field("timestamp_granularities[]", "letter")], "timestamp_granularities"),
        ([RECORDING, field("language", "klingon")], "language"),
        ([RECORDING, field("stream", "true"), field("response_format", "vtt")], "stream"),
    ],
)
def test_a_wrong_field_of_a_form_is_named(service: Service, client: Payer, parts, param: str) -> None:
    answer = submit_form(service, client.api_key, *parts)

    assert answer.status == 400
    assert str(error_of(answer)["param"]).startswith(param)


def test_lists_have_an_end(service: Service, client: Payer) -> None:
    answer = submit_form(service, client.api_key, RECORDING, *[field("keywords[]", "word")] * 200)

    assert (answer.status, error_of(answer)["code"], error_of(answer)["param"]) == (400, "invalid_request", "keywords")
