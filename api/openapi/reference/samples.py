"""Samples: one request to each operation, from the document's examples."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import Any

Json = dict[str, Any]
JSON_TYPE = "application/json"
FORM_TYPE = "multipart/form-data"
EVENTS_TYPE = "text/event-stream"
#: Names of example files by field, and of all others.
FILE_NAMES = {"image": "banner.png"}
FILE_NAME = "{field}.mp3"
#: File name endings by the start of the content type.
ENDINGS = {
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "image/": "png",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/octet-stream": "bin",
}


def resolved(document: Mapping[str, Any], part: Json) -> Json:
    """Return the target of a reference, or the part itself."""
    if "$ref" in part:
        part = reduce(getitem, part["$ref"].removeprefix("#/").split("/"), document)  # type: ignore[arg-type]
    return part


def answer_of(document: Mapping[str, Any], operation: Json) -> tuple[str, Json]:
    """Return the status and the description of what an operation answers when it does what it is asked."""
    responses = operation["responses"]
    status = min(status for status in responses if status.startswith("2"))
    return status, resolved(document, responses[status])


def content_of(operation: Json, *, form: bool = False) -> tuple[str, Json]:
    """Return media type and description of what an operation is sent: as JSON, unless it takes a form alone.

    Both are empty where nothing is sent."""
    content = operation.get("requestBody", {}).get("content", {})
    return next(iter(content.items()), ("", {}))


@dataclass(frozen=True, slots=True)
class Sample:
    """A valid request. Braces in `path` and `query` are placeholders."""

    operation_id: str
    method: str
    path: str
    wants_key: bool
    #: True if it makes a job and takes `Prefer`.
    is_work: bool
    query: Mapping[str, str]
    #: None: no body is sent.
    body: Any
    form: Mapping[str, str]
    files: Mapping[str, str]
    #: The file to save the answer in; empty for answers that are printed.
    saves: str
    #: Content type of the answer; empty without a body.
    answers: str

    @property
    def is_form(self) -> bool:
        return bool(self.form or self.files)

    @property
    def body_text(self) -> str:
        return "" if self.body is None else json.dumps(self.body, ensure_ascii=False)


def make_sample(document: Mapping[str, Any], path: str, method: str, operation: Json) -> Sample:
    media, content = content_of(operation)
    parameters = [resolved(document, one) for one in operation["parameters"]]
    query = {
        one["name"]: str(one.get("example", f"{{{one['name']}}}"))
        for one in parameters
        if one["in"] == "query" and (one["required"] or "example" in one)
    }
    is_form = media == FORM_TYPE
    example = content.get("example", {})
    is_sent = media == JSON_TYPE and (example or operation["requestBody"].get("required", False))
    fields = resolved(document, content["schema"]).get("properties", {}) if is_form else {}
    files = [name for name, field in fields.items() if field.get("format") == "binary"]
    _, answer = answer_of(document, operation)
    answers = next(iter(answer.get("content", {})), "")
    return Sample(
        operation_id=operation["operationId"],
        method=method.upper(),
        path=path,
        wants_key=operation.get("security") != [],
        is_work=any(one["name"] == "Prefer" for one in parameters),
        query=query,
        body=example if is_sent else None,
        form={name: str(value) for name, value in example.items()} if is_form else {},
        files={name: FILE_NAMES.get(name, FILE_NAME.format(field=name)) for name in files},
        saves=_saves(operation, answers),
        answers=answers,
    )


def _saves(operation: Json, media: str) -> str:
    found = next((ending for beginning, ending in ENDINGS.items() if media.startswith(beginning)), "")
    return f"{operation['operationId'].removeprefix('post_').removeprefix('get_')}.{found}" if found else ""
