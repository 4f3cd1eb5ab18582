"""OpenAPI parts: what routes share, and short ways to write the rest."""

import json
from importlib.resources import files
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

Json = dict[str, Any]

#: The part of the document that is the same for all kinds: the service's own routes, and what all routes share.
OPENAPI: Json = json.loads(files("api.openapi").joinpath("openapi.json").read_text("utf-8"))
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
    schemas.update(schema.pop("$defs", {}))
    schema["title"] = name or schema["title"]
    schemas[schema["title"]] = schema
    return str(schema["title"])


def json_answer(schema: Json, description: str) -> Json:
    """Return an answer of JSON."""
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def errors(*statuses: str) -> Json:
    """Return the shared error answers."""
    return {status: {"$ref": f"#/components/responses/{status}"} for status in statuses}
