"""Index check: its jobs, their URLs, and both as CSV."""

from collections.abc import Mapping

from api.families.index_check.openapi import INDEXING_PATHS as PATHS
from api.families.index_check.resources import IndexJobExport, IndexJobResource, IndexJobs, IndexJobUrls, IndexRetry
from api.services import Services
from api.work import Work
from pipeline.kinds.index_check.check import IndexCheck

__all__ = ["PATHS", "WORK", "resources"]

WORK: Mapping[str, type[Work]] = {"/indexing/jobs": IndexJobs}


def resources(services: Services) -> Mapping[str, object]:
    """Return the resources of an index job."""
    retry = "/indexing/jobs/{job_id}/retry"
    return {
        "/indexing/jobs/{job_id}": IndexJobResource(services),
        "/indexing/jobs/{job_id}/urls": IndexJobUrls(services),
        "/indexing/jobs/{job_id}/export": IndexJobExport(services),
        retry: IndexRetry(services, services.kinds[IndexCheck.name], retry),
    }
