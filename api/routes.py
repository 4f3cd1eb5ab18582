"""Routes: the resources of the API that belong to no capability, by path."""

from collections.abc import Mapping

from api.accounts.account import VerifyKey
from api.accounts.audit import RESOURCES as AUDIT
from api.accounts.keys.resources import RESOURCES as KEYS
from api.accounts.usage.resources import RESOURCES as USAGE
from api.health import Alive, Exposition, Ready
from api.jobs.events import JobEvents
from api.jobs.job_changes import ChangeableJob, JobCancellation
from api.jobs.job_resources import JobList, JobResult
from api.jobs.job_retries import JobRetry
from api.services.resource import Resource
from api.uploads.resources import OneUpload, Uploads
from api.webhooks.resources import RESOURCES as WEBHOOKS
from api.work.files import Files

RESOURCES: Mapping[str, type[Resource]] = {
    **AUDIT,
    **KEYS,
    **USAGE,
    **WEBHOOKS,
    "/jobs": JobList,
    "/jobs/{job_id}": ChangeableJob,
    "/jobs/{job_id}/result": JobResult,
    "/jobs/{job_id}/events": JobEvents,
    "/jobs/{job_id}/retry": JobRetry,
    "/jobs/{job_id}/cancel": JobCancellation,
    "/files/{name}": Files,
    "/uploads": Uploads,
    "/uploads/{upload_id}": OneUpload,
    "/verify-key": VerifyKey,
    "/healthz": Alive,
    "/readyz": Ready,
    "/metrics": Exposition,
}
