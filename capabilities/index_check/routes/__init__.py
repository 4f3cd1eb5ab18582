"""The routes of index jobs, their URLs and exports, and of monitors."""

from collections.abc import Mapping

from api.services.resource import Resource
from api.work.work import Work
from capabilities.index_check.routes.monitors import MonitorChangeList, MonitorResource, Monitors
from capabilities.index_check.routes.resources import (
    RETRY,
    IndexJobExport,
    IndexJobResource,
    IndexJobs,
    IndexJobUrls,
    IndexRetry,
)
from capabilities.index_check.routes.try_page import TRY

__all__ = ["RESOURCES", "TRY", "WORK"]

WORK: Mapping[str, type[Work]] = {"/indexing/jobs": IndexJobs}
RESOURCES: Mapping[str, type[Resource | Work]] = {
    "/indexing/jobs/{job_id}": IndexJobResource,
    "/indexing/jobs/{job_id}/urls": IndexJobUrls,
    "/indexing/jobs/{job_id}/export": IndexJobExport,
    RETRY: IndexRetry,
    "/indexing/monitors": Monitors,
    "/indexing/monitors/{monitor_id}": MonitorResource,
    "/indexing/monitors/{monitor_id}/changes": MonitorChangeList,
}
