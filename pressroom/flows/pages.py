"""Pages: lists of the service, one page or all of them."""

from typing import Any, TypeVar

from pressroom.documents.document import Document
from pressroom.exchange import Emit, Flow, StreamFlow
from pressroom.service import Service

Shown = TypeVar("Shown", bound=Document)


class Page(list[Shown]):
    """Some of a list; `total` is how many it has in all."""

    total: int = 0


def page(service: Service, path: str, model: type[Shown], **params: Any) -> Flow[Page[Shown]]:
    """Return a page of a list."""
    answer = yield from service.get(path, **params)
    found = Page(model.read(one) for one in answer.json)
    found.total = int(answer.headers.get("X-Total-Count", len(found)))
    return found


def pages(service: Service, path: str, model: type[Shown], *, limit: int, **params: Any) -> StreamFlow[Shown]:
    """Emit all of a list, which is asked for in pages of `limit`."""
    offset = 0
    while True:
        some = yield from page(service, path, model, limit=limit, offset=offset, **params)
        for one in some:
            yield Emit(one)
        offset += len(some)
        if not some or offset >= some.total:
            return
