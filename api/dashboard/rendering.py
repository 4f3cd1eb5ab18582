"""Rendering: pages made of templates, with their common parts; redirects and other answers of pages."""

import base64
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from enum import StrEnum
from functools import partial
from http import HTTPStatus
from itertools import groupby
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode

import falcon
import falcon.asgi
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined

from api.capabilities import dashboard_folders
from api.dashboard.filters import FILTERS
from api.dashboard.notices import Notices
from api.dashboard.static_files import Static
from api.http.cookies import Cookies
from api.http.request_context import context_of
from api.services.permissions import may
from api.services.services import Services
from pipeline.accounts.sessions import Session
from pipeline.errors import PressroomError


class NavigationSection(StrEnum):
    """The parts of the navigation, in order."""

    HOME = "Home"
    TRY = "Tools"
    WORK = "Work"
    ACCOUNT = "Account"
    OPERATORS = "Operators"


@dataclass(frozen=True, slots=True)
class Page:
    """A page that the navigation leads to; `order` is its place among those of its section."""

    path: str
    title: str
    section: NavigationSection
    operators_only: bool = False
    order: int = 0
    #: An icon of static/icons.svg.
    icon: str = "file-text"

    def leads_to(self, path: str) -> bool:
        """Return whether a path is this page's, or of something below it."""
        return path == self.path or (self.path != "/dashboard" and path.startswith(f"{self.path}/"))


COOKIE = "pressroom_flash"
#: The next page comes at once.
LASTS = timedelta(minutes=1)
#: Browsers keep at most 4,096 bytes of a cookie; the text is in base64.
MAX_LENGTH = 500

Tone = Literal["good", "bad", "plain"]
HOME = "/dashboard"
#: Written by live.js; without it, the reader's system decides between day and night.
THEME_COOKIE = "pressroom_theme"
THEMES = ("light", "dark")
#: Scripts, styles and requests of this origin alone, none of them within a page.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
}


@dataclass(frozen=True, slots=True)
class Flash:
    """A sentence for the reader of the next page."""

    text: str
    tone: Tone = "good"


def write_flash(cookies: Cookies, req: falcon.asgi.Request, resp: falcon.asgi.Response, flash: Flash) -> None:
    shown = asdict(Flash(flash.text[:MAX_LENGTH], flash.tone))
    value = base64.urlsafe_b64encode(json.dumps(shown).encode()).decode().rstrip("=")
    cookies.write(req, resp, COOKIE, value, lasts=LASTS)


def take_flash(cookies: Cookies, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> Flash | None:
    """Return the flash that waits, if there is one, and have the browser forget it."""
    value = cookies.read(req, COOKIE)
    if value is None:
        return None
    cookies.delete(req, resp, COOKIE)
    try:
        found = json.loads(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))
        tone: Tone = found["tone"] if found["tone"] in {"good", "bad"} else "plain"
        return Flash(str(found["text"])[:MAX_LENGTH], tone)
    except (ValueError, KeyError, TypeError):  # not one of ours
        return None


@dataclass(frozen=True, slots=True)
class NavigationPart:
    """A part of the navigation, as one reader sees it."""

    title: str
    pages: Sequence[Page]


