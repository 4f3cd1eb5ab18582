"""The OpenAPI document holds: schemathesis asks every route for what the document allows, and for what it does not.

The requests are those of `SEED`, and of the order of sets (`PYTHONHASHSEED`, as the Makefile has it); `REQUESTS` makes
them so many times as many."""

import os
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from itertools import cycle
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import CheckContext, GenerationMode, Response
from schemathesis.checks import not_a_server_error
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from systems import Running

from api.capabilities import load_routes
from api.openapi.document import describe_service, operations
from pipeline.registry import load_kinds
from pipeline.settings import Settings

pytestmark = pytest.mark.system

#: What a document can't say: of fields that depend on each other, of what is in a file, of how deep and large any JSON
#: may be, of what there is on the machine or on the web, and of what was done with a thing before.
BEYOND = {
    "audio_undecodable",
    "audiobook_not_found",
    "book_missing",
    "cast_missing",
    "engine_unknown",
    "file_empty",
    "file_missing picture",
    "form_invalid",
    "idempotency_key_reused",
    "image_undecodable",
    "image_unreachable",
    "image_url_invalid",
    "index_unknown",
    "json_number_too_large",
    "json_too_deep",
    "language_not_supported",
    "language_unknown",
    "lexicon_entry_twice",
    "manuscript_missing",
    "manuscript_unreadable",
    "manuscript_url_failed",
    "manuscript_url_refused",
    "markup_invalid",
    "nothing_to_speak",
    "parameter_invalid from",
    "passage_unknown",
    "recording_missing",
    "recording_url_blocked",
    "result_deleted",
    "route_unknown",
    "speakers_not_available",
    "sitemap_url_invalid",
    "stream_not_of_form",
    "text_empty",
    "title_empty",
    "translation_not_supported",
    "type_not_available",
    "url_invalid",
    "urls_invalid",
    "voice_language_mismatch",
    "voice_not_installed",
    "voice_unknown",
    "webhook_missing",
    "webhook_url_invalid",
}
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
#: No route takes a NUL, in whatever field; it is the one character that a JSON Schema would have to name everywhere.
GENERATION = GenerationConfig(allow_x00=False)
CONFIG = SchemathesisConfig(projects=ProjectsConfig(default=ProjectConfig(generation=GENERATION)))


def accepts_what_is_allowed(ctx: CheckContext, response: Response, case: Any) -> bool | None:
    refusal = response.json() if response.status_code in {400, 410, 422} else {}
    refusal = refusal["error"] if isinstance(refusal.get("error"), dict) else refusal  # of OpenAI's routes
    details = [f"{one['code']} {one['field']}" for one in refusal.get("details", ())]
    if BEYOND.intersection((refusal.get("code"), *details)):
        return None
    return positive_data_acceptance(ctx, response, case)


def refuses_what_is_not_allowed(ctx: CheckContext, response: Response, case: Any) -> bool | None:
    # In a form, one file and a list of one file are the same bytes, whatever they say.
    fields = case.body if isinstance(case.body, dict) else {}
    if case.media_type == "multipart/form-data" and not isinstance(fields.get("image", []), list):
        return None
    # What is wrong may be too long for a request line, and then it is refused before anybody looks at it.
    return (
        None
        if response.status_code == HTTPStatus.REQUEST_URI_TOO_LONG
        else negative_data_rejection(ctx, response, case)
    )


#: What every answer must hold to.
ALWAYS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
CHECKS = {
    GenerationMode.POSITIVE: [*ALWAYS, accepts_what_is_allowed],
    GenerationMode.NEGATIVE: [*ALWAYS, refuses_what_is_not_allowed],
}
#: Requests to each operation that the document allows, and that it does not.
TIMES = int(os.environ.get("REQUESTS") or 1)
EXAMPLES = {GenerationMode.POSITIVE: 2 * TIMES, GenerationMode.NEGATIVE: 2 * TIMES}
SEED = int(os.environ.get("SEED") or 1)
DOCUMENT = describe_service(load_kinds(Settings()), load_routes())
OPERATIONS = [(path, method) for path, method, _ in operations(DOCUMENT)]


@pytest.fixture(scope="module")
def schema(service: Running) -> Any:
    found = schemathesis.openapi.from_dict(service.ask("/openapi.json").json, config=CONFIG)
    assert {(path, method) for path, method, _ in operations(found.raw_schema)} == set(OPERATIONS)
    return found


@pytest.fixture(scope="module")
def existing(service: Running) -> Mapping[str, Iterator[str]]:
    """Things of the account by the names of the path parameters that lead to them, again and again."""

    def made(path: str, body: Mapping[str, Any], count: int) -> list[str]:
        answers = [service.ask(path, body, Prefer="respond-async") for _ in range(count)]
        assert all(answer.status in {201, 202} for answer in answers), answers[-1].body
        return [answer.json.get("id") or answer.json["job_id"] for answer in answers]

    jobs = [
        *made("/tts", {"text": "Good morning!"}, 2),
        *made("/indexing/jobs", {"type": "check", "urls": ["https://example.org/"], "index": "bing"}, 2),
    ]
    for job in jobs:
        service.wait_for_state(job)
    url = "https://example.org/hook"
    service.ask("/webhooks", {"webhook_url": url}, method="PUT")
    test = service.ask("/webhooks/test", {"webhook_url": url})
    assert test.status == 202, test.body
    return {
        "job_id": cycle(jobs),
        "monitor_id": cycle(made("/indexing/monitors", {"urls": ["https://example.org/"], "every": "week"}, 3)),
        "key_id": cycle(made("/keys", {"name": "made"}, 3)),
        "delivery_id": cycle([test.json["id"]]),
        "model": cycle(["tts-1", "whisper-1"]),
    }


@pytest.mark.parametrize("mode", list(EXAMPLES), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=lambda value: value.strip("/"))
def test_every_answer_is_one_that_the_document_has(
    service: Running, schema: Any, existing: Mapping[str, Iterator[str]], path: str, method: str, mode: GenerationMode
) -> None:
    operation = schema[path][method.upper()]
    if mode is GenerationMode.NEGATIVE and not (operation.body or any(operation.iter_parameters())):
        pytest.skip("nothing can be wrong in it")

    @seed(SEED)
    @settings(
        max_examples=EXAMPLES[mode],
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), is_existing=st.booleans())
    def ask(case: Any, is_existing: bool) -> None:
        checks = CHECKS[mode]
        if is_existing and case.path_parameters and existing.keys() & case.path_parameters:
            if mode is GenerationMode.NEGATIVE:
                checks = ALWAYS  # what was wrong in it may be gone
            case.path_parameters |= {name: next(existing[name]) for name in case.path_parameters if name in existing}
        is_key_sent = mode is GenerationMode.NEGATIVE and isinstance(case.body, dict) and "api_key" in case.body
        # A header's key goes first, and then the body's is not looked at.
        headers = (
            {} if is_key_sent or case.operation.definition.raw.get("security") == [] else {"X-API-Key": service.key}
        )
        # Without an effective preference the answer is the job's end: a refusal, if its address can't be reached.
        headers["Prefer"] = ", ".join(filter(None, ["wait=1", (case.headers or {}).get("Prefer")]))
        case.call_and_validate(service.address, headers=headers, checks=checks, timeout=60)

    ask()
