"""Fields: a request's fields, validated against its model, with errors that name field, value and rule."""

import json
from collections.abc import Collection, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

import falcon.asgi
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json

from api.http.bodies.sent_fields import unknown
from api.http.request_context import context_of
from pipeline.errors import InvalidRequest
from pipeline.kind import UPLOADED, AnyKind

Model = TypeVar("Model", bound=BaseModel)

#: Longest value quoted in an error.
MAX_SHOWN = 60
#: The header that names fields without effect, and most names in it.
IGNORED = "x-ignored-fields"
MAX_IGNORED = 20
#: Fields that any request may have.
ANYWHERE = frozenset(("api_key", "webhook_url", "webhook_events", "priority"))


class FieldsInvalid(InvalidRequest):
    """Some fields are invalid."""

    code = "invalid_request"

    def __init__(self, faults: list[dict[str, str]]) -> None:
        super().__init__(" ".join(f"{fault['field']}: {fault['message']}" for fault in faults), details=faults)


def require_files(kind: AnyKind, hashes: Mapping[str, str]) -> None:
    """Raise FieldsInvalid unless all files of the kind were sent."""
    absent = [name for name in kind.files if name not in hashes]
    if absent:
        raise FieldsInvalid([missing(name) for name in absent])


def with_uploads(
    kind: AnyKind, sent: dict[str, Any], hashes: Mapping[str, str], names: Mapping[str, str]
) -> dict[str, Any]:
    """Return a form's texts with the fields that its files replace. Raises FieldsInvalid if both were sent.

    `names` are those of the files, for entries of a list."""
    if (many := kind.many_files) is not None and many.list not in sent:
        texts = {name: value for name, value in sent.items() if name in many.entry.model_fields}
        places = [field for field in hashes if field.startswith(f"{many.file}.")]
        entries = [{**texts, many.field: f"{UPLOADED}{field}", "name": names.get(field, "")} for field in places]
        sent = {**sent, many.list: entries}
    for name, field in kind.uploads.items():
        if name not in hashes:
            continue
        if field in sent:
            message = f"Send either the file {name} or the field {field}."
            raise FieldsInvalid([{"field": name, "message": message, "code": "field_doubled"}])
        sent = {**sent, field: f"{UPLOADED}{name}"}
    return sent


def refuse_marks(kind: AnyKind, request: BaseModel, hashes: Mapping[str, str]) -> None:
    """Refuse the mark of an uploaded file without the file. Raises FieldsInvalid."""
    marks = [(field, getattr(request, field)) for field in kind.uploads.values()]
    if (many := kind.many_files) is not None:
        entries = enumerate(getattr(request, many.list))
        marks += [(f"{many.list}.{place}.{many.field}", getattr(entry, many.field)) for place, entry in entries]
    for field, value in marks:
        if isinstance(value, str) and value.startswith(UPLOADED) and value.removeprefix(UPLOADED) not in hashes:
            message = f"{value[:MAX_SHOWN]} stands for a file of a form, which was not sent."
            raise FieldsInvalid([{"field": field, "message": message, "code": "file_missing"}])


def ignore(req: falcon.asgi.Request, *names: str) -> None:
    """Name sent fields without effect in X-Ignored-Fields, percent-encoded where they are not plain words."""
    headers = context_of(req).headers
    shown = [quote(name[:MAX_SHOWN], safe="") for name in sorted(names)[:MAX_IGNORED]]
    if shown:
        headers[IGNORED] = ", ".join(filter(None, [headers.get(IGNORED), *shown]))


def ignore_unknown(req: falcon.asgi.Request, model: type[BaseModel]) -> None:
    """Name the fields of a JSON body that neither a model nor any request has; those inside others by their path."""
    names = {unknown(path, model) for path in context_of(req).sent_fields if path[0] not in ANYWHERE}
    ignore(req, *(name for name in names if name is not None))


def read_sent_fields(req: falcon.asgi.Request, model: type[Model], body: bytes) -> Model:
    """Return the valid fields of a JSON body, and name the others in X-Ignored-Fields. Raises FieldsInvalid."""
    ignore_unknown(req, model)
    return read_fields(model, body)


def read_fields(model: type[Model], sent: bytes | dict[str, Any]) -> Model:
    """Return the valid fields of a JSON body (strict) or of a form's texts. Raises FieldsInvalid."""
    try:
        if isinstance(sent, bytes):
            return model.model_validate_json(_without_nulls(sent, getattr(model, "cleared", ())), strict=True)
        return model.model_validate(sent)
    except ValidationError as error:
        # Not chained: the cause would put the whole input into the log.
        raise FieldsInvalid([_fault(found) for found in error.errors(include_url=False)]) from None


def _without_nulls(body: bytes, kept: Collection[str]) -> bytes:
    """Return a JSON object without null fields, except those to keep. List entries stay."""
    if b"null" not in body:
        return body
    sent = from_json(body)
    return to_json({name: _given(value) for name, value in sent.items() if value is not None or name in kept})


def _given(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _given(one) for name, one in value.items() if one is not None}
    return [_given(one) for one in value] if isinstance(value, list) else value


def missing(field: str) -> dict[str, str]:
    return {"field": field, "message": "This field is required.", "code": "field_missing"}


def _fault(found: Any) -> dict[str, str]:
    field = ".".join(str(place) for place in found["loc"]) or "body"
    if found["type"] == "missing":
        return missing(field)
    message = _length(found) or f"{found['msg']}, but {_shown(found['input'])} was sent."
    return {"field": field, "message": message, "code": _code(found)}


def _length(found: Any) -> str | None:
    """Return the fault of a wrong length, without quoting the content."""
    unit = "characters" if found["type"].startswith("string_") else "entries"
    limits = found.get("ctx", {})
    if found["type"].endswith("too_long"):
        return f"This may have at most {limits['max_length']:,} {unit}, but has {len(found['input']):,}."
    if found["type"].endswith("too_short") and limits["min_length"] == 1:
        return "This must not be empty."
    if found["type"].endswith("too_short"):
        return f"This must have at least {limits['min_length']:,} {unit}, but has {len(found['input']):,}."
    return None


def _code(found: Any) -> str:
    kind: str = found["type"]
    if kind.endswith(("_type", "_parsing")) or kind in {"int_from_float"}:
        return "field_type"
    if kind in {"greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number"}:
        return "field_out_of_range"
    if kind.endswith(("too_short", "too_long")):
        return "field_length"
    if kind in {"enum", "literal_error"}:
        return "field_not_a_choice"
    return "field_invalid"


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
