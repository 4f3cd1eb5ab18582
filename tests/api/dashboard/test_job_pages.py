"""The dashboard's pages of jobs."""

import re
from html import unescape
from uuid import uuid4

import pytest
from browser import Browser, sign_in
from http_service import Answer, Service
from manual_worker import ManualWorker, refuse
from payers import Payer, open_account

from pipeline.database import Database, Statement
from pipeline.jobs.job_ends import tell_ends
from pipeline.lifecycle import ClaimedItem, Outcome

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


@pytest.fixture
def browser(service: Service, api_database: Database, client: Payer) -> Browser:
    """A browser in which the account of `client` is signed in."""
    return sign_in(service, api_database, client)


def text_of(answer: Answer) -> str:
    assert answer.status == 200, answer.body
    return answer.body.decode()


def listed(browser: Browser, query: str = "") -> list[str]:
    return re.findall(r'name="ids" value="([^"]+)"', text_of(browser.get(f"/dashboard/jobs{query}")))


def flash_of(browser: Browser, answer: Answer) -> str:
    assert answer.status == 303, answer.body
    found = re.search(
        r'<p class="flash (?:good|bad|plain)">(.*?)</p>', text_of(browser.get(answer.headers["location"]))
    )
    assert found
    return unescape(found[1])


def act(browser: Browser, action: str, *ids: str, **more: str) -> Answer:
    return browser.post("/dashboard/jobs", {"action": action, "ids": list(ids), **more})


# The list


def test_the_list_shows_jobs_with_what_was_asked_and_how_far_they_are(
    service: Service, client: Payer, browser: Browser, manual_worker: ManualWorker
) -> None:
    assert "No jobs yet" in text_of(browser.get("/dashboard/jobs"))
    done = service.submit({"text": "Good morning!"}, client.api_key)
    manual_worker.work()
    open_one = service.submit({"items": 3}, client.api_key, "/many")
    page = text_of(browser.get("/dashboard/jobs"))
    assert listed(browser) == [open_one, done]
    assert "Good morning!" in page
    assert "and 2 more" in page
    assert 'data-refresh="2"' in page
    manual_worker.work()
    assert 'data-refresh="15"' in text_of(browser.get("/dashboard/jobs"))


def test_the_list_is_filtered_searched_and_paged_by_its_address(
    service: Service, client: Payer, browser: Browser, manual_worker: ManualWorker
) -> None:
    failed = service.submit({"text": "needle"}, client.api_key)
    manual_worker.work(refuse)
    others = [service.submit({"text": f"hay {number}"}, client.api_key) for number in range(26)]
    assert listed(browser, "?q=NEEDLE") == listed(browser, "?state=partial,failed,expired,cancelled") == [failed]
    assert listed(browser, f"?q={failed}") == [failed]
    assert listed(browser, f"?q={failed[:8]}-{'a' * 27}") == []  # longer than an id
    assert listed(browser, "?q=needle&state=succeeded") == []
    assert listed(browser, "?kind=many") == listed(browser, "?to=2020-01-01") == []
    assert len(listed(browser)) == 25
    assert 'data-refresh="15"' in text_of(browser.get("/dashboard/jobs?q=hay"))
    assert "data-refresh" not in text_of(browser.get("/dashboard/jobs?offset=25"))
    (older,) = re.findall(r'rel="next" href="([^"]+)"', text_of(browser.get("/dashboard/jobs?kind=echo")))
    assert listed(browser, unescape(older).removeprefix("/dashboard/jobs")) == [others[0], failed]
    empty = browser.get("/dashboard/jobs?q=&state=failed&kind=&from=&to=")
    assert (empty.status, empty.headers["location"]) == (303, "/dashboard/jobs?state=failed")
    assert browser.get("/dashboard/jobs?state=lost").status == 400


