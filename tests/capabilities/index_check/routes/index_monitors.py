"""Monitors of an account over HTTP, the sweep that runs them, and an engine that answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from http_service import Answer, Service
from payers import Payer

from capabilities.index_check.kinds.index_check import IndexCheck
from capabilities.index_check.monitors.running import MonitorRuns
from pipeline.database import Database, Statement
from pipeline.lifecycle import ClaimedItem, Outcome, claim, report
from pipeline.settings import Settings

A, B, C = (f"https://e.example/{name}" for name in "abc")
SETTINGS = Settings(fetch={"allow_networks": "127.0.0.0/8"})

#: An engine's answer about each URL: indexed or not, None for a block.
Says = Mapping[str, bool | None]


@dataclass
class Monitors:
    """The monitors of an account over HTTP, the sweep that runs them, and an engine that answers."""

    service: Service
    client: Payer
    database: Database

    def send(self, method: str, path: str, document: object = None, *, key: str | None = "") -> Answer:
        """Send a request with the account's key, another one, or none."""
        key = self.client.api_key if key == "" else key
        body = b"" if document is None else json.dumps(document).encode()
        headers = {"Content-Type": "application/json"} | ({"X-API-Key": key} if key else {})
        return self.service.request(method, f"/indexing/monitors{path}", body, headers)

    def create(self, *urls: str, **more: object) -> Any:
        answer = self.send("POST", "", {"urls": urls, "every": "day", **more})
        assert answer.status == 201, answer.body
        return answer.json

    def read(self, monitor: Any, path: str = "") -> Any:
        answer = self.send("GET", f"/{monitor['id']}{path}")
        assert answer.status == 200, answer.body
        return answer.json

    def patch(self, monitor: Any, **fields: object) -> Any:
        answer = self.send("PATCH", f"/{monitor['id']}", fields)
        assert answer.status == 200, answer.body
        return answer.json

    def jobs(self, monitor: Any) -> list[Any]:
        found: list[Any] = self.service.get(f"/jobs?request_id=monitor-{monitor['id']}", self.client.api_key).json
        return found

    def changes(self, monitor: Any) -> list[tuple[str, str]]:
        """Return the changes of a monitor, newest first."""
        return [(one["change"], one["url"]) for one in self.read(monitor, "/changes")]

    def skipped(self, monitor: Any) -> Any:
        """Return why a monitor has made no job."""
        read = Statement("SELECT skipped->>'code' AS code FROM index_monitor WHERE id = %(id)s", {"id": monitor["id"]})
        return self.database.run(read)[0]["code"]

    def run(self) -> int:
        """Do what a sweep does for monitors."""
        return MonitorRuns(IndexCheck(), SETTINGS).run(self.database)

    def make_due(self, monitor: Any, late: timedelta = timedelta(seconds=1)) -> None:
        query = "UPDATE index_monitor SET next_at = now() - %(late)s WHERE id = %(id)s RETURNING id"
        self.database.run(Statement(query, {"late": late, "id": monitor["id"]}))

    def run_when_due(self, monitor: Any) -> None:
        self.make_due(monitor)
        self.run()

    def answer(self, says: Says, *, index: str = "bing", lane: str = "index_check") -> None:
        """Have an engine answer all that is asked."""

        def answer(item: ClaimedItem) -> Outcome:
            found = says.get(item.input["url"], False)
            if found is None:
                error = {"status": 500, "message": "Blocked.", "code": "captcha", "reason": "rate_limited"}
                return Outcome(item.item_id, "failed", 0, error=error)
            output = {"reason": "indexed" if found else "not_indexed", "provider": f"{index}_api", "index": index}
            return Outcome(item.item_id, "done", 1, output | ({"proofUrl": "https://proof.example/"} if found else {}))

        while items := self.database.run(claim({lane: 1_000}, lease_for=timedelta(seconds=30))):
            self.database.run(report(items[0].lease_id, [answer(item) for item in items]))

    def check_again(self, monitor: Any, says: Says, **answering: Any) -> None:
        """Make a monitor due, have its URLs answered, and compare the answers."""
        self.run_when_due(monitor)
        self.answer(says, **answering)
        self.run()
