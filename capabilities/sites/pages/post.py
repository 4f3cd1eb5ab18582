"""Post: from publication to proof: its added parts, submissions to search engines, and whether they show it."""

from typing import Any

import falcon
import falcon.asgi

from api.dashboard.rendering import render
from api.services.resource import Resource
from capabilities.index_check.monitors.monitor import find_monitor
from capabilities.sites import feeds
from capabilities.sites.changes import Change, list_of_post
from capabilities.sites.pages.sites import ROOT, find_own
from capabilities.sites.parts import shown
from capabilities.sites.posts import WatchedPost, find_post
from capabilities.sites.routes.podcast import address_of
from capabilities.sites.sites import Site
from pipeline.lifecycle.jobs import find_job

#: Names of fields for people.
FIELDS = {"alt_text": "Alt text", "alts": "Alt texts in the post"}


class PostPage(Resource):
    """GET /dashboard/sites/{id}/posts/{id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, site_id: str, post_id: str) -> None:
        """Answer with the page."""
        session = await self._services.sessions.require(req, resp)
        site, run = await find_own(self._services, session.account_id, site_id), self._services.database.run
        post = await run(find_post(site.id, int(post_id))) if post_id.isdecimal() and len(post_id) < 19 else None
        if post is None:
            raise falcon.HTTPNotFound(description="There is no such post.")
        changes = await run(list_of_post(site.id, post.target, post.url))
        await render(
            req,
            resp,
            "publishing_post.html",
            site=site,
            post=post,
            changes=changes,
            shown=shown,
            fields=FIELDS,
            root=ROOT,
            address=address_of(self._services, req),
            **await self._proof(site, post, changes),
        )

    async def _proof(self, site: Site, post: WatchedPost, changes: list[Change]) -> dict[str, Any]:
        """Return the job that told search engines, the monitor that looks for the post, and its episode."""
        run = self._services.database.run
        spoken = [one.id for one in changes if one.field == "audio"]
        return {
            "submission": await run(find_job(post.submission_id)) if post.submission_id else None,
            "monitor": await run(find_monitor(post.monitor_id, site.account_id)) if post.monitor_id else None,
            "episode": await run(feeds.find_episode_of(spoken)),
        }
