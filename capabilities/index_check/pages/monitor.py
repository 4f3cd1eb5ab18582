"""Monitor: the form that makes one, and its page: what is listed, what changed since, why not, and its settings."""

import json
from datetime import UTC, datetime
from typing import Any

import falcon.asgi

from api.dashboard.forms import Form, read_form
from api.dashboard.rendering import redirect, render
from api.http.bodies.fields import read_fields
from api.http.parameters import OFFSET
from api.services.resource import Resource
from api.services.services import Services
from capabilities.index_check.monitors.changes import list_changes
from capabilities.index_check.monitors.monitor import Monitor, delete_monitor
from capabilities.index_check.pages.history import plot, read_tracks
from capabilities.index_check.pages.overview import ROOT, name_of
from capabilities.index_check.results.jobs import title_of
from capabilities.index_check.results.urls import UrlRecord, list_urls
from capabilities.index_check.routes.monitor_documents import MonitorChanges, MonitorRequest
from capabilities.index_check.routes.monitors import MonitorResource, Monitors
from pipeline.errors import PressroomError

CHANGES = 25
#: Pages without a good answer that are shown; the export has all.
UNLISTED = 50
NOT_LISTED = ("not_indexed", "error", "rate_limited")
EVERY = [("week", "Every week"), ("day", "Every day")]


class NewMonitorPage(Resource):
    """GET and POST /dashboard/indexing/new."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        await _show_form(req, resp, Form())

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Make the monitor, and show it; its webhook's secret is shown once."""
        session = await self._services.sessions.require(req, resp)
        form = await read_form(req, session)
        sent = _sent(form) | {"diagnose": True}
        try:
            made, secret = await Monitors(self._services).create(
                session.caller, read_fields(MonitorRequest, json.dumps(sent).encode())
            )
        except PressroomError as error:
            resp.status = error.status
            await _show_form(req, resp, form, error)
            return
        if secret is None:
            redirect(
                req, resp, f"{ROOT}/monitors/{made.id}", "Your pages are being watched; the first check has begun."
            )
        else:
            await _show(self._services, req, resp, made, secret=secret)


class MonitorPage(Resource):
    """GET and POST /dashboard/indexing/monitors/{id}."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._monitors = MonitorResource(services)

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, monitor_id: str) -> None:
        session = await self._services.sessions.require(req, resp)
        await _show(self._services, req, resp, await self._monitors.find(session.caller, monitor_id))

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, monitor_id: str) -> None:
        session = await self._services.sessions.require(req, resp)
        form = await read_form(req, session)
        monitor = await self._monitors.find(session.caller, monitor_id)
        action = form.text("action")
        if action == "delete":
            await self._services.database.run(delete_monitor(monitor.id, session.account_id))
            redirect(req, resp, ROOT, f"{name_of(monitor.name, monitor.sitemap_url)} is no longer watched.")
            return
        sent = {"state": action} if action in ("active", "paused") else _changed(form)
        try:
            changes = read_fields(MonitorChanges, json.dumps(sent).encode())
            changed, secret = await self._monitors.change(session.caller, monitor, changes)
        except PressroomError as error:
            resp.status = error.status
            await _show(self._services, req, resp, monitor, error=error, form=form)
            return
        if secret is None:
            redirect(req, resp, f"{ROOT}/monitors/{monitor.id}", "Your changes were saved.")
        else:
            await _show(self._services, req, resp, changed, secret=secret)


def _sent(form: Form) -> dict[str, Any]:
    """Return a form as the API's fields, without empty ones."""
    lines = [line.strip() for line in form.text("urls").splitlines() if line.strip()]
    fields = {name: form.text(name) for name in ("name", "sitemap_url", "webhook_url", "every")}
    sent: dict[str, Any] = {name: value for name, value in fields.items() if value}
    return sent | ({"urls": lines} if lines else {}) | {"until_indexed": form.is_ticked("until_indexed")}


def _form_of(monitor: Monitor) -> Form:
    """Return the settings of a monitor as its form sends them."""
    texts = {name: getattr(monitor, name) or "" for name in ("name", "sitemap_url", "webhook_url", "every")}
    ticked = {"until_indexed": ["yes"]} if monitor.until_indexed else {}
    return Form({name: [text] for name, text in texts.items()} | ticked)


def _changed(form: Form) -> dict[str, Any]:
    """Return the changes of a form: an empty name or webhook is removed, an empty list of addresses stays."""
    return {"name": None, "webhook_url": None} | _sent(form)


async def _show_form(
    req: falcon.asgi.Request, resp: falcon.asgi.Response, form: Form, error: PressroomError | None = None
) -> None:
    await render(req, resp, "monitor_new.html", form=form, every=EVERY, error=_words(error))


async def _show(
    services: Services,
    req: falcon.asgi.Request,
    resp: falcon.asgi.Response,
    monitor: Monitor,
    *,
    secret: str | None = None,
    error: PressroomError | None = None,
    form: Form | None = None,
) -> None:
    session = await services.sessions.require(req, resp)
    run, offset = services.database.run, OFFSET.read(req)
    tracks = await run(read_tracks(session.account_id, monitor.id))
    changes, total = await run(list_changes(monitor.id, change=None, limit=CHANGES, offset=offset))
    unlisted: list[UrlRecord] = []
    waiting = 0
    if monitor.last_job_id is not None:
        unlisted, _ = await run(list_urls(monitor.last_job_id, reasons=NOT_LISTED, limit=UNLISTED, offset=0))
        _, waiting = await run(list_urls(monitor.last_job_id, statuses=("pending", "processing"), limit=1, offset=0))
    here = f"{ROOT}/monitors/{monitor.id}"
    await render(
        req,
        resp,
        "monitor.html",
        title=name_of(monitor.name, monitor.sitemap_url),
        monitor=monitor,
        tracks=tracks,
        today=datetime.now(UTC).date(),
        plot=plot("Listed pages over time", {title_of(track.index): track for track in tracks}),
        changes=changes,
        unlisted=[(record, why(record)) for record in unlisted],
        waiting=waiting,
        title_of=title_of,
        every=EVERY,
        secret=secret,
        error=_words(error),
        form=form or _form_of(monitor),
        previous=f"{here}?offset={max(0, offset - CHANGES)}" if offset else None,
        next=f"{here}?offset={offset + CHANGES}" if offset + CHANGES < total else None,
    )


def why(record: UrlRecord) -> str:
    found = record.raw_result
    if found is None:
        return record.last_error or ""
    if found.diagnosis:
        return found.diagnosis.sentence
    if found.inspection and found.inspection.coverage_state:
        return f"Google says: {found.inspection.coverage_state}."
    return found.message or "No search engine lists the page yet."


def _words(error: PressroomError | None) -> str:
    if error is None:
        return ""
    details = getattr(error, "details", None) or ()
    return " ".join([error.message, *(str(one["message"]) for one in details if isinstance(one, dict))])
