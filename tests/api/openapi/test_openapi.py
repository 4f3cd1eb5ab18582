"""The API's own documents."""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from bs4 import BeautifulSoup, Tag
from http_service import Service
from openapi_spec_validator import validate
from pydantic import BaseModel, ValidationError

from api.openapi.document import operations
from pipeline.kind import Request
from pipeline.registry import load_kinds
from pipeline.settings import Settings


@pytest.fixture(scope="module")
def document(service: Service) -> Any:
    return service.get("/openapi.json").json


def test_the_document_is_valid_openapi(document: Any) -> None:
    validate(document)
    assert document["openapi"].startswith("3.1")


def test_every_kind_is_described_from_its_own_schema(document: Any) -> None:
    speech = document["components"]["schemas"]["SpeechRequest"]
    assert speech["properties"]["speed"]["anyOf"][0]["maximum"] == 4.0
    assert speech["properties"]["speed"]["anyOf"][1:] == [{"type": "null"}]
    assert speech["properties"]["text"]["maxLength"] == 10_000
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


def test_files_are_binary_and_references_lead_to_schemas_as_generators_of_clients_want_them(document: Any) -> None:
    form = document["paths"]["/generate"]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    music = document["components"]["schemas"]["AddMusicRequest"]["properties"]
    assert form["properties"]["image"] == music["audio"] == {"type": "string", "format": "binary"}
    for form in forms(document):
        assert '"null"' not in json.dumps(form["properties"])
    assert "/properties/" not in json.dumps(document)


def forms(document: Any) -> list[Any]:
    """The schema of each multipart body."""
    found = []
    for methods in document["paths"].values():
        for operation in methods.values():
            content = operation.get("requestBody", {}).get("content", {}).get("multipart/form-data", {"schema": {}})
            name = content["schema"].get("$ref", "").rpartition("/")[2]
            found.append(document["components"]["schemas"][name] if name else content["schema"])
    return list(filter(None, found))


def integers(model: type[BaseModel]) -> Iterator[tuple[type[BaseModel], str, Any]]:
    """Each integer field that may be sent, also of the objects inside: its model, its name, and a value of it."""
    for name, field in model.model_fields.items():
        if re.search(r"\bint\b", str(field.annotation)):
            yield model, name, [2.0] if "list" in str(field.annotation) else 2.0
        for part in parts(field.annotation):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from integers(part)


def parts(annotation: Any) -> Iterator[Any]:
    """A type and those that it is made of, such as the entries of a list that may be null."""
    yield annotation
    for part in get_args(annotation):
        yield from parts(part)


def requests(model: type[Request] = Request) -> Iterator[type[Request]]:
    for request in model.__subclasses__():
        yield request
        yield from requests(request)


def test_an_integer_may_be_sent_as_2_0_as_json_schema_has_it(document: Any) -> None:
    load_kinds(Settings())
    described = [one for one in requests() if one.__name__ in document["components"]["schemas"]]
    found = {one[:2]: one for request in described for one in integers(request) if request.__module__ != "api_kinds"}
    assert len(found) > 5, found
    for model, name, value in found.values():
        try:
            model.model_validate_json(json.dumps({name: value}), strict=True)
        except ValidationError as error:
            kinds = {one["type"] for one in error.errors() if one["loc"][:1] == (name,)}
            assert not kinds & {"int_type", "int_from_float"}, (model, name)


def test_what_is_never_waited_for_takes_no_preference(document: Any) -> None:
    def headers(path: str) -> list[str]:
        return [one["name"] for one in document["paths"][path]["post"]["parameters"] if one["in"] == "header"]

    assert headers("/echo") == ["Prefer", "Idempotency-Key"]
    assert headers("/indexing/jobs") == headers("/indexing/jobs/{job_id}/retry") == ["Idempotency-Key"]


def test_the_page_shows_every_route_and_asks_no_other_address(service: Service, document: Any) -> None:
    answer = service.get("/docs")
    page = BeautifulSoup(answer.body, "html.parser")
    assert answer.headers["content-type"].startswith("text/html")
    shown = [code.text for code in page.select("h3 code")]
    assert sorted(shown) == sorted(path for path, *_ in operations(document))
    cells = {cell.text for cell in page.select("td")}
    assert {"images[].expires_at", "[].progress.unit"} <= cells
    for element in page.select("[src], [href]"):
        address = element.get("src") or element["href"]
        assert re.match(r"(/|#|openapi\.json)(?!/)", str(address)), address
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert not page.select("style, [style], script:not([src])")
    assert not [name for element in page.find_all() for name in element.attrs if name.startswith("on")]


def test_every_route_has_a_form_and_examples_in_three_languages(service: Service, document: Any) -> None:
    page = BeautifulSoup(service.get("/docs").body, "html.parser")
    for path, method, operation in operations(document):
        section = page.find(id=operation["operationId"])
        assert isinstance(section, Tag)
        form = section.find("form")
        assert isinstance(form, Tag)
        assert (form["data-path"], form["data-method"]) == (path, method.upper())
        names = {str(entry["name"]) for entry in form.select("[name]")}
        assert set(re.findall(r"{(\w+)}", path)) <= names
        lines = {code["data-language"]: code.text for code in section.select("[data-language]")}
        assert list(lines) == ["curl", "Python", "JavaScript"]
        ast.parse(lines["Python"])


def test_headings_are_words_and_no_names_of_queues(service: Service) -> None:
    page = BeautifulSoup(service.get("/docs").body, "html.parser")
    headings = [heading.text for heading in page.select("h2")]
    assert {"Account", "Errors", "OpenAI's API"} <= set(headings)
    assert not [heading for heading in headings if "_" in heading or heading[0].islower()]
    menu = [entry.text for entry in page.select("nav[aria-label=Routes] li")]
    assert [entry.split()[-1] for entry in menu] == [shown.text for shown in page.select("h3 code")]
    assert menu[-1].split()[-1] == "/metrics"  # the service's own routes come last


def test_the_page_is_the_same_for_all_and_small_when_it_is_sent(service: Service) -> None:
    answer = service.get("/docs", Accept_Encoding="gzip")
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"].startswith("public")
    assert len(answer.body) < 100_000
    assert "set-cookie" not in answer.headers
