"""The routes of index jobs, their URLs and exports, and of monitors."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from api.services.services import Services
from api.work.work import Work
from capabilities.index_check.kinds.index_check import IndexCheck
from capabilities.index_check.results.jobs import IndexJob
from capabilities.index_check.results.urls import UrlRecord
from capabilities.index_check.routes.monitor_documents import (
    IndexMonitor,
    IndexMonitorChange,
    IndexMonitorCreated,
    MonitorChanges,
    MonitorRequest,
)
from capabilities.index_check.routes.monitors import MonitorChangeList, MonitorResource, Monitors
from capabilities.index_check.routes.resources import (
    IndexJobExport,
    IndexJobResource,
    IndexJobs,
    IndexJobUrls,
    IndexRetry,
)
from capabilities.index_check.routes.try_page import TRY

__all__ = ["MODELS", "PATHS", "TRY", "WORK", "resources"]

WORK: Mapping[str, type[Work]] = {"/indexing/jobs": IndexJobs}
PATHS: Mapping[str, Any] = json.loads(files(__name__).joinpath("openapi.json").read_text("utf-8"))
MODELS = (
    IndexJob,
    UrlRecord,
    MonitorRequest,
    MonitorChanges,
    IndexMonitor,
    IndexMonitorCreated,
    IndexMonitorChange,
)


def resources(services: Services) -> Mapping[str, object]:
    """Return the resources by path."""
    retry = "/indexing/jobs/{job_id}/retry"
    return {
        "/indexing/jobs/{job_id}": IndexJobResource(services),
        "/indexing/jobs/{job_id}/urls": IndexJobUrls(services),
        "/indexing/jobs/{job_id}/export": IndexJobExport(services),
        "/indexing/monitors": Monitors(services),
        "/indexing/monitors/{monitor_id}": MonitorResource(services),
        "/indexing/monitors/{monitor_id}/changes": MonitorChangeList(services),
        retry: IndexRetry(services, services.kinds[IndexCheck.name], retry),
    }