def test_several_jobs_are_tried_again_ended_and_deleted_at_once(
    service: Service, client: Payer, browser: Browser, manual_worker: ManualWorker
) -> None:
    failed = [service.submit({"text": f"hi {number}"}, client.api_key) for number in range(2)]
    manual_worker.work(refuse)
    done = service.submit({"text": "done"}, client.api_key)
    manual_worker.work()

    said = flash_of(browser, act(browser, "retry", *failed, done, once="page-1"))
    assert said.startswith("2 jobs retried. 1 not retried: Everything was delivered")
    assert len(listed(browser, "?state=queued,running")) == 2
    manual_worker.work()
    act(browser, "retry", *failed, once="page-1")  # the same form again, when its jobs have already ended
    assert len(listed(browser)) == 5

    open_ones = [service.submit({"text": "later"}, client.api_key) for _ in range(2)]
    assert flash_of(browser, act(browser, "cancel", *open_ones)) == "2 jobs cancelled."
    assert listed(browser, "?state=cancelled") == open_ones[::-1]
    assert flash_of(browser, act(browser, "cancel", done)) == "1 not cancelled: It had ended already."
    running = service.submit({"text": "later"}, client.api_key)
    said = flash_of(browser, act(browser, "delete", done, running))
    assert said == "1 job deleted. 1 not deleted: It is still running; cancel it first."
    assert service.get(f"/jobs/{done}/result", client.api_key).code == "result_deleted"
    assert flash_of(browser, act(browser, "delete")) == "No job was selected."


def test_a_form_without_its_token_or_with_another_accounts_jobs_does_nothing(
    service: Service, browser: Browser, manual_worker: ManualWorker, api_database: Database
) -> None:
    other = open_account(api_database)
    job_id = service.submit({"text": "theirs"}, other.api_key)
    for token in ("", "0" * 64):
        answer = browser.post("/dashboard/jobs", {"action": "cancel", "ids": job_id}, token=token)
        assert answer.status == 403
    for action, done in (("cancel", "cancelled"), ("retry", "retried"), ("delete", "deleted")):
        said = flash_of(browser, act(browser, action, job_id, "nonsense"))
        assert said == f"2 not {done}: This job does not exist."
    assert service.get(f"/jobs/{job_id}", other.api_key).json["state"] == "queued"
    assert act(browser, "explode", job_id).status == 400


@pytest.mark.parametrize(
    "back", ["https://evil.example/", "//evil.example", "/dashboard/sign-out", "/dashboard/jobs\\@evil"]
)
def test_a_form_leads_back_to_the_list_alone(browser: Browser, back: str) -> None:
    assert act(browser, "delete", back=back).headers["location"] == "/dashboard/jobs"
    assert (
        act(browser, "delete", back="/dashboard/jobs?state=failed").headers["location"]
        == "/dashboard/jobs?state=failed"
    )


# One job


def test_a_job_is_shown_with_its_result_and_can_be_deleted(
    service: Service, client: Payer, browser: Browser, manual_worker: ManualWorker
) -> None:
    job_id = service.submit({"text": "Good morning!"}, client.api_key)
    path = f"/dashboard/jobs/{job_id}"
    running = text_of(browser.get(path))
    assert 'data-refresh="2"' in running
    assert ">Cancel<" in running
    assert ">Delete<" not in running
    manual_worker.work(lambda item: Outcome(item.item_id, "done", 3, {"said": "a fine answer", "is_fine": True}))
    page = text_of(browser.get(path))
    assert "a fine answer" in page
    assert "data-refresh" not in page
    assert f'href="/jobs/{job_id}/result" download' in page
    assert browser.get(f"/jobs/{job_id}/result").json["echo"]["said"] == "a fine answer"
    assert flash_of(browser, act(browser, "delete", job_id, alone="yes", back=path)) == "1 job deleted."
    deleted = text_of(browser.get(path))
    assert "You deleted the request and result" in deleted
    assert "Good morning!" not in deleted
    assert "fine answer" not in deleted


