"""Site: what was found out about it, its runs, and buttons that begin one or forget the site."""

import falcon.asgi

from api.dashboard.forms import Form, read_form
from api.dashboard.rendering import redirect, render
from api.services.permissions import require_role
from api.services.resource import Resource
from capabilities.sites import feeds, runs, sites
from capabilities.sites.changes import count_changes
from capabilities.sites.pages.sites import ROOT, find_own
from capabilities.sites.parts import NEEDED, check_parts, watch_options
from capabilities.sites.posts import list_posts
from capabilities.sites.routes.podcast import FEEDS, address_of
from pipeline.accounts.audit import Action, noted
from pipeline.errors import InvalidRequest
from pipeline.offers.languages import is_tag

#: Names of runs for people.
TASKS = {"alt_text": "Alt texts", "posts": "Posts"}


class SitePage(Resource):
    """GET and POST /dashboard/sites/{id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, site_id: str) -> None:
        """Answer with the page."""
        session = await self._services.sessions.require(req, resp)
        site, run = await find_own(self._services, session.account_id, site_id), self._services.database.run
        found = await run(runs.list_runs(site.id))
        counted = [(one, await run(count_changes(one.id))) for one in found]
        feed = await run(feeds.read_feed(site.id))
        await render(
            req,
            resp,
            "publishing_site.html",
            site=site,
            runs=counted,
            tasks=TASKS,
            root=ROOT,
            posts=await run(list_posts(site.id)),
            feed=feed,
            episodes=await run(feeds.count_episodes(site.id)) if feed else 0,
            feeds=address_of(self._services, req) + FEEDS,
            categories=[(one, one) for one in feeds.CATEGORIES],
            parts=[(one, one.capitalize()) for one, needed in NEEDED.items() if needed in site.known.abilities],
        )

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, site_id: str) -> None:
        """Begin a run, watch the site, make or end the podcast, or forget the site."""
        session = await self._services.sessions.require(req, resp)
        form = await read_form(req, session)
        site, run = await find_own(self._services, session.account_id, site_id), self._services.database.run
        here = f"{ROOT}/{site.id}"
        match form.text("action"):
            case "remove":
                require_role(session, "POST", f"{here}/remove")
                removal = sites.remove_site(site.id, session.account_id)
                await run(noted(removal, session.caller.actor, Action.SITE_CHANGED, site.url, site="removed"))
                redirect(req, resp, ROOT, f"{site.name} was removed, with its password.")
            case "feed":
                await run(feeds.make_feed(site.id, address_of(self._services, req) + FEEDS, _feed_options(form)))
                redirect(req, resp, here, "The podcast has a new address. Its episodes are copied within seconds.")
            case "end_feed":
                await run(feeds.end_feed(site.id))
                redirect(req, resp, here, "The podcast has ended.")
            case "watch":
                chosen = {"alt_text": form.is_ticked("alt_text"), "index": form.is_ticked("index")}
                options = watch_options(site, form.texts("part"), **chosen)
                await sites.subscribe(site, self._services.settings)
                await run(sites.set_watch(site.id, options))
                redirect(req, resp, here, "The site is watched. Existing posts stay unchanged.")
            case "end_watch":
                await run(sites.set_watch(site.id, None))
                redirect(req, resp, here, "The site is no longer watched.")
            case "posts":
                if not (parts := check_parts(site, form.texts("part"))):
                    raise InvalidRequest("Choose at least one part.")
                begun, _ = await run(runs.start_run(site.id, "posts", {"parts": parts}))
                redirect(req, resp, f"{here}/runs/{begun.id}")
            case _:
                check_parts(site, (), alt_text=True)
                if (text := form.text("language")) and not is_tag(text):
                    raise InvalidRequest(f"{text[:60]!r} is no code of a language. Enter one such as en or pt-BR.")
                language = {"language": text} if text else {}
                begun, _ = await run(runs.start_run(site.id, "alt_text", language))
                redirect(req, resp, f"{here}/runs/{begun.id}")


def _feed_options(form: Form) -> dict[str, str]:
    """Return the category and picture of a podcast. Raises InvalidRequest."""
    category, image = form.text("category"), form.text("image")
    if category not in feeds.CATEGORIES:
        raise InvalidRequest(f"{category[:60]!r} is not a podcast category. Choose one from the list.")
    if image and not image.startswith(("https://", "http://")):
        raise InvalidRequest(f"{image[:60]!r} is not the address of a picture. Begin it with https://.")
    return {"category": category, "image": image}
