"""Operators: pages on the state of the system, and actions on it. Each module here is a page, or a page's forms."""

from api.dashboard.pages.operators import (
    accounts,
    endpoints,
    engines,
    failures,
    job_log,
    models,
    processes,
    queues,
)

_MODULES = (queues, processes, engines, models, failures, accounts)
_FORMS = (endpoints, job_log)
PAGES = [module.PAGE for module in _MODULES]
RESOURCES = {path: resource for module in (*_MODULES, *_FORMS) for path, resource in module.RESOURCES.items()}
