"""OpenAPI: the document of all routes, made from the kinds' own schemas, so that it can't fall behind them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from api.openapi.parts import (
    COMPONENTS,
    IDEMPOTENCY_KEY,
    JOB_PARAMETERS,
    OPENAPI,
    WORK_HEADERS,
    Json,
    add_model,
    errors,
    form_fields,
    json_answer,
    ref,
    with_nulls,
    without_paths,
)
from api.work.webhook_fields import ADDRESS
from pipeline.jobs.job_documents import JobDocument
from pipeline.kind import AnyKind
from pipeline.registry import Kinds
from pipeline.webhooks.events import JOB_EVENTS

KEY_FIELD = {
    "type": "string",
    "description": "The API key, unless a header has it.",
    "examples": ["pr_live_…"],
}
WEBHOOK_FIELDS: Json = {
    "webhook_url": {
        "type": ["string", "null"],
        **ADDRESS,
        "description": "Is told of the job's end; also the header X-Webhook-Url. By default the account's.",
        "examples": ["https://hooks.example.org/pressroom"],
    },
    "webhook_events": {
        "type": ["array", "null"],
        "items": {"type": "string", "enum": list(JOB_EVENTS)},
        "description": "Only these; in a form and in the header X-Webhook-Events with commas between them.",
    },
}
#: Bytes: a file of a form, or of an answer. OpenAPI 3.1 has other words for it, which generators of clients don't read.
FILE: Json = {"type": "string", "format": "binary"}
TEXT: Json = {"type": "string"}
#: Errors that every paid route can answer with.
WORK_ERRORS = ("400", "401", "402", "413", "415", "422", "429", "500", "503")


def make_document(
    kinds: Kinds, more: Mapping[str, Any], models: Sequence[type[Any]], *, version: str
) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of these kinds, and of `more` paths of their families, which refer to models."""
    schemas = dict(COMPONENTS["schemas"])
    add_model(schemas, JobDocument, name="Job")
    schemas["JobKind"] = {"type": "string", "enum": list(kinds)}
    for model in models:
        add_model(schemas, model)
    paths: dict[str, Any] = {}
    for kind in kinds.values():
        for route in kind.routes:
            paths[route] = {"post": _operation(kind, route, schemas)}
    for path, methods in {**OPENAPI["paths"], **more}.items():
        paths[path] = paths.get(path, {}) | methods
    for methods in paths.values():
        for operation in methods.values():
            operation["responses"] = dict(sorted({**_refusals(operation), **operation["responses"]}.items()))
    return OPENAPI | {
        "info": {**OPENAPI["info"], "version": version},
        "paths": without_paths(paths, schemas),
        "components": {**COMPONENTS, "schemas": schemas},
    }


def _refusals(operation: Json) -> dict[str, Any]:
    """Return what every operation may answer before it is reached.

    Its request's head is too large or, where it wants a key, the key is for other routes or its account suspended."""
    return errors("414", "431") | ({} if operation.get("security") == [] else errors("403"))


def _operation(kind: AnyKind, route: str, schemas: Json) -> dict[str, Any]:
    return {
        "operationId": "post_" + route.strip("/").replace("/", "_").replace("-", "_"),
        "summary": kind.summary,
        "tags": [kind.queue],
        "security": [*OPENAPI["security"], {}],
        "parameters": JOB_PARAMETERS if kind.answer.receipt is None else [IDEMPOTENCY_KEY],
        "requestBody": {"required": True, "content": _request_content(kind, schemas)},
        "responses": {
            **_answers(kind, schemas),
            **errors(*WORK_ERRORS),
        },
    }


def _answers(kind: AnyKind, schemas: Json) -> dict[str, Any]:
    with_location = {**WORK_HEADERS, "Location": {"schema": {"type": "string"}}}
    if (receipt := kind.answer.receipt) is not None:
        answer = json_answer(ref(add_model(schemas, receipt)), "The job; it is never waited for.")
        return {"201": {**answer, "headers": with_location}}
    return {
        "200": {"description": "The result.", "headers": WORK_HEADERS, "content": _answer_content(kind, schemas)},
        "202": {
            **json_answer(ref("Job"), "The job, with Location, when the request prefers not to wait."),
            "headers": with_location,
        },
    }


def _request_content(kind: AnyKind, schemas: Json) -> dict[str, Any]:
    name = add_model(schemas, kind.request, "validation")
    schema = schemas[name]
    own = {field: {**told, **kind.field_rules.get(field, {})} for field, told in schema.get("properties", {}).items()}
    fields = {**own, "api_key": KEY_FIELD, **WEBHOOK_FIELDS}
    required = schema.get("required", [])
    sent = {name: value for name, value in getattr(kind, "example", {}).items() if name not in kind.files}
    content = {"schema": ref(name), "example": sent}
    files = [*kind.files, *kind.uploads]
    needed = [*(name for name in required if name not in kind.uploads.values()), *files]
    texts = {name: field for name, field in form_fields(fields).items() if name not in kind.uploads.values()}
    form = {**schema, "properties": {**texts, **dict.fromkeys(files, FILE)}, "required": needed}
    if kind.files:
        schemas[name] = form
        return {"multipart/form-data": content}
    schemas[name] = with_nulls({**schema, "properties": fields})
    return {"application/json": content} | ({"multipart/form-data": {"schema": form}} if kind.uploads else {})


def _answer_content(kind: AnyKind, schemas: Json) -> dict[str, Any]:
    answer = kind.answer
    json: Json = {} if answer.model is None else ref(add_model(schemas, answer.model))
    if answer.content_type != "application/json":
        files = {
            name: {"schema": TEXT if name.startswith("text/") else FILE}
            for name in (answer.content_type, *answer.alternatives)
        }
        return files | ({"application/json": {"schema": json}} if json else {})
    others = {content_type: {"schema": TEXT} for content_type in answer.alternatives}
    return {answer.content_type: {"schema": json}, **others}


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Return path, method and operation of all that a document has."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation
