"""Index jobs over HTTP, and answers for their URLs."""

from dataclasses import dataclass
from datetime import timedelta

from http_service import Answer, Service
from manual_worker import Do, ManualWorker
from payers import Payer

from pipeline.database import Database
from pipeline.lifecycle import ClaimedItem, Outcome, claim, report

HERE, GONE, BLOCKED = "https://e.example/here", "https://e.example/gone", "https://e.example/blocked"


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


@dataclass
class IndexJobs:
    """The index jobs of an account over HTTP, and a worker for them."""

    service: Service
    client: Payer
    worker: ManualWorker
    type: str = "check"

    @property
    def database(self) -> Database:
        return self.worker.database

    def create(self, *urls: str, payer: Payer | None = None, **more: object) -> Answer:
        body = {"type": self.type, "urls": urls, **more}
        return self.service.post("/indexing/jobs", body, (payer or self.client).api_key)

    def get(self, path: str) -> Answer:
        return self.service.get(path, self.client.api_key)

    def post(self, path: str, document: object, **headers: str) -> Answer:
        return self.service.post(path, document, self.client.api_key, **headers)

    def finish(self, lane: str = "index_check", answer: Do = find) -> None:
        """Answer all URLs of a lane."""
        while items := self.database.run(claim({lane: 1_000}, lease_for=timedelta(seconds=30))):
            self.database.run(report(items[0].lease_id, [answer(item) for item in items]))
