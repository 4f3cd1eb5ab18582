"""Answers of Google about owners' pages are read as documented, and never guessed."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from site_services import FAULTS

from capabilities.index_check.engines.search.base.provider import Reply
from capabilities.index_check.engines.search.base.site_service import ServiceTrouble, Trouble
from capabilities.index_check.engines.search.owners.google_access import open_access
from capabilities.index_check.engines.search.owners.search_console import SearchConsole, judge
from capabilities.index_check.settings import SearchSettings

GOOGLE = SearchConsole(SearchSettings())
DOMAIN = "sc-domain:e.example"


def reply(body: Any, status: int = 200) -> Reply:
    return Reply(status, "https://service.example/", json.dumps(body).encode())


def trouble_of(call: Callable[..., object], *arguments: object) -> ServiceTrouble:
    """Return the trouble that a call raises."""
    with pytest.raises(ServiceTrouble) as trouble:
        call(*arguments)
    return trouble.value


@pytest.mark.parametrize(
    ("verdict", "state", "found"),
    [
        ("PASS", "Some new words", ("indexed", "indexed")),
        ("PASS", None, ("indexed", "indexed")),
        ("NEUTRAL", "URL is unknown to Google", ("not_indexed", "unknown_to_google")),
        ("NEUTRAL", "Excluded by ‘noindex’ tag", ("not_indexed", "noindex")),
        ("NEUTRAL", "Discovered – currently not indexed", ("not_indexed", "discovered_not_indexed")),
        ("FAIL", "Server error (5xx)", ("not_indexed", "server_error")),
        ("PARTIAL", "Indexed, though blocked by robots.txt", ("indexed", "indexed_though_blocked")),
    ],
)
def test_words_of_google_are_read_whatever_their_signs(verdict: str, state: str | None, found: tuple[str, str]) -> None:
    assert judge(verdict, state) == found


@pytest.mark.parametrize(
    ("verdict", "state"),
    [
        ("NEUTRAL", "A state of tomorrow"),
        ("FAIL", None),
        ("PARTIAL", "Page with redirect"),
        ("VERDICT_UNSPECIFIED", "Submitted and indexed"),
        (None, "URL is unknown to Google"),
        ("PASS", "URL is unknown to Google"),
        ("SOMETHING", "Submitted and indexed"),
    ],
)
def test_what_nobody_knows_is_never_guessed(verdict: str | None, state: str | None) -> None:
    trouble = trouble_of(judge, verdict, state)

    assert (trouble.kind, trouble.code) == (Trouble.UNKNOWN, "unknown_coverage")


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("minute_429", Trouble.QUOTA), ("plain_429", Trouble.QUOTA), ("quotaExceeded", Trouble.QUOTA),
     ("rateLimitExceeded", Trouble.QUOTA), ("day_429", Trouble.DAY_QUOTA), ("dailyLimitExceeded", Trouble.DAY_QUOTA),
     ("not_owner", Trouble.REFUSED), ("api_disabled", Trouble.DISCONNECTED), ("bad_request", Trouble.URL_REFUSED),
     ("500", Trouble.PASSING)],
)  # fmt: skip
def test_errors_of_google_in_both_forms(fault: str, kind: Trouble) -> None:
    status, body = FAULTS[fault]

    assert trouble_of(GOOGLE.read, reply(body, status), DOMAIN).kind is kind


@pytest.mark.parametrize("body", [[], {}, {"error": 1}, {"error": {"errors": [1], "details": {"a": 1}}}, "text", None])
def test_errors_that_look_like_nothing_are_still_told_by_their_status(body: Any) -> None:
    assert trouble_of(GOOGLE.read, reply(body, 403), DOMAIN).kind is Trouble.REFUSED


@pytest.mark.parametrize(
    "body", [{}, {"inspectionResult": []}, {"inspectionResult": {}}, {"inspectionResult": {"indexStatusResult": 1}}]
)
def test_an_answer_without_a_status_is_no_answer(body: Any) -> None:
    assert trouble_of(GOOGLE.read, reply(body), DOMAIN).kind is Trouble.UNKNOWN


def test_properties_without_permission_are_left_out() -> None:
    entries = [
        {"siteUrl": DOMAIN, "permissionLevel": "siteFullUser"},
        {"siteUrl": "https://not.example/", "permissionLevel": "siteUnverifiedUser"},
        {"permissionLevel": "siteOwner"},
    ]

    assert GOOGLE.read_sites(reply({"siteEntry": entries})) == [DOMAIN]
    assert GOOGLE.read_sites(reply({})) == []


@pytest.mark.parametrize(
    "credentials",
    [
        {},
        {"type": "external_account"},
        {"type": "service_account", "client_email": "a@b.example"},
        {"type": "service_account", "client_email": "a@b.example", "private_key": "none"},
        {"type": "authorized_user", "client_id": "1"},
    ],
)
def test_files_that_are_no_credentials_are_told_as_such(credentials: dict[str, str]) -> None:
    assert trouble_of(open_access, credentials, SearchSettings()).code == "credentials_invalid"
