"""Index jobs over HTTP, and answers for their URLs."""

from datetime import timedelta

from http_service import Answer, Service
from manual_worker import Do, ManualWorker
from payers import Payer

from pipeline.lifecycle import ClaimedItem, Outcome, claim, report

HERE, GONE, BLOCKED = "https://e.example/here", "https://e.example/gone", "https://e.example/blocked"


def create(service: Service, client: Payer, *urls: str, **more: object) -> Answer:
    """Make an index job, by default a check."""
    return service.post("/indexing/jobs", {"type": "check", "urls": urls, **more}, client.api_key)


def find(item: ClaimedItem) -> Outcome:
    """Answer as the URL's last part says."""
    what = item.input["url"].rpartition("/")[2]
    if what == "blocked":
        error = {"status": 500, "error": "x", "message": "Blocked.", "code": "captcha", "reason": "rate_limited"}
        return Outcome(item.item_id, "failed", 0, error=error)
    reason = "indexed" if what == "here" else "not_indexed"
    output = {
        "reason": reason,
        "code": reason,
        "provider": "duckduckgo",
        "query": item.input["url"],
        "checked_at": "2026-11-22T10:00:00.000Z",
    }
    return Outcome(item.item_id, "done", 1, output, engine="duckduckgo")


def finish(finder: ManualWorker, lane: str = "index_check", answer: Do = find) -> None:
    """Answer all URLs of a lane."""
    while items := finder.database.run(claim({lane: 1_000}, lease_for=timedelta(seconds=30))):
        finder.database.run(report(items[0].lease_id, [answer(item) for item in items]))
