"""OpenAPI parts: the common parts of routes, and the schemas of models."""

import json
import re
from collections.abc import Iterable
from typing import Annotated, Any, NotRequired, get_args

from pydantic import Field, NonNegativeInt, TypeAdapter
from pydantic.json_schema import JsonSchemaMode
from typing_extensions import TypedDict

from api.http.parameters import DRY_RUN, IDEMPOTENCY_KEY, PREFER, PRICE
from pipeline.kind import Origin, Request

Json = dict[str, Any]

NULL: Json = {"type": "null"}
TEXT: Json = {"type": "string"}
#: Bytes: a file of a form, or of an answer. OpenAPI 3.1 has other words for it, which generators of clients don't read.
FILE: Json = {"type": "string", "format": "binary"}
#: Ways to send a key in a request's head; a request with a body may have it there instead.
SECURITY: list[Json] = [{"header": []}, {"bearer": []}, {"query": []}]
SECURITY_SCHEMES: Json = {
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "query": {"type": "apiKey", "in": "query", "name": "api_key"},
}
KEY_FIELD: Json = {"type": "string", "description": "The API key, unless a header has it.", "examples": ["pr_live_…"]}
JOB_PARAMETERS: list[Json] = [DRY_RUN.document, PREFER, IDEMPOTENCY_KEY]
_COUNT: Json = {"type": "integer", "minimum": 0}
HEADERS: Json = {
    "X-Job-Id": {"schema": TEXT},
    "X-Credits-Used": {"schema": {"type": "integer"}},
    "X-Credits-Remaining": {"schema": {"type": "integer"}},
    "X-Engine": {"schema": TEXT},
    "X-Content-Origin": {
        "schema": {"type": "string", "enum": list(get_args(Origin))},
        "description": "Who made the result: a model or synthesiser, rules, or nobody, as it was read from the input.",
    },
    "X-Voice": {"schema": TEXT, "description": "The voice that speaks, for speech."},
    "X-Warning": {
        "schema": TEXT,
        "description": "Why another voice would suit better, and how to get it; what to know about a transcript.",
    },
    "X-RateLimit-Limit": {
        "schema": {"type": "integer", "minimum": 1, "maximum": 999_999_999_999_999},
        "description": "The rate limit closest to being reached, in requests; 999999999999999 means unlimited.",
    },
    "X-RateLimit-Remaining": {"schema": _COUNT, "description": "Requests left before that limit."},
    "X-RateLimit-Reset": {"schema": _COUNT, "description": "When requests become available again, in epoch seconds."},
    "X-Request-Id": {"schema": TEXT},
}
#: The answer to a dry run.
PRICED: Json = {
    "description": "With dry_run: the request is in order, and nothing was done.",
    "headers": {PRICE: {"schema": _COUNT, "description": "Its price; a recording's is that of its first minute."}},
}
WORK_HEADERS: Json = {name: {"$ref": f"#/components/headers/{name}"} for name in HEADERS}
ERRORS = {
    "400": "A field, header or body is invalid; the message names it.",
    "401": "The API key is missing, malformed, unknown or revoked.",
    "402": "The account has too few credits; the message states the balance.",
    "403": "The key may not do this, the account is suspended, or the link was altered.",
    "404": "It does not exist, or belongs to another account.",
    "409": "The job has not ended yet, or the request conflicts with what exists.",
    "410": "The result or link has expired or was deleted.",
    "412": "The client speaks another version of the protocol.",
    "413": "The body, or a file in it, is too large.",
    "414": "The path with its query is too long; send long texts in a body.",
    "415": "The route does not take a body of this type.",
    "416": "The range starts beyond the end of the file.",
    "422": "The Idempotency-Key was used with another body.",
    "429": "Too many requests; try again after Retry-After seconds.",
    "431": "The headers are too many or too long.",
    "500": "Our fault: nothing undelivered is charged. Report the request_id.",
    "503": "Temporarily unavailable; try again after Retry-After seconds.",
}


