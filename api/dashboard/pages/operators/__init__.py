"""Operators: pages on the state of the system, and actions on it. Each module here is a page."""

from api.dashboard.pages.operators import accounts, engines, failures, job_log, model_install, pauses, processes, queues

_MODULES = (queues, processes, engines, failures, accounts)
PAGES = [module.PAGE for module in _MODULES]
RESOURCES = {
    path: resource
    for module in (*_MODULES, job_log, model_install, pauses)
    for path, resource in module.RESOURCES.items()
}
