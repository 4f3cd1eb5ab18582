"""Queries: the headers of one page of a list."""

from datetime import UTC, datetime
from urllib.parse import urlencode

import falcon.asgi


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


def exact(moment: datetime) -> str:
    """Return a moment as a value of `to`, to the microsecond: no entry is skipped or repeated."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
