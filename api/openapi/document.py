"""OpenAPI: the document of all routes, made from the kinds' own schemas, so that it can't fall behind them."""

from collections.abc import Iterator, Mapping
from typing import Any

from api.openapi.parts import ERRORS, IDEMPOTENCY_KEY, JOB_PARAMETERS, SCHEMAS, SECURITY_SCHEMES, WORK_HEADERS
from api.openapi.paths import PATHS
from pipeline.kind import AnyKind
from pipeline.kinds import Kinds

KEY_FIELD = {
    "type": "string",
    "description": "The API key, unless a header has it.",
    "examples": ["pr_live_…"],
}
#: Errors that every paid route can answer with.
WORK_ERRORS = ("400", "401", "402", "413", "415", "422", "429", "500", "503")


def make_document(kinds: Kinds, more: Mapping[str, Any], *, version: str) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the service with these kinds, and with `more` paths of their families."""
    schemas = dict(SCHEMAS)
    paths: dict[str, Any] = {}
    for kind in kinds.values():
        for route in kind.routes:
            paths[route] = {"post": _operation(kind, route, schemas)}
    for path, methods in {**PATHS, **more}.items():
        paths[path] = paths.get(path, {}) | methods
    for methods in paths.values():
        for operation in methods.values():
            operation["responses"] = dict(sorted(operation["responses"].items()))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Pressroom",
            "version": version,
            "summary": "Speech, transcripts, alt text, post metadata and index checks behind one API with credits.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": SECURITY_SCHEMES,
            "responses": {status: _error_response(description) for status, description in ERRORS.items()},
        },
    }


def _operation(kind: AnyKind, route: str, schemas: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": "post_" + route.strip("/").replace("/", "_").replace("-", "_"),
        "summary": kind.summary,
        "tags": [kind.queue],
        "security": [{"header": []}, {"bearer": []}, {"query": []}, {}],
        "parameters": JOB_PARAMETERS if kind.answer.receipt is None else [IDEMPOTENCY_KEY],
        "requestBody": {"required": True, "content": dict([_request_content(kind, schemas)])},
        "responses": {
            **_answers(kind, schemas),
            **{status: {"$ref": f"#/components/responses/{status}"} for status in WORK_ERRORS},
        },
    }


def _answers(kind: AnyKind, schemas: dict[str, Any]) -> dict[str, Any]:
    with_location = {**WORK_HEADERS, "Location": {"schema": {"type": "string"}}}
    if (receipt := kind.answer.receipt) is not None:
        name, schemas[receipt.__name__] = _moved(receipt.model_json_schema(), schemas)
        content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
        return {
            "201": {"description": "The job; it is never waited for.", "headers": with_location, "content": content}
        }
    return {
        "200": {"description": "The result.", "headers": WORK_HEADERS, "content": _answer_content(kind, schemas)},
        "202": {
            "description": "The job, with Location, when the request prefers not to wait.",
            "headers": with_location,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Job"}}},
        },
    }


def _request_content(kind: AnyKind, schemas: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    name, schema = _moved(kind.request.model_json_schema(ref_template="#/components/schemas/{model}"), schemas)
    schema["properties"] = {**schema.get("properties", {}), **_file_fields(kind), "api_key": KEY_FIELD}
    schema["required"] = [*schema.get("required", []), *kind.files]
    schema = {key: value for key, value in schema.items() if key != "required" or value}
    schemas[name] = schema
    sent = {name: value for name, value in getattr(kind, "example", {}).items() if name not in kind.files}
    content = {"schema": {"$ref": f"#/components/schemas/{name}"}, "example": sent}
    return "multipart/form-data" if kind.files else "application/json", content


def _file_fields(kind: AnyKind) -> dict[str, Any]:
    return {name: {"type": "string", "contentMediaType": "application/octet-stream"} for name in kind.files}


def _answer_content(kind: AnyKind, schemas: dict[str, Any]) -> dict[str, Any]:
    answer = kind.answer
    if answer.model is None:
        return {answer.content_type: {"schema": {"type": "string", "contentMediaType": answer.content_type}}}
    name, schema = _moved(
        answer.model.model_json_schema(ref_template="#/components/schemas/{model}", mode="serialization"), schemas
    )
    schemas[name] = schema
    others = {content_type: {"schema": {"type": "string"}} for content_type in answer.alternatives}
    return {answer.content_type: {"schema": {"$ref": f"#/components/schemas/{name}"}}, **others}


def _moved(schema: dict[str, Any], schemas: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a schema and its name, what it refers to moved to where all schemas are."""
    schemas.update(schema.pop("$defs", {}))
    return schema["title"], schema


def _error_response(description: str) -> dict[str, Any]:
    return {
        "description": description,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Return path, method and operation of all that a document has."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation
