"""Queries: parameters of a query string, checked, and the headers of a page of a list."""

import re
from collections.abc import Collection
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urlencode

import falcon.asgi

from pipeline.errors import InvalidRequest

#: PostgreSQL counts further; nobody pages so far.
MAX_OFFSET = 1_000_000_000
WHOLE_NUMBER = re.compile(r"[0-9]{1,10}")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class ParameterInvalid(InvalidRequest):
    """A query parameter has a value that it can't have."""

    code = "parameter_invalid"

    def __init__(self, name: str, value: str, remedy: str) -> None:
        super().__init__(f"{name} can't be {value[:60]!a}; {remedy}", field=name)


def read_whole(req: falcon.asgi.Request, name: str, *, default: int, least: int = 0, most: int = MAX_OFFSET) -> int:
    """Return a whole number within bounds. Raises ParameterInvalid."""
    text = req.get_param(name)
    if text is None:
        return default
    if not WHOLE_NUMBER.fullmatch(text) or not least <= int(text) <= most:
        raise ParameterInvalid(name, text, f"send a whole number from {least:,} to {most:,}.")
    return int(text)


def read_choice(req: falcon.asgi.Request, name: str, choices: Collection[str]) -> str | None:
    """Return one of the choices, None when none was made. Raises ParameterInvalid."""
    text = req.get_param(name)
    if text is not None and text not in choices:
        raise ParameterInvalid(name, text, f"send one of {', '.join(choices)}.")
    return text


def read_choices(req: falcon.asgi.Request, name: str, choices: Collection[str]) -> list[str]:
    """Return the choices that are made, sent with commas between them or one by one. Raises ParameterInvalid."""
    sent = [one.strip() for text in req.get_param_as_list(name) or () for one in text.split(",")]
    for one in sent:
        if one not in choices:
            raise ParameterInvalid(name, one, f"send some of {', '.join(choices)}, with commas between them.")
    return list(dict.fromkeys(sent))


def read_moment(req: falcon.asgi.Request, name: str, *, is_end: bool = False) -> datetime | None:
    """Return a point in time, sent as a day (UTC) or as ISO 8601, None when there is none. Raises ParameterInvalid.

    A day stands for its beginning; as an end of a span it is part of that, and stands for the next day's beginning."""
    text = req.get_param(name)
    if text is None:
        return None
    try:
        if DAY.fullmatch(text):
            return datetime.combine(date.fromisoformat(text) + timedelta(days=is_end), time(), UTC)
        # A plus that nobody encoded arrives as a space.
        moment = datetime.fromisoformat(text.replace(" ", "+") if "T" in text else text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ParameterInvalid(name, text, "send a day, as in 2026-05-04, or 2026-05-04T12:30:00Z.") from None


def read_text(req: falcon.asgi.Request, name: str, *, longest: int) -> str | None:
    """Return a text, None when there is none. Raises ParameterInvalid."""
    text = req.get_param(name)
    if text is not None and (not text or len(text) > longest or "\0" in text):
        raise ParameterInvalid(name, text, f"send 1 to {longest} characters.")
    return text


def show_page(
    req: falcon.asgi.Request,
    resp: falcon.asgi.Response,
    *,
    limit: int,
    offset: int,
    total: int,
    searched_since: datetime | None = None,
) -> None:
    """Say how long the whole list is, and where the pages beside this one are; a key is not repeated in them.

    `searched_since`: the list goes on behind this moment, and says when that is."""
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


def exact(moment: datetime) -> str:
    """Return a moment as it may be sent as `to`, to the microsecond: nothing is left out, and nothing comes twice."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
