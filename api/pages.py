"""Pages: the OpenAPI document, as JSON and as HTML that loads nothing from elsewhere."""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from html import escape
from importlib.resources import files
from itertools import groupby
from operator import getitem
from typing import Any

import falcon
import falcon.asgi
from pydantic_core import to_json

from api.openapi.document import operations

STYLE = files("api").joinpath("page.css").read_text("utf-8")
STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
CACHE_CONTROL = "public, max-age=300"


class OpenApi:
    """GET /openapi.json."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._body = to_json(document)

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with the OpenAPI document."""
        resp.content_type = falcon.MEDIA_JSON
        resp.cache_control = [CACHE_CONTROL]
        resp.data = self._body

    on_head = on_get


class Docs:
    """GET /docs."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._body = _page(document).encode()

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with a page made of the OpenAPI document."""
        resp.content_type = falcon.MEDIA_HTML
        resp.cache_control = [CACHE_CONTROL]
        resp.set_header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        resp.data = self._body

    on_head = on_get


def _page(document: Mapping[str, Any]) -> str:
    info = document["info"]
    by_tag = sorted(operations(document), key=lambda found: found[2]["tags"][0])
    sections = "".join(
        f"<h2>{escape(tag)}</h2>" + "".join(_operation(document, *found) for found in group)
        for tag, group in groupby(by_tag, key=lambda found: found[2]["tags"][0])
    )
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{escape(info['title'])} API</title><style>{STYLE}</style>"
        f"<h1>{escape(info['title'])} <small>{escape(info['version'])}</small></h1><p>{escape(info['summary'])}</p>"
        "<p>Send your key as <code>X-API-Key</code>, as <code>Authorization: Bearer …</code>, or as the field "
        "<code>api_key</code>. <code>Prefer: respond-async</code> answers with a job to ask for later. "
        "For programs: <a href='openapi.json'>openapi.json</a>.</p>"
        f"{sections}<h2>errors</h2>{_errors(document)}</html>"
    )


def _operation(document: Mapping[str, Any], path: str, method: str, operation: dict[str, Any]) -> str:
    return (
        f"<h3 id='{escape(operation['operationId'])}'><b class=method>{method.upper()}</b> <code>{escape(path)}</code>"
        f"</h3><p>{escape(operation['summary'])}</p>"
        f"{_fields(document, operation)}{_parameters(document, operation)}{_example(document, path, operation)}"
        f"<p>Answers: {_answers(operation)}</p>{_answer_fields(document, operation)}"
    )


def _fields(document: Mapping[str, Any], operation: dict[str, Any]) -> str:
    rows = []
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = _resolved(document, content["schema"])
        required = schema.get("required", [])
        rows = [
            (name, _type(field), "required" if name in required else _default(field), field.get("description", ""))
            for name, field in schema.get("properties", {}).items()
        ]
        return f"<p>Body: <code>{escape(media)}</code></p>" + _table(("field", "type", "default", "meaning"), rows)
    return ""


def _parameters(document: Mapping[str, Any], operation: dict[str, Any]) -> str:
    found = [_resolved(document, one) for one in operation["parameters"]]
    rows = [(one["name"], one["in"], _type(_resolved(document, one["schema"])), one["description"]) for one in found]
    return _table(("parameter", "in", "type", "meaning"), rows) if rows else ""


def _example(document: Mapping[str, Any], path: str, operation: dict[str, Any]) -> str:
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        if "example" not in content:
            continue
        sent = content["example"]
        if media == "application/json":
            body = json.dumps(sent, ensure_ascii=False).replace("'", "’")
            options = f"-H 'Content-Type: application/json' -d '{body}'"
        else:
            fields = _resolved(document, content["schema"])["properties"]
            files = {name: f"@{name}.mp3" for name, field in fields.items() if "contentMediaType" in field}
            options = " ".join(f"-F '{name}={value}'" for name, value in {**sent, **files}.items())
        kept = "" if _is_json(operation) else " -OJ"
        command = f'curl $BASE{path} -H "X-API-Key: $KEY" {options}{kept}'
        return f"<pre>{escape(command)}</pre>"
    return ""


def _is_json(operation: dict[str, Any]) -> bool:
    """Tell whether the answer is JSON where the request asks for nothing else: that is described first."""
    answers = [operation["responses"].get(status, {}).get("content", {}) for status in ("200", "201")]
    return any(next(iter(content), None) == "application/json" for content in answers)


def _answers(operation: dict[str, Any]) -> str:
    return ", ".join(
        f"<code>{escape(status)}</code> {escape(found.get('description', ''))}" if "$ref" not in found
        else f"<code>{escape(status)}</code>"
        for status, found in operation["responses"].items()
    )  # fmt: skip


def _answer_fields(document: Mapping[str, Any], operation: dict[str, Any]) -> str:
    for status, answer in operation["responses"].items():
        schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
        if status < "202" and (rows := list(_nested(document, schema))):
            return _table(("in the answer", "type", "meaning"), rows)
    return ""


def _nested(document: Mapping[str, Any], schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield path, type and meaning of all fields of an answer, as in `results[].alt_text`."""
    schema = _resolved(document, next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema))
    if schema.get("type") == "array":
        yield from _nested(document, schema["items"], f"{path}[]")
    for name, field in schema.get("properties", {}).items():
        place = f"{path}.{name}" if path else name
        yield place, _type(_resolved(document, field)), field.get("description", "")
        yield from _nested(document, field, place)


def _errors(document: Mapping[str, Any]) -> str:
    responses = document["components"]["responses"]
    return _table(("status", "meaning"), [(status, found["description"]) for status, found in responses.items()])


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{titles}</tr>{lines}</table>"


def _resolved(document: Mapping[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Return what a part of the document refers to, or the part itself."""
    if "$ref" in part:
        part = reduce(getitem, part["$ref"].removeprefix("#/").split("/"), document)  # type: ignore[arg-type]
    return part


def _default(field: dict[str, Any]) -> str:
    return json.dumps(field["default"]) if field.get("default") is not None else ""


def _type(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_type(one) for one in field["anyOf"] if one.get("type") != "null")
    if "enum" in field:
        return ", ".join(map(str, field["enum"]))
    bounds = [f"{sign} {field[key]}" for key, sign in (("minimum", "≥"), ("maximum", "≤")) if key in field]
    return " ".join([str(field.get("type", "object")), *bounds])