class Fault(TypedDict):
    """A field, header or query parameter at fault."""

    field: Annotated[str, Field(description="Its name; urls.3 is the fourth entry of urls.")]
    code: Annotated[str, Field(description="Stable, for programs to match on.")]
    message: str


class Error(TypedDict):
    """An error."""

    error: Annotated[str, Field(description="The type of the error.")]
    message: NotRequired[
        Annotated[str, Field(description="The fault, with value, limit and remedy. /tts/batch: in `error`.")]
    ]
    code: Annotated[str, Field(description="Stable, for programs to match on.")]
    request_id: Annotated[str, Field(description="Identifies the request in our logs.")]
    details: Annotated[list[Fault], Field(description="Fields, headers and query parameters at fault; may be empty.")]
    credits_required: NotRequired[Annotated[NonNegativeInt, Field(description="With 402: credits that it costs.")]]
    credits_remaining: NotRequired[Annotated[NonNegativeInt, Field(description="With 402: the balance.")]]
    missing: NotRequired[Annotated[list[str], Field(description="With 503 from /readyz: what is missing.")]]


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def schema_of(schemas: Json, model: Any, mode: JsonSchemaMode = "serialization") -> Json:
    """Return the schema of a type; models in it are added to the shared ones, by their titles, and referred to."""
    schema = TypeAdapter(model).json_schema(ref_template="#/components/schemas/{model}", mode=mode)
    parts = schema.pop("$defs", {})
    if "properties" in schema:
        parts[schema["title"]] = schema
        schema = ref(schema["title"])
    for name, part in parts.items():
        if part.get("title", name) != name:
            schema, parts = json.loads(
                json.dumps([schema, parts]).replace(f'schemas/{name}"', f'schemas/{part["title"]}"')
            )
    is_request = isinstance(model, type) and issubclass(model, Request)
    for name, part in parts.items():
        schemas[part.get("title", name)] = with_nulls(part) if is_request else part
    return schema


def with_nulls(schema: Json) -> Json:
    """Return the schema of an object of a request, whose optional fields may be null."""
    required = schema.get("required", [])
    fields = schema.get("properties", {})
    return {
        **schema,
        "properties": {name: fields[name] if name in required else _or_null(fields[name]) for name in fields},
    }


def _or_null(field: Json) -> Json:
    options = field.get("anyOf", [])
    if NULL in options or "null" in field.get("type", ()):
        return field
    told: Json = {name: field[name] for name in ("title", "description", "default", "examples") if name in field}
    rest = {name: value for name, value in field.items() if name not in told}
    return {"anyOf": [*(options or [rest]), NULL], **told}


def form_fields(fields: Json) -> Json:
    """Return the fields of a form, which are all text: none is null, and a list is one text with commas."""
    return {name: _as_text(field) for name, field in fields.items()}


def _as_text(field: Json) -> Json:
    options = [option for option in field.get("anyOf", []) if option != NULL]
    if len(options) == 1:
        field = {**{name: value for name, value in field.items() if name != "anyOf"}, **options[0]}
    if isinstance(field.get("type"), list):
        field = {**field, "type": next(name for name in field["type"] if name != "null")}
    if field.get("default", "") is None:
        field = {name: value for name, value in field.items() if name != "default"}
    if field.get("type") != "array":
        return field
    choices = "|".join(map(re.escape, field["items"].get("enum", ())))
    pattern = {"pattern": rf"^(({choices})(,({choices}))*)?$"} if choices else {}
    return {"type": "string"} | pattern | {name: field[name] for name in ("title", "description") if name in field}


def media(name: str) -> Json:
    """Return the schema of a content type other than JSON: a text, a file, or anything."""
    if name == "text/event-stream":  # OpenAPI 3.1 has no schema for one event of many
        return {}
    return {"schema": {} if name == "*/*" else TEXT if name.startswith("text/") else FILE}


def json_answer(schema: Json, description: str) -> Json:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def errors(statuses: Iterable[str]) -> Json:
    return {status: {"$ref": f"#/components/responses/{status}"} for status in statuses}
