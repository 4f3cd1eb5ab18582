"""Monitors: the routes of daily or weekly index checks and their changes."""

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import falcon
import falcon.asgi

from api.http.bodies.fields import read_sent_fields
from api.http.operations import LOCATION, Operation, Reply
from api.http.parameters import OFFSET, choice, limit, show_page
from api.services.resource import Resource, read_sent
from api.work.answers import show_json
from capabilities.index_check.kinds.index_check import IndexCheck
from capabilities.index_check.monitors.changes import CHANGE_KINDS, IndexMonitorChange, list_changes
from capabilities.index_check.monitors.monitor import (
    Monitor,
    add_monitor,
    change_monitor,
    count_unfinished,
    delete_monitor,
    find_monitor,
    list_monitors,
)
from capabilities.index_check.requests.request import MAX_BODY_BYTES, IndexCheckRequest
from capabilities.index_check.routes.monitor_documents import (
    IndexMonitor,
    IndexMonitorCreated,
    MonitorChanges,
    MonitorRequest,
)
from capabilities.index_check.settings import IndexLimits
from pipeline.accounts.accounts import lock_account
from pipeline.accounts.keys import Caller
from pipeline.database import Statement
from pipeline.downloads.addresses import Reach
from pipeline.downloads.targets import Refused, read_target
from pipeline.downloads.targets import shown as shown_url
from pipeline.errors import Conflict, InvalidRequest, NotFound
from pipeline.kind import as_json
from pipeline.webhooks.accounts import NewWebhook, add_webhook, delete_webhook, move_webhook

TAG = "search_check"
LIMIT = limit(20, 100)
CHANGE = choice("change", "Only changes of this kind.", CHANGE_KINDS)
CHANGE_LIMIT = limit(100, 1_000)
OF_JOBS = ("engine", "index", "diagnose")
#: Stands for stored URLs, which were checked before.
ANY_URL = "https://example.org/"


class MonitorNotFound(NotFound):
    """There is no such monitor, or it is another account's."""

    code = "monitor_not_found"
    message = "There is no such monitor. GET /indexing/monitors lists yours."


class UrlsOrSitemap(InvalidRequest):
    """The request has both URLs and a sitemap, or neither."""

    code = "urls_or_sitemap"
    message = "Send either urls or sitemap_url."
    field = "urls"


class MonitorBase(Resource):
    """Common parts of the resources."""

    async def find(self, caller: Caller, monitor_id: str) -> Monitor:
        """Return a monitor of the caller's account. Raises MonitorNotFound."""
        try:
            wanted = UUID(monitor_id)
        except ValueError:
            raise MonitorNotFound from None
        found = await self._services.database.run(find_monitor(wanted, caller.account_id))
        if found is None:
            raise MonitorNotFound
        return found

    async def _check(self, fields: Mapping[str, Any]) -> None:
        """Refuse invalid addresses, and anything that an index job would refuse. Raises InvalidRequest."""
        for name in ("sitemap_url", "webhook_url"):
            if fields.get(name) is not None:
                self._check_address(name, fields[name])
        if not fields.keys() & {"urls", *OF_JOBS}:
            return
        kind = self._services.kinds[IndexCheck.name]
        offers = await self._services.offer_cache.offers()
        request = IndexCheckRequest(
            type="check",
            urls=fields.get("urls") or [ANY_URL],
            **{name: fields[name] for name in OF_JOBS if fields.get(name)},
        )
        # In a thread: ten thousand hosts in other scripts take seconds to read.
        async with self._services.large_requests:
            await asyncio.to_thread(kind.check, request, offers)

    def _check_address(self, name: str, url: str) -> None:
        """Refuse an address that is never asked. Its name is resolved with each request. Raises InvalidRequest."""
        try:
            read_target(url, Reach(self._services.settings.fetch.allow_networks))
        except Refused as refused:
            message = f"{name} can't be {shown_url(url)}: {refused.why}."
            raise InvalidRequest(message, code="url_invalid", field=name) from None


