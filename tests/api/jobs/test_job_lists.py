"""Lists of jobs: what they are filtered by, and how far a text is looked for."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from http_service import Answer, Service
from manual_worker import ManualWorker, deliver, refuse
from payers import Payer, open_account

from pipeline.database import Database, Statement
from pipeline.jobs import job_lists
from pipeline.jobs.job_lists import JobFilter, JobPage, list_jobs
from pipeline.lifecycle import ClaimedItem, Outcome


def ids(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.body
    assert answer.headers["x-total-count"] == str(len(answer.json))
    return [job["id"] for job in answer.json]


def made_at(database: Database, job_id: str, moment: str) -> None:
    """Let a job have been submitted then."""
    sql = "UPDATE job SET created_at = %(at)s WHERE id = %(id)s RETURNING 1"
    database.run(Statement(sql, {"id": job_id, "at": moment}))


def test_several_states_and_kinds_are_sent_with_commas_or_one_by_one(
    service: Service, client: Payer, manual_worker: ManualWorker
) -> None:
    done = service.submit({"text": "hi"}, client.api_key)
    manual_worker.work()
    failed = service.submit({"text": "hi"}, client.api_key)
    manual_worker.work(refuse)
    open_one = service.submit({"items": 1}, client.api_key, "/many")
    for query, wanted in [
        ("state=failed,queued", [open_one, failed]),
        ("state=failed&state=queued", [open_one, failed]),
        ("state=succeeded,%20failed&kind=echo,many", [failed, done]),
        ("kind=many,files", [open_one]),
    ]:
        assert ids(service.get(f"/jobs?{query}", client.api_key)) == wanted, query


def test_a_span_of_days_has_its_first_and_its_last(service: Service, client: Payer, api_database: Database) -> None:
    moments = ["2026-05-03T23:59:59Z", "2026-05-04T00:00:00Z", "2026-05-05T23:59:59Z", "2026-05-06T00:00:00Z"]
    jobs = []
    for moment in moments:
        jobs.append(service.submit({"text": "hi"}, client.api_key))
        made_at(api_database, jobs[-1], moment)
    for query, wanted in [
        ("from=2026-05-04&to=2026-05-05", [jobs[2], jobs[1]]),
        ("to=2026-05-03", [jobs[0]]),
        ("from=2026-05-05T23:59:59Z", [jobs[3], jobs[2]]),
        ("to=2026-05-04T00:00:00Z", [jobs[0]]),  # a moment is not a day: it is where the span ends
        ("from=2026-05-06T02:00:00%2B02:00", [jobs[3]]),
        ("from=2026-05-06T02:00:00+02:00", [jobs[3]]),
        ("from=2027-01-01", []),
    ]:
        assert ids(service.get(f"/jobs?{query}", client.api_key)) == wanted, query


def test_a_job_is_found_by_the_beginning_of_its_id(service: Service, client: Payer, api_database: Database) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    other = service.submit({"text": "hi"}, open_account(api_database).api_key)
    for prefix in (job_id, job_id[:4], job_id[:8].upper(), job_id[:12], job_id.replace("-", "")):
        assert job_id in ids(service.get(f"/jobs?id={prefix}", client.api_key))
    assert ids(service.get(f"/jobs?id={other}", client.api_key)) == []


@pytest.mark.parametrize(
    "query",
    [
        *("limit=0", "limit=101", "limit=-1", "limit=x", "limit=", "limit=1.5", "limit=%EF%BC%91", "limit=1e1"),
        *("offset=-1", "offset=99999999999999999999", "offset=x", "kind=lost", "kind=", "kind=index_check_bing"),
        *("request_id=", "request_id=a%00b", "request_id=" + "x" * 129, "id=----", "id=" + "a" * 33),
        *("state=failed,lost", "kind=echo,", "from=yesterday", "from=2026-13-01", "to=2026-05-04T99", "to="),
        *("from=9999-12-31T23:00:00-10:00", "to=9999-12-31", "id=abc", "id=xyzw", "q=", "q=a%00b", "q=" + "x" * 201),
    ],
)
def test_a_wrong_parameter_is_named(service: Service, client: Payer, query: str) -> None:
    answer = service.get(f"/jobs?{query}", client.api_key)
    assert (answer.status, answer.code) == (400, "parameter_invalid")
    assert answer.json["details"][0]["field"] == query.partition("=")[0]


# Search


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The quick brown fox", "QUICK%20bro"),
        ("Über die Brücke", "%C3%BCber"),  # über
        ("ÜBER UNS", "%C3%9Cber%20uns"),
        ("100 %_sure", "%25_s"),
        ('she said "no\\yes"\nand left', "%22no%5Cyes%22"),
        ("line one\nline two", "one%0Aline"),
    ],
)
def test_a_text_is_found_in_what_was_asked(service: Service, client: Payer, text: str, query: str) -> None:
    job_id = service.submit({"text": text}, client.api_key)
    service.submit({"text": "something else, 100 and sure"}, client.api_key)
    answer = service.get(f"/jobs?q={query}", client.api_key)
    assert ids(answer) == [job_id]
    assert "x-searched-since" not in answer.headers


def test_a_search_reads_neither_names_of_fields_nor_answers_nor_other_accounts(
    service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    service.submit({"text": "needle"}, open_account(api_database).api_key)
    service.submit({"text": "hay", "choice": "b"}, client.api_key)

    def answer(item: ClaimedItem) -> Outcome:
        return Outcome(item.item_id, "done", 3, {"found": "needle"})

    manual_worker.work(answer)
    for query in ("needle", "choice", "text"):
        assert ids(service.get(f"/jobs?q={query}", client.api_key)) == []
    assert ids(service.get("/jobs?q=needle%27%20OR%201=1", client.api_key)) == []


def test_a_search_is_narrowed_by_the_other_filters_and_paged(
    service: Service, client: Payer, manual_worker: ManualWorker
) -> None:
    jobs = [service.submit({"text": f"needle {number}"}, client.api_key) for number in range(3)]
    manual_worker.work(lambda item: refuse(item) if item.input["text"].endswith("1") else deliver(item))
    assert ids(service.get("/jobs?q=needle&state=failed", client.api_key)) == [jobs[1]]
    page = service.get("/jobs?q=needle&limit=1&offset=1", client.api_key)
    assert ([job["id"] for job in page.json], page.headers["x-total-count"]) == ([jobs[1]], "3")
    assert "q=needle" in page.headers["link"]


@pytest.mark.parametrize(("limit", "most"), [("MOST_JOBS", 3), ("MOST_ITEMS", 3), ("MOST_BYTES", 250)])
def test_a_search_that_reached_its_limit_says_since_when_it_looked(
    service: Service, client: Payer, api_database: Database, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    jobs = []
    for number in range(6):
        jobs.append(service.submit({"text": f"needle {'x' * 70}"}, client.api_key))
        made_at(api_database, jobs[-1], f"2026-05-0{number + 1}")

    def search(**more: datetime) -> JobPage:
        return api_database.run(list_jobs(JobFilter(account_id=client.account_id, text="needle", **more)))

    whole = search()
    assert ([job.id for job in whole.jobs], whole.searched_since) == ([UUID(one) for one in jobs[::-1]], None)
    monkeypatch.setattr(job_lists, limit, most)
    page = search()
    assert [job.id for job in page.jobs] == [UUID(one) for one in jobs[:2:-1]]
    assert page.total == 3
    assert page.searched_since == datetime(2026, 5, 4, tzinfo=UTC)
    assert [job.id for job in search(until=page.searched_since).jobs] == [UUID(one) for one in jobs[2::-1]]
