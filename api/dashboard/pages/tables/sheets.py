"""Sheets: lists that readers bring to a page that does many things at once: read, and checked row by row for free."""

import asyncio
import re
import tempfile
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import falcon
import falcon.asgi
from pydantic import BaseModel

from api.dashboard.pages.try_it import DECLARED
from api.http.bodies.bodies import read_body, read_json
from api.http.bodies.fields import read_fields
from api.services.resource import Resource
from api.services.sessions import CSRF_HEADER, check_csrf_token
from api.try_pages import Bulk, TryPage
from api.work.answers import show_json
from pipeline.errors import InvalidRequest, PressroomError
from pipeline.kind import AnyKind
from pipeline.offers.offers import Offers
from pipeline.sheets.sheet import Sheet, choose

PATH = "/dashboard/sheets/{slug}"
#: A list of this many bytes and rows; longer ones are for `pressroom import-csv`.
MOST_BYTES = 10_000_000
MOST_ROWS = 2_000
MOST_CHECKED = 100
#: Longest name of a column; a longer first row has texts.
LONGEST_NAME = 60
#: A field that a message begins with, or names before what is wrong with it.
NAMED = re.compile(r"\b\w+(?=[:.]| can't )")


class SheetResource(Resource):
    """POST /dashboard/sheets/{slug}: the file is the body."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, slug: str) -> None:
        """Answer with the rows of a list, its columns, and those that its names tell. Raises InvalidRequest."""
        session = await self._services.sessions.require(req, resp)
        check_csrf_token(session.csrf_token, req.get_header(CSRF_HEADER) or "")
        page, bulk = _page(slug)
        body = await read_body(req, max_bytes=MOST_BYTES)
        # One at a time: a spreadsheet takes a process, and some memory.
        async with self._services.large_requests:
            sheet = await asyncio.to_thread(_read, body, bulk)
        labels = _labels(page, bulk)
        for field in sheet["fields"]:
            field["label"] = labels[field["name"]]
        show_json(resp, sheet)


class SheetCheck(Resource):
    """POST /dashboard/sheets/{slug}/check."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, slug: str) -> None:
        """Answer with what is wrong with each request, and what it costs; nothing is sent. Raises InvalidRequest."""
        services = self._services
        session = await services.sessions.require(req, resp)
        check_csrf_token(session.csrf_token, req.get_header(CSRF_HEADER) or "")
        page, bulk = _page(slug)
        _, sent = await read_json(req, max_bytes=MOST_BYTES)
        requests = sent.get("requests")
        if not isinstance(requests, list) or len(requests) > MOST_CHECKED:
            raise InvalidRequest(f"Send requests, a list of at most {MOST_CHECKED}.")
        kind, offers = services.kinds[bulk.kind], await services.offer_cache.offers()
        labels = _labels(page, bulk)
        show_json(resp, [_checked(kind, one, offers, labels) for one in requests])


RESOURCES = {PATH: SheetResource, f"{PATH}/check": SheetCheck}


def _page(slug: str) -> tuple[TryPage, Bulk]:
    for page in DECLARED:
        if page.slug == slug and page.bulk is not None and page.bulk.columns:
            return page, page.bulk
    raise falcon.HTTPNotFound(description="There is no such page.")


def _labels(page: TryPage, bulk: Bulk) -> dict[str, str]:
    """Return the labels of the fields that a list fills."""
    plain = {name: name.replace("_", " ").capitalize() for name in bulk.columns}
    return {name: bulk.labels.get(name) or page.labels.get(name) or plain[name] for name in bulk.columns}


def _read(body: bytes, bulk: Bulk) -> dict[str, Any]:
    """Return the columns and rows of a list. Raises InvalidRequest."""
    with tempfile.TemporaryDirectory(prefix="pressroom-") as folder:
        file = Path(folder) / "list"
        file.write_bytes(body)
        names = tuple(name for some in bulk.columns.values() for name in some)
        try:
            sheet = Sheet(file, column=None, names=names, is_wanted=lambda cell: "://" in cell)
            return _shown(sheet, bulk)
        except InvalidRequest as error:
            raise InvalidRequest(error.message.replace(str(file), "The list"), code=error.code) from error


def _shown(sheet: Sheet, bulk: Bulk) -> dict[str, Any]:
    first = sheet.first_row
    is_named = sheet.has_header or all(
        cell.strip() and "://" not in cell and len(cell) <= LONGEST_NAME for cell in first
    )
    rows = [(row.line, list(row.cells)) for row in sheet.rows()]
    if is_named and not sheet.has_header:
        rows = rows[1:]
    columns = sheet.column_names(is_named=is_named, unnamed="column_1")
    fields: list[dict[str, Any]] = []
    for name, known in bulk.columns.items():
        column = choose(known, first) if is_named else None
        is_required = not fields
        fields.append({"name": name, "is_required": is_required, "column": column})
    if fields[0]["column"] is None:
        fields[0]["column"] = sheet.index
    kept = [{"line": line, "cells": cells} for line, cells in islice(rows, MOST_ROWS)]
    return {"columns": columns, "rows": kept, "left_out": max(0, len(rows) - MOST_ROWS), "fields": fields}


def _checked(kind: AnyKind, sent: Any, offers: Offers, labels: Mapping[str, str]) -> Mapping[str, Any]:
    try:
        if not isinstance(sent, dict):
            raise InvalidRequest("A request is a JSON object.")
        request: BaseModel = read_fields(kind.request, sent)
        kind.check(request, offers)
    except PressroomError as error:
        fault = NAMED.sub(lambda found: labels.get(found[0], found[0]), error.message)
        return {"fault": fault, "credits": 0}
    return {"fault": None, "credits": sum(item.price for item in kind.items(request))}
