"""Parameters of requests, each declared once to be read and described; and the headers of one page of a list."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode
from uuid import UUID

import falcon.asgi

from pipeline.errors import InvalidRequest

#: PostgreSQL counts further; nobody pages so far.
MAX_OFFSET = 1_000_000_000
WHOLE_NUMBER = re.compile(r"[0-9]{1,10}")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
Json = dict[str, Any]
Value = TypeVar("Value")


class ParameterInvalid(InvalidRequest):
    """A query parameter has an unacceptable value."""

    code = "parameter_invalid"

    def __init__(self, name: str, value: str, remedy: str) -> None:
        super().__init__(f"{name} can't be {value[:60]!a}; {remedy}", field=name)


@dataclass(frozen=True, slots=True)
class Parameter(Generic[Value]):
    """A parameter of the query: its name, its meaning, its JSON Schema, and how its text is parsed."""

    name: str
    meaning: str
    schema: Json
    parse: Callable[[str | None], Value]

    def read(self, req: falcon.asgi.Request) -> Value:
        if self.schema.get("type") != "array":
            return self.parse(req.get_param(self.name))
        sent = req.get_param_as_list(self.name)
        return self.parse(None if sent is None else ",".join(sent))

    @property
    def document(self) -> Json:
        """The parameter in OpenAPI. A list is one text with commas."""
        told = {"name": self.name, "in": "query", "required": False, "schema": self.schema, "description": self.meaning}
        return told | ({"style": "form", "explode": False} if self.schema.get("type") == "array" else {})


def whole(name: str, meaning: str, *, default: int = 0, least: int = 0, most: int = MAX_OFFSET) -> Parameter[int]:
    def parse(text: str | None) -> int:
        if text is None:
            return default
        if not WHOLE_NUMBER.fullmatch(text) or not least <= int(text) <= most:
            raise ParameterInvalid(name, text, f"send a whole number from {least:,} to {most:,}.")
        return int(text)

    return Parameter(name, meaning, {"type": "integer", "minimum": least, "maximum": most, "default": default}, parse)


def choice(
    name: str, meaning: str, choices: Collection[str], *, default: str = "", ignores_case: bool = False
) -> Parameter[str]:
    """Return a parameter that is one of several words; the default, or "", when it was not sent."""

    def parse(text: str | None) -> str:
        if text is None:
            return default
        chosen = text.lower() if ignores_case else text
        if chosen not in choices:
            raise ParameterInvalid(name, text, f"send one of {', '.join(choices)}.")
        return chosen

    schema: Json = {"type": "string", "enum": list(choices)}
    return Parameter(name, meaning, schema | ({"default": default} if default else {}), parse)


def choices(name: str, meaning: str, known: Collection[str], *, items: Json | None = None) -> Parameter[list[str]]:
    """Return a parameter that is some of several words, sent with commas between them or one by one.

    `items` describes the words where only the service knows them."""

    def parse(text: str | None) -> list[str]:
        sent = [] if text is None else [one.strip() for one in text.split(",")]
        for one in sent:
            if one not in known:
                raise ParameterInvalid(name, one, f"send some of {', '.join(known)}, with commas between them.")
        return list(dict.fromkeys(sent))

    words: Json = items or {"type": "string", "enum": list(known)}
    return Parameter(name, meaning, {"type": "array", "items": words, "minItems": 1}, parse)


def flag(name: str, meaning: str, *, default: bool | None = None) -> Parameter[bool | None]:
    def parse(text: str | None) -> bool | None:
        if text not in {None, "true", "false"}:
            raise ParameterInvalid(name, str(text), "send one of true, false.")
        return default if text is None else text == "true"

    return Parameter(name, meaning, {"type": "boolean"} | ({} if default is None else {"default": default}), parse)


def text(name: str, meaning: str, *, longest: int, pattern: str = "", remedy: str = "") -> Parameter[str | None]:
    """Return a parameter that is a text; None when it was not sent. `remedy` tells what the pattern wants."""

    def parse(text: str | None) -> str | None:
        if text is not None and (not text or len(text) > longest or "\0" in text):
            raise ParameterInvalid(name, text, f"send 1 to {longest} characters.")
        if text is not None and pattern and not re.fullmatch(pattern, text):
            raise ParameterInvalid(name, text, remedy)
        return text

    schema: Json = {"type": "string", "minLength": 1, "maxLength": longest}
    return Parameter(name, meaning, schema | ({"pattern": pattern} if pattern else {}), parse)


def uuid(name: str, meaning: str, remedy: str) -> Parameter[UUID | None]:
    """Return a parameter that is a UUID; None when it was not sent."""

    def parse(text: str | None) -> UUID | None:
        try:
            return None if text is None else UUID(text)
        except ValueError:
            raise ParameterInvalid(name, str(text), remedy) from None

    return Parameter(name, meaning, {"type": "string", "format": "uuid"}, parse)


def day(name: str, meaning: str) -> Parameter[date | None]:
    """Return a parameter that is a day; None when it was not sent."""

    def parse(text: str | None) -> date | None:
        if text is None:
            return None
        try:
            if DAY.fullmatch(text):
                return date.fromisoformat(text)
        except ValueError:  # there is no 30 February
            pass
        raise ParameterInvalid(name, text, "send a day such as 2026-05-31.")

    return Parameter(name, meaning, {"type": "string", "format": "date"}, parse)


def moment(name: str, meaning: str, *, is_end: bool = False) -> Parameter[datetime | None]:
    """Return a parameter that is a day (UTC) or a moment in ISO 8601; None when it was not sent.

    A day means its beginning. As the end of a span it is included, and means the beginning of the next day."""

    def parse(text: str | None) -> datetime | None:
        if text is None:
            return None
        try:
            if DAY.fullmatch(text):
                return datetime.combine(date.fromisoformat(text) + timedelta(days=is_end), time(), UTC)
            # A plus that was not encoded arrives as a space.
            found = datetime.fromisoformat(text.replace(" ", "+") if "T" in text else text)
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        except (ValueError, OverflowError):
            raise ParameterInvalid(name, text, "send a day, as in 2026-05-04, or 2026-05-04T12:30:00Z.") from None

    schema: Json = {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]}
    return Parameter(name, meaning, schema, parse)


OFFSET = whole("offset", "Entries to skip.")
SINCE = moment("from", "Only entries created at or after this day (UTC) or moment (ISO 8601).")
UNTIL = moment(
    "to", "Only entries created by the end of this day (UTC), or before this moment (ISO 8601).", is_end=True
)


def limit(default: int, most: int) -> Parameter[int]:
    return whole("limit", "Entries per page.", default=default, least=1, most=most)


def header(name: str, meaning: str, **rules: Any) -> Json:
    """Return a header in OpenAPI; other code reads it."""
    schema: Json = {"type": "string", **rules}
    return {"name": name, "in": "header", "required": False, "schema": schema, "description": meaning}


#: The header of the answer to a dry run.
PRICE = "X-Credits-Required"
DRY_RUN = choice("dry_run", f"true: check the request and answer with its price in {PRICE}.", ("true", "false"))
PREFER = header("Prefer", "respond-async: answer 202 at once. wait=N: answer 202 after N seconds.")
IDEMPOTENCY_KEY = header(
    "Idempotency-Key",
    "The same key and body return the same job for 24 hours.",
    minLength=1,
    maxLength=255,
    pattern="^[!-~]([ -~]*[!-~])?$",
)
RANGE = header("Range", "One range of bytes. A request for several ranges returns the whole file.")


def show_page(
    req: falcon.asgi.Request,
    resp: falcon.asgi.Response,
    *,
    limit: int,
    offset: int,
    total: int,
    searched_since: datetime | None = None,
) -> None:
    """Set X-Total-Count and Link, without an API key in them.

    `searched_since`: the search stopped at this moment; the next page goes on before it."""
    resp.set_header("X-Total-Count", str(total))
    kept = {name: value for name, value in req.params.items() if name not in {"api_key", "limit", "offset"}}

    def link(place: int, relation: str, **more: str) -> str:
        query = urlencode({**kept, **more, "limit": limit, "offset": place}, doseq=True)
        return f'<{req.path}?{query}>; rel="{relation}"'

    links = [link(0, "first")]
    if offset > 0:
        links.append(link(max(0, offset - limit), "prev"))
    if offset + limit < total:
        links.append(link(offset + limit, "next"))
    elif searched_since is not None:
        links.append(link(0, "next", to=exact(searched_since)))
    resp.set_header("Link", ", ".join(links))
    if searched_since is not None:
        resp.set_header("X-Searched-Since", exact(searched_since))


def exact(value: datetime) -> str:
    """Return a moment as a value of `to`, to the microsecond: no entry is skipped or repeated."""
    return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
