"""OpenAPI: the document of all routes, made of what kinds and resources declare, so that it can't fall behind them."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from api.capabilities import Routes, load_routes
from api.http.operations import LOCATION, Operation, Reply, operations_of
from api.http.parameters import PREFER, Parameter
from api.openapi.parts import (
    ERRORS,
    FILE,
    HEADERS,
    JOB_PARAMETERS,
    KEY_FIELD,
    PRICED,
    SECURITY,
    SECURITY_SCHEMES,
    TEXT,
    WORK_HEADERS,
    Error,
    Json,
    errors,
    form_fields,
    json_answer,
    media,
    ref,
    schema_of,
    with_nulls,
)
from api.routes import RESOURCES
from api.work.common_fields import COMMON_FIELDS
from pipeline.jobs.job_documents import JobDocument
from pipeline.kind import AnyKind
from pipeline.registry import Kinds, load_kinds
from pipeline.settings import Settings

INFO: Json = {
    "title": "Pressroom",
    "summary": "Speech, transcripts, alt text, post metadata and index checks behind one API with credits.",
}
#: Errors of every route that takes a key, of those that write as well, and of every paid route.
READ_ERRORS = ("401", "429", "500", "503")
WRITE_ERRORS = ("400", "413")
WORK_ERRORS = ("400", "401", "402", "413", "415", "422", "429", "500", "503")
#: Those of a paid route that takes an upload's id.
UPLOAD_ERRORS = ("404", "409")
#: Methods whose body may hold the key.
WITH_BODY = frozenset({"post", "put", "patch"})


def make_document(
    kinds: Kinds, resources: Mapping[str, Any], more: Mapping[str, Any], models: Iterable[type[Any]], *, version: str
) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of kinds, of resources by path, and of `more` paths, which refer to models."""
    schemas: Json = {"JobKind": {"type": "string", "enum": list(kinds)}}
    for model in (Error, JobDocument, *models):
        schema_of(schemas, model)
    paths: dict[str, Any] = {}
    for kind in kinds.values():
        for route in kind.routes:
            paths[route] = {"post": _kind_operation(kind, route, schemas)}
    for path, resource in resources.items():
        declared = operations_of(resource)
        described = {method: _operation(path, method, found, schemas) for method, found in declared.items()}
        if described:
            paths[path] = paths.get(path, {}) | described
    for path, methods in more.items():
        paths[path] = paths.get(path, {}) | methods
    for methods in paths.values():
        for operation in methods.values():
            operation["responses"] = dict(sorted({**_refusals(operation), **operation["responses"]}.items()))
    return {
        "openapi": "3.1.0",
        "info": {**INFO, "version": version},
        "security": SECURITY,
        "paths": paths,
        "components": {
            "securitySchemes": SECURITY_SCHEMES,
            "headers": HEADERS,
            "schemas": schemas,
            "responses": {status: json_answer(ref("Error"), meaning) for status, meaning in ERRORS.items()},
        },
    }


def _refusals(operation: Json) -> dict[str, Any]:
    """Return what every operation may answer before it is reached.

    The request's head is too large, or its key is for other routes, or the account is suspended."""
    return errors(("414", "431") if operation.get("security") == [] else ("403", "414", "431"))


def _operation(path: str, method: str, declared: Operation, schemas: Json) -> Json:
    named = [one.document if isinstance(one, Parameter) else one for one in declared.parameters]
    statuses = [str(status) for status in declared.errors]
    if not declared.is_open:
        statuses += READ_ERRORS
        statuses += WRITE_ERRORS if method != "get" else ["400"] if any(one["in"] == "query" for one in named) else []
        statuses += ["404"] if "{" in path else []
    has_body = method in WITH_BODY and declared.bytes_type != ""
    body = {"requestBody": _body(declared, schemas)} if has_body else {}
    operation = {
        "operationId": declared.id,
        "tags": [declared.tag],
        "summary": declared.summary,
        "parameters": [*map(_path_parameter, re.findall(r"{(\w+)}", path)), *named],
        "responses": {
            **{str(status): _answer(reply, schemas) for status, reply in declared.replies.items()},
            **errors(statuses),
        },
    }
    if declared.is_open:
        return {**operation, **body, "security": []}
    return {**operation, **body, "security": [*SECURITY, {}]} if body else operation


def _path_parameter(name: str) -> Json:
    noun, _, is_id = name.partition("_id")
    schema = {"type": "string", "format": "uuid"} if is_id or name.endswith("_id") else TEXT
    return {"name": name, "in": "path", "required": True, "schema": schema, "description": f"The {noun}."}


def _answer(reply: Reply, schemas: Json) -> Json:
    content: Json = {name: media(name) for name in reply.content}
    if reply.model is not None:
        content = {"application/json": {"schema": schema_of(schemas, reply.model)}, **content}
    parts = {"content": content, "headers": dict(reply.headers)}
    return {"description": reply.meaning, **{name: part for name, part in parts.items() if part}}


