"""OpenAPI parts: the schemas and answers that routes share, and the words to write them in."""

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from api.documents import JobDocument
from pipeline.usage import Usage

Json = dict[str, Any]


def ref(name: str) -> Json:
    """Return a reference to a shared schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def add_model(schemas: Json, model: type[Any], mode: JsonSchemaMode = "serialization", *, name: str = "") -> str:
    """Add the schema of a model or dataclass, and those that it refers to, to the shared ones; returns its name."""
    schema = TypeAdapter(model).json_schema(ref_template="#/components/schemas/{model}", mode=mode)
    schemas.update(schema.pop("$defs", {}))
    schema["title"] = name or schema["title"]
    schemas[schema["title"]] = schema
    return str(schema["title"])


def text(description: str = "", **more: Any) -> Json:
    """Return the schema of a text."""
    return {"type": "string", **({"description": description} if description else {}), **more}


def object_of(**properties: Json) -> Json:
    """Return the schema of an object."""
    return {"type": "object", "properties": properties}


def maybe(schema: Json) -> Json:
    """Return a schema that null fits as well."""
    return {"anyOf": [schema, {"type": "null"}]}


def parameter(name: str, place: str, schema: Json, description: str) -> Json:
    """Return a parameter of a path, a query or a header."""
    return {
        "name": name,
        "in": place,
        "required": place == "path",
        "schema": schema,
        "description": description,
    }


def json_answer(schema: Json, description: str) -> Json:
    """Return an answer of JSON."""
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def errors(*statuses: str) -> Json:
    """Return the shared error answers."""
    return {status: {"$ref": f"#/components/responses/{status}"} for status in statuses}


def route(operation_id: str, tag: str, summary: str, responses: Json, *parameters: Json, **more: Any) -> Json:
    """Return the operation of a route; `more` are other fields of it."""
    return {
        "operationId": operation_id,
        "tags": [tag],
        "summary": summary,
        "parameters": list(parameters),
        "responses": responses,
        **more,
    }


def paging(things: str, *, most: int, default: int) -> list[Json]:
    """Return the parameters of a list that is read page by page."""
    limit = {"type": "integer", "minimum": 1, "maximum": most, "default": default}
    return [
        parameter("limit", "query", limit, f"{things} a page."),
        parameter("offset", "query", {**COUNT, "default": 0}, f"{things} to skip."),
    ]


COUNT: Json = {"type": "integer", "minimum": 0}
MOMENT = text(format="date-time")

ERRORS = {
    "400": "A field, a header or the body is not as it must be; the message names it.",
    "401": "The API key is missing, malformed, unknown or revoked.",
    "402": "The account can't pay; the message states the balance.",
    "403": "The link is not as it was made.",
    "404": "There is no such thing, or it is another account's.",
    "409": "The job has not ended yet.",
    "410": "The result, or the link, was kept as long as promised.",
    "413": "The body, or a file in it, is too large.",
    "415": "The body is not of the type that the route takes.",
    "416": "The range begins behind the file's end.",
    "422": "The Idempotency-Key was used with another body.",
    "429": "Too many requests; Retry-After says when to come back.",
    "500": "Our fault; nothing undelivered is charged, and request_id names it.",
    "503": "Something is missing at the moment; Retry-After says when to come back.",
}

SECURITY_SCHEMES: Json = {
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "query": {"type": "apiKey", "in": "query", "name": "api_key"},
}

SCHEMAS: Json = {
    "Error": {
        **object_of(
            error=text("The type of the error."),
            message=text("What happened, the value, the limit, and what to do; /tts/batch says it of length in error."),
            code=text("Stable; what programs match on."),
            request_id=text("Names the request in our logs."),
            details={"type": "array", "items": object_of(field=text(), message=text(), code=text())},
            credits_required={**COUNT, "description": "Of a 402: what the request needs."},
            credits_remaining={**COUNT, "description": "Of a 402: the balance."},
            missing={"type": "array", "items": text(), "description": "Of a 503 of /readyz: what is missing."},
        ),
        "required": ["error", "code", "request_id"],
    },
    "Voice": object_of(
        id=text(),
        name=text(),
        language_codes={"type": "array", "items": text()},
        ssml_gender=text(enum=["MALE", "FEMALE", "NEUTRAL"]),
        natural_sample_rate_hertz=COUNT,
        display_name=text(),
        engine=text(),
    ),
    "KeyVerification": object_of(
        valid={"type": "boolean"}, subscription_tier=text(), user_id=text(), error=text("Why it is not valid.")
    ),
}
JOB = ref(add_model(SCHEMAS, JobDocument, name="Job"))
USAGE = ref(add_model(SCHEMAS, Usage))

WORK_HEADERS: Json = {
    name: {"schema": {"type": kind}}
    for name, kind in {
        "X-Job-Id": "string",
        "X-Credits-Used": "integer",
        "X-Credits-Remaining": "integer",
        "X-Engine": "string",
        "X-RateLimit-Limit": "integer",
        "X-RateLimit-Remaining": "integer",
        "X-RateLimit-Reset": "integer",
        "X-Request-Id": "string",
    }.items()
}

WITH_KEY: Json = {"security": [{"header": []}, {"bearer": []}, {"query": []}]}
JOB_ID = parameter("job_id", "path", text(format="uuid"), "The job.")
JOB_ERRORS = errors("401", "404", "429", "500", "503")
IDEMPOTENCY_KEY = parameter(
    "Idempotency-Key", "header", text(maxLength=255), "The same key and body give the same job for 24 hours."
)
JOB_PARAMETERS = [
    parameter("Prefer", "header", text(), "respond-async: answer 202 at once. wait=N: answer 202 after N seconds."),
    IDEMPOTENCY_KEY,
]