def test_a_retry_of_one_job_leads_to_the_new_one(
    service: Service, client: Payer, browser: Browser, manual_worker: ManualWorker
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    manual_worker.work(refuse)
    page = text_of(browser.get(f"/dashboard/jobs/{job_id}"))
    assert "cannot_be_done" in page
    assert ">Retry<" in page
    answer = act(browser, "retry", job_id, alone="yes", back=f"/dashboard/jobs/{job_id}")
    assert answer.headers["location"].startswith("/dashboard/jobs/")
    assert job_id not in answer.headers["location"]
    assert ">waiting<" in text_of(browser.get(answer.headers["location"]))


def test_a_job_of_many_items_is_shown_item_by_item(
    service: Service, client: Payer, browser: Browser, manual_worker: ManualWorker
) -> None:
    job_id = service.submit({"items": 120}, client.api_key, "/many")
    manual_worker.work(
        lambda item: Outcome(item.item_id, "done", 1, {"reason": f"fine {item.index}"}) if item.index else refuse(item)
    )
    page = text_of(browser.get(f"/dashboard/jobs/{job_id}"))
    assert "It can&#39;t be done." in page
    assert "reason: fine 49" in page
    assert "fine 50" not in page
    assert "reason: fine 119" in text_of(browser.get(f"/dashboard/jobs/{job_id}?offset=100"))


def test_another_accounts_job_and_a_missing_one_are_the_same_page(
    service: Service, browser: Browser, api_database: Database
) -> None:
    theirs = service.submit({"text": "theirs"}, open_account(api_database).api_key)
    pages = [browser.get(f"/dashboard/jobs/{one}") for one in (theirs, str(uuid4()), "1")]
    assert {page.status for page in pages} == {404}
    ids = {page.headers["x-request-id"]: "" for page in pages}
    assert len({page.body.decode().replace(one, "") for page, one in zip(pages, ids, strict=True)}) == 1


def test_whatever_a_job_holds_is_shown_as_text(
    service: Service, client: Payer, browser: Browser, manual_worker: ManualWorker, api_database: Database
) -> None:
    jobs = [service.submit({"text": HOSTILE}, client.api_key, X_Request_Id=HOSTILE.replace(" ", "")) for _ in range(3)]
    jobs.append(service.submit({"items": 2}, client.api_key, "/many"))
    answers: list[object] = [HOSTILE, {HOSTILE: [HOSTILE, {"a": HOSTILE}]}, f"/files/{HOSTILE}.png"]

    def answer(item: ClaimedItem) -> Outcome:
        if item.kind == "many" or not answers:
            error = {"status": 400, "error": HOSTILE, "message": HOSTILE, "code": HOSTILE}
            return Outcome(item.item_id, "failed", error=error)
        return Outcome(item.item_id, "done", 3, {"said": answers.pop(), HOSTILE: HOSTILE}, engine=HOSTILE)

    manual_worker.work(answer)
    manual_worker.work(answer)
    sql = (
        "UPDATE job SET request = jsonb_build_object('name', %(x)s::text, %(x)s::text, %(x)s::text), source = %(x)s"
        " WHERE id = %(id)s RETURNING 1"
    )
    for job_id in jobs:
        api_database.run(Statement(sql, {"x": HOSTILE, "id": job_id}))
    paths = [f"/dashboard/jobs/{job_id}" for job_id in jobs]
    for path in [*paths, "/dashboard/jobs", "/dashboard/jobs?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E%22%27%3E%3Cimg"]:
        page = text_of(browser.get(path))
        assert "&lt;script&gt;alert(1)" in page
        assert "<script>alert" not in page
        assert "<img src=x" not in page


def test_a_job_shows_what_webhooks_were_told_of_it(
    service: Service, client: Payer, browser: Browser, manual_worker: ManualWorker, api_database: Database
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    sql = "UPDATE job SET webhook_url = %(url)s WHERE id = %(id)s RETURNING 1"
    api_database.run(Statement(sql, {"id": job_id, "url": f"https://example.org/{HOSTILE}"}))
    assert "job.completed" not in text_of(browser.get(f"/dashboard/jobs/{job_id}"))
    manual_worker.work()
    tell_ends(api_database)
    page = text_of(browser.get(f"/dashboard/jobs/{job_id}"))
    assert "job.completed" in page
    assert "https://example.org/&lt;script&gt;" in page
    assert "<script>alert" not in page


def test_operators_see_the_log_of_a_job_and_others_do_not(
    service: Service, client: Payer, api_database: Database, manual_worker: ManualWorker
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    operator = sign_in(service, api_database, client, operator=True)
    assert 'id="log"' in text_of(operator.get(f"/dashboard/jobs/{job_id}"))
    other = sign_in(service, api_database, client)
    assert 'id="log"' not in text_of(other.get(f"/dashboard/jobs/{job_id}"))