def _body(declared: Operation, schemas: Json) -> Json:
    """Return the body of an operation; where it takes a key, the key may be in it."""
    if declared.bytes_type is not None:
        return {"required": True, "content": {declared.bytes_type: {"schema": FILE}}}
    if declared.body is None:
        schema: Json = {"type": "object", "properties": {"api_key": KEY_FIELD}}
        return {"required": False, "content": {"application/json": {"schema": schema}}}
    schema = schema_of(schemas, declared.body, "validation")
    schemas[declared.body.__name__]["properties"].setdefault("api_key", KEY_FIELD)
    example = {} if declared.example is None else {"example": declared.example}
    return {"required": declared.needs_body, "content": {"application/json": {"schema": schema, **example}}}


def _kind_operation(kind: AnyKind, route: str, schemas: Json) -> Json:
    return {
        "operationId": "post_" + route.strip("/").replace("/", "_").replace("-", "_"),
        "summary": kind.summary,
        "tags": [kind.queue],
        "security": [*SECURITY, {}],
        "parameters": [one for one in JOB_PARAMETERS if one is not PREFER or kind.answer.receipt is None],
        "requestBody": {"required": True, "content": _request_content(kind, schemas)},
        "responses": {**_answers(kind, schemas), **errors([*WORK_ERRORS, *(UPLOAD_ERRORS if kind.resumable else ())])},
    }


def _answers(kind: AnyKind, schemas: Json) -> Json:
    with_location = {**WORK_HEADERS, **LOCATION}
    if (receipt := kind.answer.receipt) is not None:
        answer = json_answer(schema_of(schemas, receipt), "The job, at once.")
        return {"201": {**answer, "headers": with_location}, "204": PRICED}
    return {
        "204": PRICED,
        "200": {"description": "The result.", "headers": WORK_HEADERS, "content": _answer_content(kind, schemas)},
        "202": {
            **json_answer(ref("Job"), "The job, if the request prefers not to wait for its result."),
            "headers": with_location,
        },
    }


def _request_content(kind: AnyKind, schemas: Json) -> Json:
    schema_of(schemas, kind.request, "validation")
    name = kind.request.__name__
    schema = schemas[name]
    own = {field: {**told, **kind.field_rules.get(field, {})} for field, told in schema.get("properties", {}).items()}
    fields = {**own, "api_key": KEY_FIELD, **COMMON_FIELDS}
    required = schema.get("required", [])
    sent = {name: value for name, value in getattr(kind, "example", {}).items() if name not in kind.files}
    content = {"schema": ref(name), "example": sent}
    files = [*kind.files, *kind.uploads]
    needed = [*(name for name in required if name not in kind.uploads.values()), *files]
    texts = {name: field for name, field in form_fields(fields).items() if name not in kind.uploads.values()}
    form = {**schema, "properties": {**texts, **dict.fromkeys(files, FILE)}, "required": needed}
    if (many := kind.many_files) is not None:
        told = schemas[many.entry.__name__]["properties"]
        of_each = {name: field for name, field in form_fields(told).items() if name not in (many.field, "name")}
        beside = form_fields({"api_key": KEY_FIELD, **COMMON_FIELDS})
        form["properties"] = {many.file: {"type": "array", "minItems": 1, "items": FILE}, **of_each, **beside}
        form["required"] = [many.file]
    if kind.files:
        schemas[name] = form
        return {"multipart/form-data": content}
    schemas[name] = with_nulls({**schema, "properties": fields})
    return {"application/json": content} | ({"multipart/form-data": {"schema": form}} if kind.takes_files else {})


def _answer_content(kind: AnyKind, schemas: Json) -> Json:
    answer = kind.answer
    schema: Json = {} if answer.model is None else schema_of(schemas, answer.model)
    if answer.content_type != "application/json":
        files = {name: media(name) for name in (answer.content_type, *answer.alternatives)}
        return files | ({"application/json": {"schema": schema}} if schema else {})
    others = {content_type: {"schema": TEXT} for content_type in answer.alternatives}
    return {answer.content_type: {"schema": schema}, **others}


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Return path, method and operation of all that a document has."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def describe_service(kinds: Kinds, families: Sequence[Routes]) -> dict[str, Any]:
    resources = dict(RESOURCES)
    described: dict[str, Any] = {}
    models: list[type[Any]] = []
    for family in families:
        resources |= {**getattr(family, "WORK", {}), **getattr(family, "RESOURCES", {})}
        described |= getattr(family, "PATHS", {})
        models += getattr(family, "MODELS", ())
    return make_document(kinds, resources, described, models, version=version("pressroom"))


if __name__ == "__main__":
    json.dump(describe_service(load_kinds(Settings()), load_routes()), sys.stdout)
