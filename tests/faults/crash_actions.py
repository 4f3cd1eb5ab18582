"""Actions: what clients ask of an API whose process dies meanwhile, and what must be so once they ask again."""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar
from uuid import UUID

from crash_api import CrashingApi
from crash_site import Copy
from http_service import Answer
from payers import Payer, open_account, owner_of

from pipeline import lifecycle
from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Statement
from pipeline.lifecycle import Outcome
from pipeline.storage.artifacts import Artifacts, open_store

CREDITS = 1_000
JSON = {"Content-Type": "application/json"}


@dataclass
class World:
    """An API, what it works on, and an account of this run's own."""

    api: CrashingApi
    copy: Copy
    database: Database
    payer: Payer = field(init=False)

    def __post_init__(self) -> None:
        self.payer = open_account(self.database, credits=CREDITS)

    @property
    def store(self) -> Artifacts:
        return Artifacts(open_store(self.copy.settings))

    def rows(self, query: str, **parameters: Any) -> list[dict[str, Any]]:
        return self.database.run(Statement(query, {"account": self.payer.account_id, **parameters}))

    def jobs(self) -> list[dict[str, Any]]:
        return self.rows("SELECT * FROM job WHERE account_id = %(account)s ORDER BY created_at")

    def available(self) -> int:
        return int(self.rows("SELECT available FROM account WHERE id = %(account)s")[0]["available"])

    def password_hash(self) -> str:
        return str(
            self.rows("SELECT password_hash FROM person WHERE id = %(person)s", person=self.owner)[0]["password_hash"]
        )

    @property
    def owner(self) -> UUID:
        return owner_of(self.database, self.payer)

    def sessions(self) -> list[dict[str, Any]]:
        return self.rows("SELECT * FROM session WHERE account_id = %(account)s")

    def api_keys(self) -> list[dict[str, Any]]:
        return self.rows("SELECT * FROM api_key WHERE account_id = %(account)s AND revoked_at IS NULL")

    def webhooks(self) -> list[dict[str, Any]]:
        return self.rows("SELECT * FROM webhook WHERE account_id = %(account)s")

    def deliveries(self) -> list[dict[str, Any]]:
        return self.rows("SELECT * FROM webhook_delivery WHERE account_id = %(account)s")

    def monitors(self) -> list[dict[str, Any]]:
        return self.rows("SELECT * FROM index_monitor WHERE account_id = %(account)s")

    def set_webhook(self, url: str) -> None:
        body = json.dumps({"webhook_url": url}).encode()
        assert self.api.ask_until_answered("PUT", "/webhooks", body, self.keyed()).status == 200

    def keyed(self, **headers: str) -> dict[str, str]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return {"X-API-Key": self.payer.api_key, **JSON, **named}

    def submit(self, count: int) -> str:
        body = json.dumps({"count": count}).encode()
        answer = self.api.ask_until_answered("POST", "/made-up", body, self.keyed(Prefer="respond-async"))
        assert answer.status == 202, answer.body
        return answer.headers["x-job-id"]

    def end(self, *, failed: int) -> None:
        """Carry out all that waits, what other requests have left as well: of each job `failed` items fail."""
        error = {"status": 400, "error": "Invalid Request", "message": "No.", "code": "asked_to_fail"}
        while items := self.database.run(lifecycle.claim({"made_up": 100}, lease_for=timedelta(minutes=1))):
            outcomes = [
                Outcome(item.item_id, "failed", 0, error=error)
                if item.index < failed
                else Outcome(item.item_id, "done", item.price, {"index": item.index})
                for item in items
            ]
            self.database.run(lifecycle.report(items[0].lease_id, outcomes))


class Action:
    """One request, and what must be so when it was sent again after its process died."""

    #: The call that does it.
    decisive: ClassVar[str]
    #: Whether a client without an answer repeats it.
    is_repeated: ClassVar[bool] = True

    def __init__(self, world: World) -> None:
        self.world = world

    def prepare(self) -> None:
        """Make what the request is about."""

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        """Return method, path, body and headers."""
        raise NotImplementedError

    def check(self, first: Answer | None, again: Answer | None) -> None:
        """Check what has become of it; `first` is None where the process died before it answered."""
        raise NotImplementedError


def check_books(world: World) -> None:
    """Check all accounts at once."""
    assert world.database.run(discrepancies()) == []
