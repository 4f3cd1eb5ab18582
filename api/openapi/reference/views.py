"""Views: each operation as the template docs.html shows it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from api.openapi.document import operations
from api.openapi.reference.calls import Method
from api.openapi.reference.lines import curl_lines, javascript_lines, python_lines
from api.openapi.reference.samples import FORM_TYPE, Json, Sample, content_of, make_sample, resolved

#: Tags in words.
HEADINGS = {
    "openai": "OpenAI's API",
    "search_check": "Index checks",
    "synthesis": "Speech",
    "transcription": "Transcripts",
    "vision": "Alt text and posts",
}
#: Entries after the capabilities, in this order.
LAST = ("openai", "jobs", "webhooks", "account", "files", "service")


@dataclass(frozen=True, slots=True)
class Field:
    """A row of a table of fields or parameters."""

    name: str
    type: str
    default: str
    meaning: str
    #: For a parameter: path, query or header.
    place: str = ""
    is_required: bool = False
    #: Initial value in the form.
    value: str = ""
    is_file: bool = False


@dataclass(frozen=True, slots=True)
class OperationView:
    """An operation to show and try."""

    id: str
    method: str
    path: str
    summary: str
    media: str
    fields: tuple[Field, ...]
    parameters: tuple[Field, ...]
    statuses: tuple[tuple[str, str], ...]
    answer_fields: tuple[tuple[str, str, str], ...]
    sample: Sample
    lines: Mapping[str, str]

    @property
    def is_form(self) -> bool:
        return self.media == FORM_TYPE


@dataclass(frozen=True, slots=True)
class ReferenceSection:
    """Operations with the same tag."""

    title: str
    operations: tuple[OperationView, ...]

    @property
    def heading(self) -> str:
        return HEADINGS.get(self.title, self.title.replace("_", " ").capitalize())


def make_sections(document: Mapping[str, Any], methods: Mapping[str, Method]) -> list[ReferenceSection]:
    """Return all operations of a document, capabilities first; `methods` of the Python package by operation id."""
    by_tag: dict[str, list[OperationView]] = {}
    for found in operations(document):
        by_tag.setdefault(found[2]["tags"][0], []).append(_view(document, methods, *found))
    tags = sorted(by_tag, key=lambda tag: LAST.index(tag) if tag in LAST else -1)
    return [ReferenceSection(tag, tuple(by_tag[tag])) for tag in tags]


def shared_answers(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return statuses and meanings of the shared error answers."""
    return [(status, found["description"]) for status, found in document["components"]["responses"].items()]


def _view(
    document: Mapping[str, Any], methods: Mapping[str, Method], path: str, method: str, operation: Json
) -> OperationView:
    sample = make_sample(document, path, method, operation)
    return OperationView(
        id=sample.operation_id,
        method=sample.method,
        path=path,
        summary=operation["summary"],
        media=content_of(operation)[0],
        fields=tuple(_fields(document, operation, sample)),
        parameters=tuple(_parameter(document, resolved(document, one)) for one in operation["parameters"]),
        statuses=tuple((status, found.get("description", "")) for status, found in operation["responses"].items()),
        answer_fields=tuple(_answer_fields(document, operation)),
        sample=sample,
        lines={
            "curl": curl_lines(sample),
            "Python": python_lines(sample, methods.get(sample.operation_id)),
            "JavaScript": javascript_lines(sample),
        },
    )


def _fields(document: Mapping[str, Any], operation: Json, sample: Sample) -> Iterator[Field]:
    _, content = content_of(operation)
    schema = resolved(document, content.get("schema", {}))
    for name, field in schema.get("properties", {}).items():
        yield Field(
            name,
            _type(document, field),
            _default(field),
            field.get("description", ""),
            is_required=name in schema.get("required", []),
            value=sample.form.get(name, ""),
            is_file=field.get("format") == "binary",
        )
        for inner, kind, meaning in _nested(document, field, name):
            yield Field(inner, kind, "", meaning)


def _parameter(document: Mapping[str, Any], found: Json) -> Field:
    return Field(
        found["name"],
        _type(document, resolved(document, found["schema"])),
        "",
        found["description"],
        place=found["in"],
        is_required=found["required"],
        value=str(found.get("example", "")),
    )


def _answer_fields(document: Mapping[str, Any], operation: Json) -> Iterator[tuple[str, str, str]]:
    for status, answer in operation["responses"].items():
        schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
        if status < "202" and (rows := list(_nested(document, schema))):
            yield from rows
            return


def _nested(document: Mapping[str, Any], schema: Json, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield path (such as `results[].alt_text`), type and meaning of an answer's fields."""
    schema = resolved(document, next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema))
    if schema.get("type") == "array":
        yield from _nested(document, schema["items"], f"{path}[]")
    for name, field in schema.get("properties", {}).items():
        place = f"{path}.{name}" if path else name
        yield place, _type(document, field), field.get("description", "")
        yield from _nested(document, field, place)


def _default(field: Json) -> str:
    return json.dumps(field["default"]) if field.get("default") is not None else ""


def _type(document: Mapping[str, Any], field: Json) -> str:
    field = resolved(document, field)
    if "anyOf" in field:
        return " or ".join(_type(document, one) for one in field["anyOf"] if one.get("type") != "null")
    if "enum" in field:
        return ", ".join(map(str, field["enum"]))
    name = field.get("type", "object")
    named = " or ".join(one for one in name if one != "null") if isinstance(name, list) else name
    bounds = [f"{sign} {field[key]}" for key, sign in (("minimum", "≥"), ("maximum", "≤")) if key in field]
    return " ".join([named, *bounds])
