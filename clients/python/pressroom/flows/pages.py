"""Pages: lists of the service, one page or all."""

import re
from typing import Any, TypeVar

from pressroom.documents import Document
from pressroom.exchange import Emit, Flow, StreamFlow
from pressroom.service import Answer, Service

Shown = TypeVar("Shown", bound=Document)
#: The address of the next page, in a Link header.
NEXT = re.compile(r'<([^>]*)>; rel="next"')


class Page(list[Shown]):
    """A page of a list; `total` is the list's length (of jobs, up to 10,000), `next` links to the rest."""

    total: int = 0
    next: str | None = None


def page(service: Service, path: str, model: type[Shown], **params: Any) -> Flow[Page[Shown]]:
    """Return a page of a list."""
    return _read((yield from service.get(path, **params)), model)


def pages(service: Service, path: str, model: type[Shown], *, limit: int, **params: Any) -> StreamFlow[Shown]:
    """Emit all of a list, by pages of `limit`."""
    some = yield from page(service, path, model, limit=limit, **params)
    while True:
        for one in some:
            yield Emit(one)
        if some.next is None:
            return
        some = _read((yield from service.follow(some.next)), model)


def _read(answer: Answer, model: type[Shown]) -> Page[Shown]:
    found = Page(model.read(one) for one in answer.json)
    found.total = int(answer.headers.get("X-Total-Count", len(found)))
    next_link = NEXT.search(answer.headers.get("Link", ""))
    found.next = next_link and next_link[1]
    return found
