"""The OpenAPI document holds: schemathesis asks every route for what the document allows, and for what it does not.

The requests are the same in each run (`derandomize`)."""

from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from search_engine import search_engine
from systems import FAST, Running, system

from api.families import load_families
from api.openapi.document import operations
from api.openapi.service import describe_service
from pipeline.kinds import load_kinds
from pipeline.settings import Settings

pytestmark = pytest.mark.system

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
#: Requests to each operation that the document allows, and that it does not.
EXAMPLES = {GenerationMode.POSITIVE: 5, GenerationMode.NEGATIVE: 4}
DOCUMENT = describe_service(load_kinds(Settings()), load_families())
OPERATIONS = [(path, method) for path, method, _ in operations(DOCUMENT)]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    kinds = {name: value for name, value in FAST.items() if name != "PRESSROOM_KINDS"}
    with search_engine() as engine:
        extra = kinds | engine.environment()
        with system(tmp_path_factory.mktemp("openapi") / "data", extra=extra) as running:
            yield running


@pytest.fixture(scope="module")
def schema(service: Running) -> Any:
    found = schemathesis.openapi.from_dict(service.ask("/openapi.json").json)
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

    @settings(
        max_examples=EXAMPLES[mode],
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), is_existing=st.booleans())
    def ask(case: Any, is_existing: bool) -> None:
        if is_existing:
            case.path_parameters |= {name: next(existing[name]) for name in case.path_parameters if name in existing}
        headers = {"X-API-Key": service.key}
        if "Prefer" not in (case.headers or {}):
            headers["Prefer"] = "wait=1"
        case.call_and_validate(service.address, headers=headers, checks=CHECKS, timeout=60)

    ask()
