"""Operators: how the system is, and what operators may do about it. Each module here is a page of its own."""

from api.dashboard.pages.operators import accounts, engines, failures, job_log, model_install, processes, queues
from api.services.services import Services

_MODULES = (queues, processes, engines, failures, accounts)
PAGES = [module.PAGE for module in _MODULES]


def resources(services: Services) -> dict[str, object]:
    """Return the resources of all pages by path; `operators_only` of the pages is for all of them."""
    modules = (*_MODULES, job_log, model_install)
    return {path: one for module in modules for path, one in module.resources(services).items()}
