"""OpenAPI paths: the routes that are no kind's."""

from api.openapi.parts import (
    JOB,
    JOB_ERRORS,
    JOB_ID,
    USAGE,
    WITH_KEY,
    Json,
    errors,
    json_answer,
    object_of,
    paging,
    parameter,
    ref,
    route,
    text,
)
from pipeline.jobs import JOB_STATES

FILE: Json = {
    "description": "The file, with ETag; it never changes.",
    "content": {
        name: {"schema": {"type": "string", "contentMediaType": name}}
        for name in ("image/png", "image/jpeg", "image/webp", "application/octet-stream")
    },
}
STATUS = json_answer(object_of(status=text()), "It is.")

OPERATIONS: Json = {
    "GET /tts/voices": route(
        "get_voices",
        "synthesis",
        "The voices that can speak now; no key needed.",
        {
            "200": json_answer(
                object_of(voices={"type": "array", "items": ref("Voice")}, total={"type": "integer"}), "The voices."
            ),
            "304": {"description": "Not changed since the ETag in If-None-Match."},
            **errors("400"),
        },
        parameter("language", "query", text(), "A language or the start of one: en matches en-GB."),
        parameter("gender", "query", text(enum=["male", "female", "neutral"]), "The voice's gender."),
    ),
    "GET /files/{name}": route(
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
        {
            **parameter("expires", "query", {"type": "integer"}, "When the link ends, in epoch seconds."),
            "required": True,
        },
        {**parameter("signature", "query", text(), "Ours, of name and expiry."), "required": True},
        parameter("Range", "header", text(), "One range of bytes; of several, the whole file is sent."),
    ),
    "GET /jobs": route(
        "get_jobs",
        "jobs",
        "The account's jobs, newest first.",
        {
            "200": json_answer({"type": "array", "items": JOB}, "A page; X-Total-Count and Link tell of the rest."),
            **errors("400", "401", "429", "500", "503"),
        },
        parameter("kind", "query", text(), "Only jobs of this kind."),
        parameter("state", "query", text(enum=list(JOB_STATES)), "Only jobs in this state."),
        parameter("request_id", "query", text(), "Only jobs of requests with this X-Request-Id."),
        *paging("Jobs", most=100, default=20),
        **WITH_KEY,
    ),
    "GET /jobs/{job_id}": route(
        "get_job", "jobs", "A job.", {"200": json_answer(JOB, "The job."), **JOB_ERRORS}, JOB_ID, **WITH_KEY
    ),
    "GET /jobs/{job_id}/result": route(
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
    ),
    "GET /jobs/{job_id}/events": route(
        "get_job_events",
        "jobs",
        "Server-sent events: progress at each change, ended with the job when it has ended.",
        {"200": {"description": "The events.", "content": {"text/event-stream": {"schema": text()}}}, **JOB_ERRORS},
        JOB_ID,
        **WITH_KEY,
    ),
    "POST /jobs/{job_id}/cancel": route(
        "post_job_cancel",
        "jobs",
        "End a job at once; what was not delivered is not charged.",
        {
            "200": json_answer(JOB, "The job; one that had ended stays as it was."),
            **JOB_ERRORS,
            **errors("400", "413"),
        },
        JOB_ID,
        security=[*WITH_KEY["security"], {}],
        requestBody={"required": False, "content": {"application/json": {"schema": object_of(api_key=text())}}},
    ),
    "POST /verify-key": route(
        "post_verify_key",
        "account",
        "Whether an API key is valid, and whose it is; costs nothing.",
        {
            "200": json_answer(ref("KeyVerification"), "The verdict."),
            **errors("400", "413", "415", "429", "500", "503"),
        },
        requestBody={
            "required": True,
            "content": {"application/json": {"schema": {**object_of(api_key=text()), "required": ["api_key"]}}},
        },
    ),
    "GET /usage": route(
        "get_usage",
        "account",
        "What the account has used.",
        {"200": json_answer(USAGE, "The usage."), **errors("401", "429", "500", "503")},
        **WITH_KEY,
    ),
    "GET /healthz": route("get_healthz", "service", "Whether the process lives.", {"200": STATUS}),
    "GET /readyz": route(
        "get_readyz",
        "service",
        "Whether database, queue and migrations are there.",
        {"200": STATUS, **errors("503")},
    ),
    "GET /metrics": route(
        "get_metrics",
        "service",
        "Counts of all processes, for Prometheus.",
        {"200": {"description": "The counts.", "content": {"text/plain": {"schema": text()}}}},
    ),
}
PATHS: Json = {
    path: {method.lower(): operation}
    for (method, path), operation in ((name.split(), operation) for name, operation in OPERATIONS.items())
}