class Renderer:
    """Makes pages of templates."""

    def __init__(self, services: Services, pages: Sequence[Page], static: Static) -> None:
        self.services = services
        self.notices = Notices(services)
        order = list(NavigationSection)
        self._pages = sorted(pages, key=lambda page: (order.index(page.section), page.order, page.title))
        self._environment = Environment(
            loader=ChoiceLoader([PackageLoader("api.dashboard"), FileSystemLoader(dashboard_folders())]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.filters.update(FILTERS)
        self._environment.globals |= {"static": static.url, "icon": static.icon}

    async def render(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, template: str, **values: Any) -> None:
        session = await self.services.sessions.find(req)
        resp.content_type = falcon.MEDIA_HTML
        resp.set_headers(HEADERS)
        resp.text = self._environment.get_template(template).render(
            session=session,
            csrf_token=session.csrf_token if session else "",
            navigation=self._navigation(session) if session else (),
            may=partial(may, session) if session else None,
            current=self._current(req.path),
            path=req.path,
            flash=take_flash(self.services.cookies, req, resp),
            notices=await self.notices.read() if session and session.is_operator else (),
            theme=theme if (theme := req.cookies.get(THEME_COOKIE)) in THEMES else "",
            **values,
        )

    def render_public(self, template: str, *, path: str, **values: Any) -> str:
        """Return a page that is the same for everybody."""
        return self._environment.get_template(template).render(
            session=None,
            csrf_token="",
            navigation=(),
            may=None,
            current=None,
            path=path,
            flash=None,
            notices=(),
            theme="",
            **values,
        )

    async def show_error(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, error: PressroomError) -> bool:
        """Answer with a page that says what went wrong, if the request is for a page; return whether it is.

        A page that is not there for its slash at the end is redirected to the one without."""
        if not is_page(req.path) or (req.accept or "").startswith(falcon.MEDIA_JSON):
            return False  # a script reads JSON (try_job.js)
        if error.status == HTTPStatus.NOT_FOUND and req.path.endswith("/") and req.method in ("GET", "HEAD"):
            resp.status = falcon.HTTP_308
            target = falcon.uri.encode(req.path.rstrip("/"))
            resp.location = f"{target}?{req.query_string}" if req.query_string else target
            return True
        resp.status = error.status
        resp.data = resp.stream = None
        try:
            await self.services.sessions.find(req)
        except PressroomError:
            req.context.session = None  # the database is away: nobody can be looked up now
        await self.render(req, resp, "error.html", error=error, request_id=context_of(req).request_id)
        return True

    def redirect(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, path: str, flash: Flash | None = None
    ) -> None:
        resp.status = falcon.HTTP_303
        resp.location = path
        if flash is not None:
            write_flash(self.services.cookies, req, resp, flash)

    def _current(self, path: str) -> Page | None:
        """Return the page whose path is nearest to one that was asked for."""
        leading = [page for page in self._pages if page.leads_to(path)]
        return max(leading, key=lambda page: len(page.path), default=None)

    def _navigation(self, session: Session) -> list[NavigationPart]:
        seen = [
            page
            for page in self._pages
            if (session.is_operator or not page.operators_only) and may(session, page.path, "GET")
        ]
        return [NavigationPart(section, list(pages)) for section, pages in groupby(seen, key=lambda page: page.section)]


def is_page(path: str) -> bool:
    return path == HOME or path.startswith(f"{HOME}/")


async def render(req: falcon.asgi.Request, resp: falcon.asgi.Response, template: str, **values: Any) -> None:
    """Answer with a page made of a template.

    Beside `values` the template has `session` (None when nobody is signed in), `may(path, method)` of who is,
    `csrf_token`, `navigation`, `current` (the Page), `path`, `flash` and `static(name)`.
    All that is shown is escaped; a name that is missing is an error."""
    await req.context.renderer.render(req, resp, template, **values)


def redirect(
    req: falcon.asgi.Request, resp: falcon.asgi.Response, path: str, text: str | None = None, tone: Tone = "good"
) -> None:
    """Answer a form: the browser gets the page at `path`, which shows `text` once."""
    req.context.renderer.redirect(req, resp, path, Flash(text, tone) if text else None)


def drop_blanks(req: falcon.asgi.Request) -> None:
    """Redirect a form that was sent with empty fields to the address without them. Raises HTTPSeeOther."""
    sent = parse_qsl(req.query_string, keep_blank_values=True)
    kept = [(name, value) for name, value in sent if value.strip()]
    if len(kept) < len(sent):
        raise falcon.HTTPSeeOther(f"{req.path}?{urlencode(kept)}".rstrip("?"))


def neighbours(req: falcon.asgi.Request, *, offset: int, size: int, has_more: bool) -> dict[str, str | None]:
    """Return the addresses of the pages before and after the one at `offset`, None where there is none."""
    kept = {name: value for name, value in parse_qsl(req.query_string) if name != "offset"}

    def address(place: int) -> str:
        return f"{req.path}?{urlencode(kept | ({'offset': str(place)} if place else {}))}".rstrip("?")

    return {
        "previous": address(max(0, offset - size)) if offset else None,
        "next": address(offset + size) if has_more else None,
    }
