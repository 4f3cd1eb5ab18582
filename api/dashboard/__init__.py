"""Dashboard: the pages for people, under /dashboard. Modules and folders in `pages`, of capabilities too, are found.

A page is one module and one template (CONTRIBUTING.md, How to add a page of the dashboard):

- `PAGE = Page(path, title, section)` adds it to the navigation; `PAGES` is a list of several. `operators_only=True`
  hides it from everybody else.
- `RESOURCES` has the Falcon resources of the module by path. `Guard` lets only signed-in readers in, or only
  operators. With `IS_PUBLIC = True` the module is open to all.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from enum import Enum, auto
from types import ModuleType

import falcon.asgi

from api.dashboard import pages
from api.dashboard.rendering import Page, Renderer
from api.dashboard.static_files import StaticFiles, load_static_files
from api.services.permissions import require_role
from api.services.services import Services
from pipeline.capabilities import parts


class Access(Enum):
    """The readers allowed at a path."""

    PUBLIC = auto()
    SIGNED_IN = auto()
    OPERATORS = auto()


class Guard:
    """A Falcon middleware that looks who is signed in, and in which role, before a page's resource is called."""

    def __init__(self, services: Services, access: Mapping[str, Access], renderer: Renderer) -> None:
        self._services = services
        self._access = access
        self._renderer = renderer

    async def process_resource(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, resource: object, params: dict[str, str]
    ) -> None:
        """Let a request pass, or raise HTTPSeeOther to the page for signing in, or Forbidden."""
        access = self._access.get(req.uri_template or "")
        if access is None:
            return
        req.context.renderer = self._renderer
        sessions = self._services.sessions
        if access is Access.PUBLIC:
            return
        asked = sessions.require_operator if access is Access.OPERATORS else sessions.require
        require_role(await asked(req, resp), req.method, req.uri_template or "")


class Dashboard:
    """The dashboard's resources by path, and their guard."""

    def __init__(self, services: Services) -> None:
        static = load_static_files()
        self.resources: dict[str, object] = {static.route: StaticFiles(static)}
        access = {static.route: Access.PUBLIC}
        found: list[Page] = []
        for module in _load_pages():
            own: Mapping[str, object] = {path: build(services) for path, build in module.RESOURCES.items()}
            self.resources |= own
            access |= dict.fromkeys(own, _access(module))
            found += _pages(module)
        self.renderer = Renderer(services, found, static)
        self.guard = Guard(services, access, self.renderer)


def load_resources() -> dict[str, object]:
    """Return the classes of all resources by path."""
    return {path: one for module in _load_pages() for path, one in module.RESOURCES.items()}


def load_navigation() -> list[Page]:
    return [page for module in _load_pages() for page in _pages(module)]


def _load_pages() -> list[ModuleType]:
    names = sorted(found.name for found in pkgutil.iter_modules(pages.__path__))
    return [*(importlib.import_module(f"{pages.__name__}.{name}") for name in names), *parts("pages")]


def _pages(module: ModuleType) -> list[Page]:
    several: list[Page] = list(getattr(module, "PAGES", ()))
    return [module.PAGE, *several] if hasattr(module, "PAGE") else several


def _access(module: ModuleType) -> Access:
    if getattr(module, "IS_PUBLIC", False):
        return Access.PUBLIC
    return Access.OPERATORS if any(page.operators_only for page in _pages(module)) else Access.SIGNED_IN
