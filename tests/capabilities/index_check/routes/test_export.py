"""An index job's URLs as files: which columns, as CSV for programs and for Excel, and as a spreadsheet."""

import csv
import io
from datetime import UTC, datetime, timedelta

import openpyxl
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


def test_a_spreadsheet_has_texts_booleans_and_times_and_no_formula(jobs: IndexJobs) -> None:
    path = checked(jobs, HERE, GONE, BLOCKED, HOSTILE)

    answer = jobs.get(f"{path}?format=xlsx")

    assert answer.headers["content-type"] == "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    assert answer.headers["content-disposition"].endswith(f"index-job-{path.split('/')[3]}.xlsx")
    book = openpyxl.load_workbook(io.BytesIO(answer.body))
    head, here, gone, blocked, hostile = book.worksheets[0].iter_rows()
    assert [cell.value for cell in head] == ALL
    assert [cell.value for cell in here[:4]] == [HERE, "done", True, "indexed"]
    assert here[11].value == datetime(2026, 11, 22, 10, 0, 0, 250_000)
    assert here[11].is_date
    assert abs(here[5].value - datetime.now(UTC).replace(tzinfo=None)) < timedelta(hours=1)
    assert (gone[2].value, blocked[2].value, blocked[11].value) == (False, None, None)
    assert [(hostile[place].value, hostile[place].data_type) for place in (7, 10)] == [
        ("@SUM(1)", "s"),
        ('=HYPERLINK("http://evil.example/","x")', "s"),
    ]
    basic = jobs.get(f"{path}?format=xlsx&columns=basic")
    (row, *_) = openpyxl.load_workbook(io.BytesIO(basic.body)).worksheets[0].iter_rows(values_only=True)
    assert list(row) == BASIC
    # In CSV they are defused.
    row = rows_of(jobs.get(path))[4]
    assert (row[7], row[10]) == ("'@SUM(1)", '\'=HYPERLINK("http://evil.example/","x")')


@pytest.mark.parametrize("query", ["format=ods", "columns=url", "excel=1"])
def test_what_no_export_is_made_as_is_refused(jobs: IndexJobs, query: str) -> None:
    path = checked(jobs, HERE)

    answer = jobs.get(f"{path}?{query}")

    assert (answer.status, answer.code) == (400, "parameter_invalid")
