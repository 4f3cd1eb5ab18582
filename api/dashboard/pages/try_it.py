"""Try it: a page for each capability that declares one, and a plain page for each other kind."""

from typing import Any
from uuid import UUID

import falcon
import falcon.asgi

from api.capabilities import load_try_pages
from api.dashboard.rendering import NavigationSection, Page, render
from api.dashboard.try_fields import form_fields
from api.http.address import base_url
from api.jobs.job_resources import find_own_job
from api.services.resource import Resource
from api.services.services import Services
from api.try_pages import Call, Trial, TryPage
from pipeline.accounts.sessions import Session
from pipeline.database import Statement
from pipeline.kind import UPLOADED, AnyKind
from pipeline.lifecycle.jobs import find_items
from pipeline.offers.offers import Offer, Offers
from pipeline.registry import Kinds

ROOT = "/dashboard/try"
#: Places in the navigation: those of families come first.
OVERVIEW_ORDER, PLAIN_ORDER = 0, 1_000

DECLARED = tuple(load_try_pages())
PAGES = [
    Page(ROOT, "All tools", NavigationSection.TRY, order=OVERVIEW_ORDER, icon="layout-grid"),
    *(Page(page.path, page.title, NavigationSection.TRY, order=page.order, icon=page.icon) for page in DECLARED),
]


def all_pages(kinds: Kinds) -> dict[str, TryPage]:
    tried = {kind for page in DECLARED for kind in page.kinds}
    plain = [_plain_page(kind) for kind in kinds.values() if kind.name not in tried and kind.routes]
    return {page.slug: page for page in (*DECLARED, *plain)}


def _plain_page(kind: AnyKind) -> TryPage:
    fields = tuple(kind.request.model_fields)
    call = Call(then=("print(pressroom.result(pressroom.wait(answer.id).id))",))
    trial = Trial(kind.name, kind.summary, "", call)
    return TryPage(
        slug=kind.name.replace("_", "-"),
        title=kind.name.replace("_", " ").capitalize(),
        lead=kind.summary,
        trials=(trial,),
        main=(*fields, *kind.files, *kind.uploads),
        filled=fields,
        order=PLAIN_ORDER,
    )


class TryOverview(Resource):
    """GET /dashboard/try."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        await render(req, resp, "try/overview.html", pages=list(all_pages(self._services.kinds).values()))


class TryResource(Resource):
    """GET /dashboard/try/{slug}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, slug: str) -> None:
        """Answer with a page. Raises HTTPNotFound."""
        page = all_pages(self._services.kinds).get(slug)
        if page is None:
            raise falcon.HTTPNotFound(description="There is no such page.")
        services = self._services
        session = await services.sessions.require(req, resp)
        offers = await services.offer_cache.offers()
        fields = {one.name: one for one in form_fields(page, services.kinds, offers)}
        await render(
            req,
            resp,
            page.template,
            page=page,
            trials=_documents(page, services.kinds),
            main=[fields[name] for name in page.main if name in fields],
            more=[one for name, one in fields.items() if name not in page.main],
            again=await _read_again(services, session, req.get_param("again")),
            account=await read_account(services, session) if page.bulk else None,
            base=services.settings.api.public_url or base_url(req, services.proxies),
            **_engines(page, offers),
        )


RESOURCES = {ROOT: TryOverview, f"{ROOT}/{{slug}}": TryResource}


def _documents(page: TryPage, kinds: Kinds) -> dict[str, dict[str, Any]]:
    """Return the kinds by name, for the page's script."""
    return {
        trial.kind: {
            "name": trial.kind,
            "route": kinds[trial.kind].routes[0],
            "files": list(kinds[trial.kind].files),
            "price": trial.price,
            "saves": trial.saves,
            "client": trial.call.document(),
            "label": trial.label,
            "per_credit": trial.per_credit,
            "more_credits": trial.more_credits,
            "longest": {
                name: rule["maxLength"] for name, rule in kinds[trial.kind].field_rules.items() if "maxLength" in rule
            },
        }
        for trial in page.trials
    }


async def _read_again(services: Services, session: Session, job_id: str | None) -> dict[str, Any] | None:
    """Return the kind of a job and its fields, so that a form can be filled with them. Raises JobNotFound."""
    if job_id is None:
        return None
    job = await find_own_job(services, session.caller, job_id)
    items = [] if job.is_gone else await services.database.run(find_items(job.id))
    fields = {**job.request, **(items[0].input if items else {})}
    sent = {name: value for name, value in fields.items() if not str(value).startswith((UPLOADED, "data:"))}
    return {"kind": job.kind, "fields": sent}


async def read_account(services: Services, session: Session) -> dict[str, Any]:
    """Return a reader's limits, for scripts: balance, requests, and sizes of a form's file and of an upload."""
    limits = getattr(services.settings.limits, session.caller.tier)
    return {
        "available": await services.database.run(_read_balance(session.account_id)),
        "per_minute": limits.per_minute,
        "per_day": limits.per_day,
        "max_file_bytes": services.settings.api.max_upload_bytes,
        "max_upload_bytes": services.settings.uploads.max_bytes,
    }


def _read_balance(account_id: UUID) -> Statement[int]:
    return Statement(
        "SELECT available FROM account WHERE id = %(id)s", {"id": account_id}, lambda rows: int(rows[0]["available"])
    )


def _engines(page: TryPage, offers: Offers) -> dict[str, Any]:
    """Return the engines for a page's work, the ready ones, and what the others need."""
    found: list[Offer] = [offer for family in page.engines for offer in offers.of(family)]
    return {
        "engines": found,
        "ready": [offer.engine for offer in found if offer.ready],
        "needs": [(offer.engine, offer.needs) for offer in found if not offer.ready and offer.needs],
    }
