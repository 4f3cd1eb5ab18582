"""OpenAPI paths of /indexing that are no kind's."""

from api.openapi import parts
from api.openapi.parts import (
    COUNT,
    IDEMPOTENCY_KEY,
    JOB_ID,
    MOMENT,
    Json,
    errors,
    json_answer,
    maybe,
    object_of,
    parameter,
    text,
)
from pipeline.kinds.index_check.jobs import IndexJob
from pipeline.kinds.index_check.urls import REASONS, STATUSES

JOB_ERRORS = errors(*parts.JOB_ERRORS, "410")
INDEX_JOB: Json = IndexJob.model_json_schema(mode="serialization")
INDEX_URL = object_of(
    id=text(format="uuid"),
    url=text(),
    status=text(enum=list(STATUSES)),
    is_indexed=maybe({"type": "boolean"}),
    search_status={"type": "null"},
    raw_result=maybe(
        {
            **object_of(
                reason=text(enum=list(REASONS)),
                code=text("The finer cause."),
                message=text("Why there is no answer, and what helps; of a failed URL."),
                provider=text("Whose index answered."),
                query=text(),
                checked_at=MOMENT,
                matched_url=maybe(text()),
                proofUrl=text("A results page that a person can open; of an indexed URL."),
                near_matches={"type": "array", "items": object_of(url=text(), relation=text())},
                reused={"type": "boolean"},
            ),
            "required": ["reason"],
        }
    ),
    last_error=maybe(text("Why it is asked for again.")),
    created_at=MOMENT,
    updated_at=MOMENT,
)


def _paging(most: int, default: int) -> list[Json]:
    limit = {"type": "integer", "minimum": 1, "maximum": most, "default": default}
    return [
        parameter("limit", "query", limit, "Entries a page."),
        parameter("offset", "query", {**COUNT, "default": 0}, "Entries to skip."),
    ]


def _route(operation_id: str, summary: str, responses: Json, *parameters: Json, **more: Json) -> Json:
    return {
        "operationId": operation_id,
        "tags": ["search_check"],
        "summary": summary,
        "parameters": list(parameters),
        "responses": responses,
        **more,
    }


INDEXING_PATHS: dict[str, Json] = {
    "/indexing/jobs": {
        "get": _route(
            "get_indexing_jobs",
            "The account's index jobs, newest first.",
            {
                "200": json_answer({"type": "array", "items": INDEX_JOB}, "A page."),
                **errors("400", "401", "429", "500", "503"),
            },
            parameter("type", "query", text(enum=["check", "submit"]), "Only jobs of this type."),
            *_paging(100, 20),
        )
    },
    "/indexing/jobs/{job_id}": {
        "get": _route(
            "get_indexing_job",
            "An index job, with its counts.",
            {"200": json_answer(INDEX_JOB, "The job."), **JOB_ERRORS},
            JOB_ID,
        )
    },
    "/indexing/jobs/{job_id}/urls": {
        "get": _route(
            "get_indexing_job_urls",
            "The job's URLs, in input order.",
            {
                "200": json_answer({"type": "array", "items": INDEX_URL}, "A page."),
                **JOB_ERRORS,
                **errors("400"),
            },
            JOB_ID,
            parameter("status", "query", text(enum=list(STATUSES)), "Only URLs in this status."),
            parameter("reason", "query", text(enum=list(REASONS)), "Only URLs that came out so."),
            *_paging(1_000, 100),
        )
    },
    "/indexing/jobs/{job_id}/export": {
        "get": _route(
            "get_indexing_job_export",
            "The job's URLs as CSV, as they are now.",
            {"200": {"description": "The file.", "content": {"text/csv": {"schema": text()}}}, **JOB_ERRORS},
            JOB_ID,
        )
    },
    "/indexing/jobs/{job_id}/retry": {
        "post": _route(
            "post_indexing_job_retry",
            "A new job of the URLs that failed, or of those that failed for a reason.",
            {
                "201": json_answer(object_of(job_id=text(), type=text(), total_urls=COUNT, status=text()), "The job."),
                **JOB_ERRORS,
                **errors("400", "402", "409", "413", "422"),
            },
            JOB_ID,
            IDEMPOTENCY_KEY,
            requestBody={
                "required": False,
                "content": {
                    "application/json": {
                        "schema": object_of(reason=text(enum=["rate_limited", "error"]), api_key=text())
                    }
                },
            },
        )
    },
}
