"""Try it: a page for each capability that declares one, and a plain page for each other kind."""

from typing import Any

import falcon
import falcon.asgi

from api.capabilities import load_try_pages
from api.dashboard.page import NavigationSection, Page
from api.dashboard.rendering import render
from api.dashboard.try_fields import form_fields
from api.http.address import base_url
from api.services.resource import Resource
from api.try_pages import Call, Trial, TryPage
from pipeline.kind import AnyKind
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
    """Return all pages by slug."""
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
        """Answer with the list of pages."""
        await render(req, resp, "try/overview.html", pages=list(all_pages(self._services.kinds).values()))


class TryResource(Resource):
    """GET /dashboard/try/{slug}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, slug: str) -> None:
        """Answer with a page. Raises HTTPNotFound."""
        page = all_pages(self._services.kinds).get(slug)
        if page is None:
            raise falcon.HTTPNotFound(description="There is no such page.")
        services = self._services
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


def _engines(page: TryPage, offers: Offers) -> dict[str, Any]:
    """Return the engines for a page's work, the ready ones, and what the others need."""
    found: list[Offer] = [offer for family in page.engines for offer in offers.of(family)]
    return {
        "engines": found,
        "ready": [offer.engine for offer in found if offer.ready],
        "needs": [(offer.engine, offer.needs) for offer in found if not offer.ready and offer.needs],
    }
