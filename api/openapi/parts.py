"""OpenAPI parts: what routes share, and short ways to write the rest."""

import json
import re
from importlib.resources import files
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from pipeline.kind import Request

Json = dict[str, Any]

#: The part of the document that is the same for all kinds: the service's own routes, and what all routes share.
OPENAPI: Json = json.loads(files("api.openapi").joinpath("openapi.json").read_text("utf-8"))
NULL: Json = {"type": "null"}
COMPONENTS: Json = OPENAPI["components"]
IDEMPOTENCY_KEY: Json = COMPONENTS["parameters"]["IdempotencyKey"]
JOB_PARAMETERS: list[Json] = [COMPONENTS["parameters"]["Prefer"], IDEMPOTENCY_KEY]
WORK_HEADERS: Json = {name: {"$ref": f"#/components/headers/{name}"} for name in COMPONENTS["headers"]}


def ref(name: str) -> Json:
    """Return a reference to a shared schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def add_model(schemas: Json, model: type[Any], mode: JsonSchemaMode = "serialization", *, name: str = "") -> str:
    """Add the schema of a model or dataclass, and those that it refers to, to the shared ones; returns its name."""
    schema = TypeAdapter(model).json_schema(ref_template="#/components/schemas/{model}", mode=mode)
    parts = schema.pop("$defs", {})
    if isinstance(model, type) and issubclass(model, Request):
        parts = {title: with_nulls(part) for title, part in parts.items()}
        schema = with_nulls(schema)
    schemas.update(parts)
    schema["title"] = name or schema["title"]
    schemas[schema["title"]] = schema
    return str(schema["title"])


def with_nulls(schema: Json) -> Json:
    """Return the schema of an object of a request, whose fields may be null unless they must be there."""
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


def without_paths(found: Any, schemas: Json) -> Any:
    """Return a part of the document whose references lead to whole schemas: those to a field of one are followed, since
    generators of clients know no others."""
    if isinstance(found, list):
        return [without_paths(one, schemas) for one in found]
    if not isinstance(found, dict):
        return found
    if isinstance(to := found.get("$ref"), str) and "/properties/" in to:
        *_, name, _, field = to.split("/")
        return schemas[name]["properties"][field]
    return {name: without_paths(value, schemas) for name, value in found.items()}


def json_answer(schema: Json, description: str) -> Json:
    """Return an answer of JSON."""
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def errors(*statuses: str) -> Json:
    """Return the shared error answers."""
    return {status: {"$ref": f"#/components/responses/{status}"} for status in statuses}
