"""Causes: why a page may be missing, in order of certainty, and a sentence that a person can act on."""

import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from capabilities.index_check.handlers.diagnosis.page import ALL, PageFacts
from capabilities.index_check.handlers.diagnosis.sites import DiagnosedSite
from capabilities.index_check.results.raw_result import Diagnosis, Redirected, RobotsFile
from pipeline.downloads.urls import match_key
from pipeline.timestamps import timestamp

_FILE = Path(__file__).with_name("sentences.toml")
#: The sentence of each cause, the most certain first.
SENTENCES: Mapping[str, str] = tomllib.loads(_FILE.read_text("utf-8"))["sentences"]
NOTHING = "nothing"
#: Causes by the code of a failed download, and by a page's status.
TROUBLES = {
    "redirects": "redirect_loop",
    "blocked": "blocked",
    "invalid": "blocked",
    "unreachable": "unreachable",
    "timeout": "unreachable",
}
STATUSES = {404: "not_found", 410: "not_found", 401: "refused", 403: "refused", 429: "refused", 451: "refused"}


def diagnosis_of(page: PageFacts, site: DiagnosedSite | None) -> Diagnosis:
    robots = site.robots(page.url) if site else None
    in_sitemap, sitemap_url = site.sitemap_of(page.url) if site else (None, None)
    found = set(_causes(page, site, robots)) | ({"not_in_sitemap"} if in_sitemap is False else set())
    causes = [cause for cause in SENTENCES if cause in found]
    shown: dict[str, Any] = {
        "http_status": page.status,
        "final_url": page.final_url,
        "canonical_url": page.canonical,
        "robots": robots,
        "in_sitemap": in_sitemap,
        "sitemap_url": sitemap_url,
    }
    return Diagnosis(
        sentence=_sentence(causes[0] if causes else NOTHING, page, robots),
        causes=causes,
        checked_at=timestamp(datetime.now(UTC)),
        redirects=[Redirected(url=one.url, status=one.status) for one in page.redirects],
        noindex=page.noindex,
        **shown,
    )


def _causes(page: PageFacts, site: DiagnosedSite | None, robots: RobotsFile | None) -> Iterator[str]:
    if page.trouble:
        yield TROUBLES[page.trouble]
    if page.status is not None and page.status != 200:
        yield "server_error" if page.status >= 500 else STATUSES.get(page.status, "http_error")
    if site is not None and site.forbids_all:
        yield "robots_unreachable"
    if robots is not None and robots.blocked_agents:
        yield "robots_blocked"
    if page.noindex:
        yield "noindex"
    if page.status != 200:
        return
    if _is_elsewhere(page.refresh, page.url) or _is_elsewhere(page.final_url, page.url):
        yield "redirected"
    if _is_elsewhere(page.canonical, page.final_url or page.url):
        yield "canonical_elsewhere"
    if not page.is_html:
        yield "not_html"
    elif not page.has_text:
        yield "no_text"


def _is_elsewhere(url: str | None, page: str) -> bool:
    return url is not None and match_key(url) != match_key(page)


def _sentence(cause: str, page: PageFacts, robots: RobotsFile | None) -> str:
    directive = next(iter(page.noindex), None)
    is_refreshed = _is_elsewhere(page.refresh, page.url)
    blocked = robots.blocked_agents if robots else []
    return SENTENCES[cause].format(
        message=page.message,
        status=page.status,
        final_url=page.refresh if is_refreshed else page.final_url,
        canonical_url=page.canonical,
        robots_url=robots.url if robots else "",
        robots_status=robots.http_status if robots else "",
        agents="all crawlers" if "*" in blocked else " and ".join(blocked),
        directive=directive.content if directive else "",
        agent="all crawlers" if directive and directive.agent == ALL else directive.agent if directive else "",
        source={"meta": "in its HTML", "header": "in the header X-Robots-Tag"}[directive.source] if directive else "",
    )
