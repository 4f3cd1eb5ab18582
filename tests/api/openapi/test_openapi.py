"""The API's own documents."""

import re
from typing import Any

import pytest
from http_service import Service
from openapi_spec_validator import validate
from payers import Payer


@pytest.fixture(scope="module")
def document(service: Service) -> Any:
    return service.get("/openapi.json").json


def test_the_document_is_valid_openapi(document: Any) -> None:
    validate(document)
    assert document["openapi"].startswith("3.1")


def test_every_kind_is_described_from_its_own_schema(document: Any) -> None:
    speech = document["components"]["schemas"]["SpeechRequest"]
    assert speech["properties"]["speed"]["maximum"] == 4.0
    assert speech["required"] == ["text"]
    operation = document["paths"]["/tts"]["post"]
    assert "audio/wav" in operation["responses"]["200"]["content"]
    assert {"400", "401", "402", "413", "415", "422", "429", "500", "503"} <= set(operation["responses"])
    assert {"/echo", "/echo/again", "/many", "/files-in"} <= set(document["paths"])


def test_a_transcript_is_described_in_each_form(document: Any) -> None:
    operation = document["paths"]["/tts/stt"]["post"]
    content = operation["responses"]["200"]["content"]
    assert list(content) == ["application/json", "text/plain", "application/x-subrip", "text/vtt"]
    assert content["application/json"]["schema"] == {"$ref": "#/components/schemas/Transcript"}
    fields = document["components"]["schemas"]["TranscriptionRequest"]["properties"]
    assert fields["response_format"]["enum"] == ["json", "verbose_json", "text", "srt", "vtt"]
    assert {"language", "audio", "api_key"} <= set(fields)


def test_what_is_never_waited_for_takes_no_preference(document: Any) -> None:
    def headers(path: str) -> list[str]:
        return [one["name"] for one in document["paths"][path]["post"]["parameters"] if one["in"] == "header"]

    assert headers("/echo") == ["Prefer", "Idempotency-Key"]
    assert headers("/indexing/jobs") == headers("/indexing/jobs/{job_id}/retry") == ["Idempotency-Key"]


def test_a_cancellation_may_have_a_body_and_be_refused_for_it(document: Any) -> None:
    operation = document["paths"]["/jobs/{job_id}/cancel"]["post"]
    assert {"400", "401", "404", "413"} <= set(operation["responses"])
    assert operation["requestBody"]["required"] is False


def test_files_are_described_as_a_form(document: Any) -> None:
    content = document["paths"]["/files-in"]["post"]["requestBody"]["content"]
    assert list(content) == ["multipart/form-data"]
    schema = document["components"]["schemas"]["FilesRequest"]
    assert set(schema["required"]) == {"text", "audio", "music"}


def is_sent_as_a_file(document: Any, path: str) -> bool:
    content = document["paths"][path].get("post", {}).get("responses", {}).get("200", {}).get("content", {})
    return any(media.startswith("audio/") for media in content)


def test_the_page_shows_every_route_and_asks_no_other_address(service: Service, document: Any) -> None:
    answer = service.get("/docs")
    page = answer.body.decode()
    assert answer.headers["content-type"].startswith("text/html")
    for path in document["paths"]:
        assert f"<code>{path}</code>" in page
    assert "<td>images[].expires_at</td>" in page
    assert "<td>[].progress.unit</td>" in page
    assert page.count(" -OJ</pre>") == len([path for path in document["paths"] if is_sent_as_a_file(document, path)])
    assert "-F &#x27;music=@music.mp3&#x27; -OJ</pre>" in page
    assert not re.search(r"(src|href)=['\"]?(https?:)?//", page)
    assert "<script" not in page
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe-inline" not in policy


def test_a_job_and_the_usage_have_the_fields_that_their_schemas_name(
    service: Service, document: Any, client: Payer
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    schemas = document["components"]["schemas"]
    assert list(service.get(f"/jobs/{job_id}", client.api_key).json) == schemas["Job"]["required"]
    assert list(service.get("/usage", client.api_key).json) == [*schemas["Usage"]["properties"]]
