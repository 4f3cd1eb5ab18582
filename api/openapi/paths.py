"""OpenAPI paths: the routes that are no kind's."""

from typing import Any

from api.openapi.parts import Json, errors, json_answer, object_of, parameter, ref, text
from models.job import JOB_STATES

WITH_KEY: Json = {"security": [{"header": []}, {"bearer": []}, {"query": []}]}
JOB_ID = parameter("job_id", "path", text(format="uuid"), "The job.")
JOB_ERRORS = errors("401", "404", "429", "500", "503")
KEY_BODY: Json = {
    "required": True,
    "content": {"application/json": {"schema": {**object_of(api_key=text()), "required": ["api_key"]}}},
}


def route(operation_id: str, tag: str, summary: str, responses: Json, *parameters: Json, **more: Any) -> Json:
    """Return the operation of one method of a path."""
    return {
        "operationId": operation_id,
        "tags": [tag],
        "summary": summary,
        "parameters": list(parameters),
        "responses": responses,
        **more,
    }


FILE: Json = {
    "description": "The file, with ETag; it never changes.",
    "content": {
        name: {"schema": {"type": "string", "contentMediaType": name}}
        for name in ("image/png", "image/jpeg", "image/webp", "application/octet-stream")
    },
}
GET_FILE = route(
    "get_file",
    "files",
    "A file that an answer links to; the link needs no key, and is used unchanged.",
    {
        "200": FILE,
        "206": {**FILE, "description": "The part that Range asks for, as Content-Range says."},
        "304": {"description": "Not changed since the ETag in If-None-Match."},
        **errors("403", "410", "416", "503"),
    },
    parameter("name", "path", text(), "The file."),
    {**parameter("expires", "query", {"type": "integer"}, "When the link ends, in epoch seconds."), "required": True},
    {**parameter("signature", "query", text(), "Ours, of name and expiry."), "required": True},
    parameter("Range", "header", text(), "One range of bytes; of several, the whole file is sent."),
)
GET_JOBS = route(
    "get_jobs",
    "jobs",
    "The account's jobs, newest first.",
    {
        "200": json_answer({"type": "array", "items": ref("Job")}, "A page; X-Total-Count and Link tell of the rest."),
        **errors("400", "401", "429", "500", "503"),
    },
    parameter("kind", "query", text(), "Only jobs of this kind."),
    parameter("state", "query", text(enum=list(JOB_STATES)), "Only jobs in this state."),
    parameter("request_id", "query", text(), "Only jobs of requests with this X-Request-Id."),
    parameter("limit", "query", {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}, "Jobs a page."),
    parameter("offset", "query", {"type": "integer", "minimum": 0, "default": 0}, "Jobs to skip."),
    **WITH_KEY,
)
GET_JOB = route(
    "get_job", "jobs", "A job.", {"200": json_answer(ref("Job"), "The job."), **JOB_ERRORS}, JOB_ID, **WITH_KEY
)
GET_RESULT = route(
    "get_job_result",
    "jobs",
    "What the job's route answers to who waits: status, headers and body.",
    {
        "200": {"description": "The result, of the type of the job's route.", "content": {"*/*": {"schema": {}}}},
        **JOB_ERRORS,
        **errors("400", "402", "409", "410"),
    },
    JOB_ID,
    **WITH_KEY,
)
GET_EVENTS = route(
    "get_job_events",
    "jobs",
    "Server-sent events: progress at each change, ended with the job when it has ended.",
    {"200": {"description": "The events.", "content": {"text/event-stream": {"schema": text()}}}, **JOB_ERRORS},
    JOB_ID,
    **WITH_KEY,
)
CANCEL = route(
    "post_job_cancel",
    "jobs",
    "End a job at once; what was not delivered is not charged.",
    {
        "200": json_answer(ref("Job"), "The job; one that had ended stays as it was."),
        **JOB_ERRORS,
        **errors("400", "413"),
    },
    JOB_ID,
    security=[*WITH_KEY["security"], {}],
    requestBody={"required": False, "content": {"application/json": {"schema": object_of(api_key=text())}}},
)
VERIFY_KEY = route(
    "post_verify_key",
    "account",
    "Whether an API key is valid, and whose it is; costs nothing.",
    {"200": json_answer(ref("KeyVerification"), "The verdict."), **errors("400", "413", "415", "429", "500", "503")},
    requestBody=KEY_BODY,
)
GET_USAGE = route(
    "get_usage",
    "account",
    "What the account has used.",
    {"200": json_answer(ref("Usage"), "The usage."), **errors("401", "429", "500", "503")},
    **WITH_KEY,
)
STATUS = json_answer(object_of(status=text()), "It is.")
GET_HEALTH = route("get_healthz", "service", "Whether the process lives.", {"200": STATUS})
GET_READINESS = route(
    "get_readyz",
    "service",
    "Whether database, queue and migrations are there.",
    {"200": STATUS, **errors("503")},
)
GET_METRICS = route(
    "get_metrics",
    "service",
    "Counts of all processes, for Prometheus.",
    {"200": {"description": "The counts.", "content": {"text/plain": {"schema": text()}}}},
)

PATHS: Json = {
    "/files/{name}": {"get": GET_FILE},
    "/jobs": {"get": GET_JOBS},
    "/jobs/{job_id}": {"get": GET_JOB},
    "/jobs/{job_id}/result": {"get": GET_RESULT},
    "/jobs/{job_id}/events": {"get": GET_EVENTS},
    "/jobs/{job_id}/cancel": {"post": CANCEL},
    "/verify-key": {"post": VERIFY_KEY},
    "/usage": {"get": GET_USAGE},
    "/healthz": {"get": GET_HEALTH},
    "/readyz": {"get": GET_READINESS},
    "/metrics": {"get": GET_METRICS},
}
