"""An index job's URLs as files: which columns, as CSV for programs and for Excel."""

import csv
import io

import pytest
from http_service import Answer
from index_finder import IndexJobs

from pipeline.lifecycle import ClaimedItem, Outcome

BASIC = ["url", "status", "is_indexed", "reason", "search_status", "created_at", "updated_at"]
ALL = [*BASIC, "provider", "index", "code", "matched_url", "checked_at"]
HERE, GONE, BLOCKED, HOSTILE = (f"https://e.example/{name}" for name in ("here", "gone", "blocked", "hostile"))
FOUND = {
    "reason": "indexed",
    "code": "indexed",
    "provider": "brave_api",
    "index": "brave",
    "matched_url": "https://www.e.example/here/",
    "checked_at": "2026-11-22T10:00:00.250Z",
}
ANSWERS = {
    HERE: FOUND,
    GONE: {**FOUND, "reason": "not_indexed", "code": "not_indexed", "matched_url": None},
    HOSTILE: {**FOUND, "matched_url": '=HYPERLINK("http://evil.example/","x")', "provider": "@SUM(1)"},
}


def answer(item: ClaimedItem) -> Outcome:
    found = ANSWERS.get(item.input["url"])
    if found is None:
        error = {"status": 500, "error": "x", "message": "Blocked.", "code": "captcha", "reason": "rate_limited"}
        return Outcome(item.item_id, "failed", 0, error=error)
    return Outcome(item.item_id, "done", 1, found)


def checked(jobs: IndexJobs, *urls: str) -> str:
    """Return the path of the export of a job whose URLs were all checked."""
    job_id = jobs.create(*urls).json["job_id"]
    jobs.finish(answer=answer)
    return f"/indexing/jobs/{job_id}/export"


def rows_of(answer: Answer) -> list[list[str]]:
    return list(csv.reader(io.StringIO(answer.body.decode("utf-8-sig"), newline="")))


def test_what_was_found_out_follows_the_columns_that_were_always_there(jobs: IndexJobs) -> None:
    path = checked(jobs, HERE, GONE, BLOCKED)

    head, here, gone, blocked = rows_of(jobs.get(path))
    basic = rows_of(jobs.get(f"{path}?columns=basic"))

    assert head == ALL
    assert here[7:] == ["brave_api", "brave", "indexed", "https://www.e.example/here/", "2026-11-22T10:00:00.250Z"]
    assert gone[7:] == ["brave_api", "brave", "not_indexed", "", "2026-11-22T10:00:00.250Z"]
    assert blocked[1:4] + blocked[7:] == ["failed", "", "rate_limited", "", "", "captcha", "", ""]
    assert basic == [row[:7] for row in (BASIC, here, gone, blocked)]


def test_excel_is_told_that_the_file_is_utf_8_and_nobody_else_is(jobs: IndexJobs) -> None:
    path = checked(jobs, "https://e.example/café")

    plain, for_excel = (jobs.get(f"{path}{query}").body for query in ("", "?excel=true"))

    assert for_excel == "\ufeff".encode() + plain


def test_no_cell_is_a_formula(jobs: IndexJobs) -> None:
    row = rows_of(jobs.get(checked(jobs, HOSTILE)))[1]

    assert (row[7], row[10]) == ("'@SUM(1)", '\'=HYPERLINK("http://evil.example/","x")')


@pytest.mark.parametrize("query", ["columns=url", "excel=1"])
def test_what_no_export_is_made_as_is_refused(jobs: IndexJobs, query: str) -> None:
    path = checked(jobs, HERE)

    answer = jobs.get(f"{path}?{query}")

    assert (answer.status, answer.code) == (400, "parameter_invalid")