class Monitors(MonitorBase):
    """GET and POST /indexing/monitors."""

    @Operation(
        id="get_indexing_monitors",
        tag=TAG,
        summary="List the account's monitors, newest first.",
        parameters=(LIMIT, OFFSET),
        replies={200: Reply("A page, with its neighbours in Link.", list[IndexMonitor])},
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        services = self._services
        caller = await services.authenticate_reader(req)
        limit, offset = LIMIT.read(req), OFFSET.read(req)
        page, total = await services.database.run(list_monitors(caller.account_id, limit=limit, offset=offset))
        show_page(req, resp, limit=limit, offset=offset, total=total)
        show_json(resp, [as_json(IndexMonitor.of(monitor)) for monitor in page])

    @Operation(
        id="post_indexing_monitors",
        tag=TAG,
        summary="Check URLs, or those of a sitemap, every day or week; each check is an index job.",
        body=MonitorRequest,
        example={"urls": ["https://www.python.org/"], "every": "week"},
        replies={201: Reply("The monitor and, once, its webhook's secret.", IndexMonitorCreated, headers=LOCATION)},
        errors=(409, 415),
    )
    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        caller, body = await read_sent(self._services, req, max_bytes=MAX_BODY_BYTES)
        made, secret = await self.create(caller, read_sent_fields(req, MonitorRequest, body))
        resp.set_header("Location", f"/indexing/monitors/{made.id}")
        _show(resp, made, secret, status=201)

    async def create(self, caller: Caller, wanted: MonitorRequest) -> tuple[Monitor, str | None]:
        """Add a monitor; return it with the secret of its webhook. Raises InvalidRequest, Conflict."""
        services = self._services
        if (wanted.urls is None) == (wanted.sitemap_url is None):
            raise UrlsOrSitemap
        await self._check(wanted.model_dump())
        webhook = NewWebhook(caller.account_id, wanted.webhook_url) if wanted.webhook_url else None
        monitor_id = uuid4()
        columns = {
            **wanted.model_dump(include={"every", "name", "sitemap_url", "until_indexed"}),
            "request": {name: value for name in OF_JOBS if (value := getattr(wanted, name))},
            "urls": _each_once(wanted.urls),
            "webhook_id": webhook.id if webhook else None,
        }
        most = services.settings.of(IndexLimits).index_monitors
        hooked = [add_webhook(webhook)] if webhook else []
        # Read in the same transaction: if a later read failed, a client would make another monitor.
        made: Monitor | None
        *_, made = await services.database.run_together(
            [
                lock_account(caller.account_id),
                *hooked,
                add_monitor(monitor_id, caller, columns, most=most),
                find_monitor(monitor_id, caller.account_id),
            ]
        )
        if made is None:
            if webhook:
                await services.database.run(delete_webhook(webhook.id))
            raise _too_many(most)
        return made, webhook.secret if webhook else None


class MonitorResource(MonitorBase):
    """GET, PATCH and DELETE /indexing/monitors/{id}."""

    @Operation(
        id="get_indexing_monitor",
        tag=TAG,
        summary="Return a monitor.",
        replies={200: Reply("The monitor.", IndexMonitor)},
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, monitor_id: str) -> None:
        caller = await self._services.authenticate_reader(req)
        show_json(resp, as_json(IndexMonitor.of(await self.find(caller, monitor_id))))

    @Operation(
        id="patch_indexing_monitor",
        tag=TAG,
        summary="Pause, resume or change a monitor.",
        body=MonitorChanges,
        replies={200: Reply("The monitor and, once, the secret of a new webhook.", IndexMonitorCreated)},
        errors=(409, 415),
    )
    async def on_patch(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, monitor_id: str) -> None:
        caller, body = await read_sent(self._services, req, max_bytes=MAX_BODY_BYTES)
        monitor = await self.find(caller, monitor_id)
        _show(resp, *await self.change(caller, monitor, read_sent_fields(req, MonitorChanges, body)))

    async def change(self, caller: Caller, monitor: Monitor, wanted: MonitorChanges) -> tuple[Monitor, str | None]:
        """Change a monitor; return it with the secret of a new webhook.

        Raises InvalidRequest, MonitorNotFound, Conflict."""
        sent = wanted.model_dump(include=wanted.model_fields_set)
        if sent.get("state") == "active" and monitor.finished_at is not None:
            most = self._services.settings.of(IndexLimits).index_monitors
            if await self._services.database.run(count_unfinished(caller.account_id)) >= most:
                raise _too_many(most)
        if {"urls", "sitemap_url"} <= sent.keys():
            raise UrlsOrSitemap
        request = {**monitor.request, **{name: sent[name] for name in OF_JOBS if name in sent}}
        # A monitor whose engine is gone can still be paused.
        await self._check({**sent, **request} if sent.keys() & {"urls", *OF_JOBS} else sent)
        changed: dict[str, Any] = {
            name: sent[name] for name in ("name", "every", "state", "until_indexed") if name in sent
        }
        if request != monitor.request:
            changed["request"] = {name: value for name, value in request.items() if value}
        if "urls" in sent or "sitemap_url" in sent:
            changed |= {"urls": _each_once(sent.get("urls")), "sitemap_url": sent.get("sitemap_url")}
        webhook, hooked = _webhook_changes(caller, monitor, sent)
        if "webhook_url" in sent and (webhook or sent["webhook_url"] is None):
            changed["webhook_id"] = webhook.id if webhook else None
        changing = change_monitor(monitor.id, caller.account_id, changed)
        # A new webhook exists before its monitor names it; a monitor is locked before its webhook, as by the sweep.
        statements: list[Statement[Any]] = [*hooked, changing] if webhook else [changing, *hooked]
        statements.append(find_monitor(monitor.id, caller.account_id))
        *_, found = await self._services.database.run_together(statements)
        if found is None:
            raise MonitorNotFound
        return found, webhook.secret if webhook else None

    @Operation(
        id="delete_indexing_monitor",
        tag=TAG,
        summary="Delete a monitor and its list of changes.",
        replies={204: Reply("The monitor is deleted.")},
        errors=(415,),
    )
    async def on_delete(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, monitor_id: str) -> None:
        caller, _ = await read_sent(self._services, req, max_bytes=MAX_BODY_BYTES)
        monitor = await self.find(caller, monitor_id)
        await self._services.database.run(delete_monitor(monitor.id, caller.account_id))
        resp.status = falcon.HTTP_204


class MonitorChangeList(MonitorBase):
    """GET /indexing/monitors/{id}/changes."""

    @Operation(
        id="get_indexing_monitor_changes",
        tag=TAG,
        summary="List a monitor's changes, newest first.",
        parameters=(CHANGE, CHANGE_LIMIT, OFFSET),
        replies={200: Reply("A page, with its neighbours in Link.", list[IndexMonitorChange])},
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, monitor_id: str) -> None:
        caller = await self._services.authenticate_reader(req)
        change = CHANGE.read(req) or None
        limit, offset = CHANGE_LIMIT.read(req), OFFSET.read(req)
        monitor = await self.find(caller, monitor_id)
        page, total = await self._services.database.run(
            list_changes(monitor.id, change=change, limit=limit, offset=offset)
        )
        show_page(req, resp, limit=limit, offset=offset, total=total)
        show_json(resp, [as_json(change) for change in page])


def _show(resp: falcon.asgi.Response, monitor: Monitor, secret: str | None, status: int = 200) -> None:
    document = as_json(IndexMonitor.of(monitor))
    show_json(resp, document if secret is None else {**document, "webhook_secret": secret}, status)


def _webhook_changes(
    caller: Caller, monitor: Monitor, sent: Mapping[str, Any]
) -> tuple[NewWebhook | None, list[Statement[None]]]:
    """Return the new webhook, if any, and the statements that add, move or delete one."""
    if "webhook_url" not in sent:
        return None, []
    url: str | None = sent["webhook_url"]
    known = monitor.webhook_id
    if known is not None:
        return None, [delete_webhook(known) if url is None else move_webhook(known, url)]
    if url is None:
        return None, []
    webhook = NewWebhook(caller.account_id, url)
    return webhook, [add_webhook(webhook)]


def _too_many(most: int) -> Conflict:
    message = f"The account has {most:,} monitors that have not finished, the most it may have. Delete one first."
    return Conflict(message, code="too_many_monitors")


def _each_once(urls: list[str] | None) -> list[str] | None:
    return None if urls is None else list(dict.fromkeys(urls))
