"""Tools: what an assistant may call. A tool is a route of the API, whose OpenAPI document describes its arguments.

A capability lists its own in `tools` (TOOLS)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from api.services.key_routes import ALWAYS
from pipeline.accounts.keys import allows
from pipeline.capabilities import parts

Json = dict[str, Any]

#: Arguments of tools that take or make a file.
PATH, BASE64, SAVE_AS, DRY_RUN = "file_path", "file_base64", "save_as", "dry_run"


@dataclass(frozen=True, slots=True)
class Tool:
    """A route as a tool.

    `fields` are the fields or parameters that an assistant sees, `file` the form's file that may stand in their place,
    `fixed` are fields that it doesn't choose. `is_work`: it makes a job, whose price can be asked for first."""

    name: str
    path: str
    description: str
    fields: Sequence[str] = ()
    method: Literal["GET", "POST"] = "POST"
    file: str | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    is_work: bool = False
    makes_file: bool = False

    def is_for(self, routes: Collection[str] | None) -> bool:
        """Return whether a key that is limited to routes may use it; None: the key has no such limit."""
        return routes is None or allows(routes, self.path) or self.path.startswith(ALWAYS)

    @property
    def arguments(self) -> frozenset[str]:
        """The names of all its arguments. Another one has no effect, which would surprise: dry_run of cancel_job."""
        more = {PATH: self.file, BASE64: self.file, SAVE_AS: self.makes_file, DRY_RUN: self.is_work}
        return frozenset((*self.fields, *(name for name, has in more.items() if has)))

    def input_schema(self, document: Json, *, has_folder: bool) -> Json:
        """Return the JSON Schema of its arguments, made of the service's OpenAPI document.

        `has_folder`: it may read and write files of this machine."""
        properties, required = _described(document, self.method.lower(), self.path)
        arguments = {name: properties[name] for name in self.fields if name in properties}
        needed = [name for name in self.fields if name in required]
        if self.file:
            if has_folder:
                arguments[PATH] = _text("A file in the shared folder, in place of a URL.")
            arguments[BASE64] = _text("The file itself, in Base64, up to 3 MB.")
            needed = [name for name in needed if not name.endswith("_url")]
        if self.makes_file and has_folder:
            arguments[SAVE_AS] = _text("Name of a new file in the shared folder for the result.")
        if self.is_work:
            arguments[DRY_RUN] = {"type": "boolean", "description": "Only return the price; do nothing."}
        return {"type": "object", "properties": arguments, "required": needed, "additionalProperties": False}


#: The tools for jobs, whatever made them.
JOB_TOOLS = (
    Tool(
        "list_jobs",
        "/jobs",
        "List the latest jobs of the account, with their state and cost. Free.",
        fields=("kind", "state", "q", "limit"),
        method="GET",
    ),
    Tool(
        "get_job",
        "/jobs/{job_id}",
        "Tell how far a job is, what it cost, and why it failed. Free.",
        fields=("job_id",),
        method="GET",
    ),
    Tool(
        "get_job_result",
        "/jobs/{job_id}/result",
        "Return the result of a job that has ended. Free.",
        fields=("job_id",),
        method="GET",
        makes_file=True,
    ),
    Tool(
        "cancel_job",
        "/jobs/{job_id}/cancel",
        "Cancel a job. Work that was not delivered is not charged.",
        fields=("job_id",),
    ),
)


def all_tools() -> list[Tool]:
    """Return the tools of all capabilities, and those for jobs."""
    return [*(tool for part in parts("tools") for tool in part.TOOLS), *JOB_TOOLS]


def _described(document: Json, method: str, path: str) -> tuple[Json, Collection[str]]:
    """Return the fields and parameters of an operation by name, and those that it needs."""
    operation = document["paths"][path][method]
    parameters = [one for one in operation["parameters"] if one["in"] in ("path", "query")]
    properties = {one["name"]: {**one["schema"], "description": one.get("description", "")} for one in parameters}
    required = {one["name"] for one in parameters if one.get("required")}
    content = operation.get("requestBody", {}).get("content", {})
    for sent in sorted(content.values(), key=lambda one: "$ref" not in one["schema"]):
        schema = _resolved(document, sent["schema"])
        properties = schema["properties"] | properties
        required |= set(schema.get("required", ()))
    return {name: _resolved(document, told) for name, told in properties.items()}, required


def _resolved(document: Json, schema: Any) -> Any:
    """Return a schema with its references replaced by what they name."""
    if isinstance(schema, list):
        return [_resolved(document, one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if (reference := schema.get("$ref")) is not None:
        schema = {**document["components"]["schemas"][reference.rpartition("/")[2]], **schema}
        del schema["$ref"]
    return {name: _resolved(document, told) for name, told in schema.items()}


def _text(description: str) -> Json:
    return {"type": "string", "description": description}
