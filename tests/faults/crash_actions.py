"""What clients ask of an API whose process dies meanwhile, each with what must be so once the request is repeated."""

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import urlencode
from uuid import UUID, uuid4

from crash_api import Answer, CrashingApi
from crash_site import FILES, Copy
from payers import Payer, open_account

from pipeline import lifecycle
from pipeline.artifacts import Artifacts, artifact_key, open_store
from pipeline.database import Database, Statement
from pipeline.jobs import find_open
from pipeline.ledger import discrepancies
from pipeline.lifecycle import Outcome
from pipeline.sessions import begin_session, csrf_token_of, make_token
from pipeline.sign_in import set_email, set_password

CREDITS = 1_000
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}
PASSWORD = "four words in a row"


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

    def keyed(self, **headers: str) -> dict[str, str]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return {"X-API-Key": self.payer.api_key, **JSON, **named}

    def submit(self, count: int) -> str:
        body = json.dumps({"count": count}).encode()
        answer = self.api.ask_until_answered("POST", "/made-up", body, self.keyed(Prefer="respond-async"))
        assert answer.status == 202, answer.body
        return answer.headers["x-job-id"]

    def end(self, *, failed: int) -> None:
        """Carry out what waits: `failed` items fail."""
        items = self.database.run(lifecycle.claim({"made_up": 100}, lease_for=timedelta(minutes=1)))
        error = {"status": 400, "error": "Invalid Request", "message": "No.", "code": "asked_to_fail"}
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
    #: Whether a client sends it again that got no answer.
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


class Submit(Action):
    """A submission that is sent again makes a job each time that it arrived."""

    decisive = "postgres: end of pipeline"

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return "POST", "/made-up", b'{"count": 3}', self.world.keyed(Prefer="respond-async")

    def check(self, first: Answer | None, again: Answer | None) -> None:
        jobs = self.world.jobs()
        assert len(jobs) in ((1, 2) if first is None else (2,))
        assert self.world.available() == CREDITS - 3 * len(jobs)


class SubmitWithKey(Action):
    """One with an Idempotency-Key makes one."""

    decisive = "postgres: end of pipeline"

    def prepare(self) -> None:
        self.key = uuid4().hex

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return "POST", "/made-up", b'{"count": 3}', self.world.keyed(Prefer="respond-async", Idempotency_Key=self.key)

    def check(self, first: Answer | None, again: Answer | None) -> None:
        (job,) = self.world.jobs()
        assert {answer.headers["x-job-id"] for answer in (first, again) if answer} == {str(job["id"])}
        assert self.world.available() == CREDITS - 3


class SubmitFile(SubmitWithKey):
    """One with a file has its file, and no other file is kept."""

    decisive = "postgres: submit"  # in a transaction of its own

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        body = b'--b0\r\nContent-Disposition: form-data; name="audio"; filename="a.ogg"\r\n\r\n'
        body += FILES["audio"].read_bytes() + b"\r\n--b0--\r\n"
        headers = self.world.keyed(Prefer="respond-async", Idempotency_Key=self.key)
        return "POST", "/tts/stt", body, {**headers, "Content-Type": "multipart/form-data; boundary=b0"}

    def check(self, first: Answer | None, again: Answer | None) -> None:
        (job,) = self.world.jobs()
        assert {answer.headers["x-job-id"] for answer in (first, again) if answer} == {str(job["id"])}
        store = self.world.store
        old = store.orphaned_uploads(timedelta())
        for orphan in {*old} - {*self.world.database.run(find_open(old))}:
            store.delete_upload(orphan)
        assert self.world.copy.files() == [f"uploads/{job['id']}/audio"]
        assert store.get(f"uploads/{job['id']}/audio") == FILES["audio"].read_bytes()
        self.world.database.run(lifecycle.cancel(job["id"], self.world.payer.account_id))
        store.delete_upload(job["id"])
        assert self.world.available() == CREDITS


class SubmitByAFreeAccount(SubmitWithKey):
    """One of an account that is near its rate limit is counted in Redis before it is taken."""

    decisive = "redis: EVALSHA"

    def prepare(self) -> None:
        super().prepare()
        self.world.payer = open_account(self.world.database, credits=CREDITS, tier="free")


class CheckUrls(SubmitWithKey):
    """One of index checks, whose items are many rows, has all of them."""

    decisive = "postgres: submit"

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        urls = [f"https://example.com/{number}" for number in range(100)]
        body = json.dumps({"type": "check", "urls": urls}).encode()
        return "POST", "/indexing/jobs", body, self.world.keyed(Idempotency_Key=self.key)

    def check(self, first: Answer | None, again: Answer | None) -> None:
        (job,) = self.world.jobs()
        assert {answer.headers["x-job-id"] for answer in (first, again) if answer} == {str(job["id"])}
        assert job["items_total"] == 100
        assert self.world.available() == CREDITS - job["credits_held"] < CREDITS


class SetLexicon(Action):
    """An account has the entries that were set, whole."""

    decisive = "postgres: INSERT INTO lexicon"

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        body = json.dumps(
            {"entries": [{"word": "Pressroom", "replacement": "press room"}, {"word": "SQL", "replacement": "sequel"}]}
        )
        return "PUT", "/tts/lexicon", body.encode(), self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        assert {answer.status for answer in (first, again) if answer} == {200}
        found = self.world.api.ask_until_answered("GET", "/tts/lexicon", None, self.world.keyed()).json
        assert [entry["word"] for entry in found["entries"]] == ["Pressroom", "SQL"]


class Cancel(Action):
    """A cancelled job is paid back once."""

    decisive = "postgres: cancel"

    def prepare(self) -> None:
        self.job_id = self.world.submit(3)

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return "POST", f"/jobs/{self.job_id}/cancel", None, self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        (job,) = self.world.jobs()
        assert job["state"] == "cancelled"
        assert self.world.available() == CREDITS
        assert [answer.json["state"] for answer in (first, again) if answer] == ["cancelled"] * (2 if first else 1)


class Retry(Action):
    """A retry that is sent again with its key is one job."""

    decisive = "postgres: submit"

    def prepare(self) -> None:
        self.job_id = self.world.submit(3)
        self.world.end(failed=2)
        self.key = uuid4().hex

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return "POST", f"/jobs/{self.job_id}/retry", None, self.world.keyed(Idempotency_Key=self.key)

    def check(self, first: Answer | None, again: Answer | None) -> None:
        old, new = self.world.jobs()
        assert (str(old["id"]), old["state"], new["items_total"]) == (self.job_id, "partial", 2)
        assert {answer.json["id"] for answer in (first, again) if answer} == {str(new["id"])}
        assert self.world.available() == CREDITS - 1 - 2


class Delete(Action):
    """A deleted job leaves no file, and its summary."""

    decisive = "postgres: erase"

    def prepare(self) -> None:
        self.job_id = self.world.submit(2)
        self.world.end(failed=0)
        day = (datetime.now(UTC) + timedelta(days=2)).date()
        for index in range(2):
            key = artifact_key(expires_on=day, job_id=UUID(self.job_id), index=index, lease_id=uuid4())
            self.world.store.put(key, b"x")

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return "DELETE", f"/jobs/{self.job_id}", None, self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        assert [answer.status for answer in (first, again) if answer] == [204] * (2 if first else 1)
        assert self.world.copy.files() == []
        (job,) = self.world.jobs()
        assert job["deleted_at"]
        assert self.world.available() == CREDITS - 2


class SetWebhook(Action):
    """An account has one webhook, at the address that was set."""

    decisive = "postgres: end of pipeline"

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        body = json.dumps({"webhook_url": "https://hooks.example.org/a"}).encode()
        return "PUT", "/webhooks", body, self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        assert {answer.status for answer in (first, again) if answer} == {200}
        (hook,) = self.world.rows("SELECT * FROM webhook WHERE account_id = %(account)s")
        assert hook["url"] == "https://hooks.example.org/a"
        shown = [
            answer.json["webhook_secret"] for answer in (first, again) if answer and "webhook_secret" in answer.json
        ]
        assert shown in ([], [hook["secret"]])


class TopUp(Action):
    """Credits are added once or not at all; a person who got no page looks at the balance first."""

    decisive = "postgres: grant_credits"
    is_repeated = False

    def prepare(self) -> None:
        operator = open_account(self.world.database)
        self.token = make_token()
        set_up = "UPDATE account SET is_operator = true WHERE id = %(operator)s RETURNING id"
        self.world.rows(set_up, operator=operator.account_id)
        self.world.database.run(begin_session(operator.account_id, self.token, lasts=timedelta(hours=1)))

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        form = {"csrf_token": csrf_token_of(self.token), "change": "top-up", "credits": "5"}
        path = f"/dashboard/operators/accounts/{self.world.payer.account_id}"
        return "POST", path, urlencode(form).encode(), {**FORM, "Cookie": f"pressroom_session={self.token}"}

    def check(self, first: Answer | None, again: Answer | None) -> None:
        if first is not None:
            assert first.status == 303
        assert self.world.available() in ((CREDITS, CREDITS + 5) if first is None else (CREDITS + 5,))


class SignIn(Action):
    """Who signs in again is signed in."""

    decisive = "postgres: WITH gone AS (DELETE FROM session"

    def prepare(self) -> None:
        self.email = f"{uuid4().hex}@example.com"
        self.world.database.run(set_email(self.world.payer.account_id, self.email))
        self.world.database.run(set_password(self.world.payer.account_id, PASSWORD))
        page = self.world.api.ask_until_answered("GET", "/dashboard/sign-in", None, {"Accept": "text/html"})
        found = re.search(r'name="csrf_token" value="([^"]*)"', page.body.decode())
        assert found
        self.token, self.cookie = found[1], page.headers["set-cookie"].split(";")[0]

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        form = {"csrf_token": self.token, "email": self.email, "password": PASSWORD, "next": ""}
        return "POST", "/dashboard/sign-in", urlencode(form).encode(), {**FORM, "Cookie": self.cookie}

    def check(self, first: Answer | None, again: Answer | None) -> None:
        answers = [answer for answer in (first, again) if answer]
        assert [answer.status for answer in answers] == [303] * len(answers)
        session = answers[-1].headers["set-cookie"].split(";")[0]
        assert session.startswith("pressroom_session=")
        page = self.world.api.ask_until_answered("GET", "/dashboard", None, {"Accept": "text/html", "Cookie": session})
        assert page.status == 200


ACTIONS: tuple[type[Action], ...] = (
    Submit, SubmitWithKey, SubmitByAFreeAccount, SubmitFile, CheckUrls, SetLexicon,
    Cancel, Retry, Delete, SetWebhook, TopUp, SignIn,
)  # fmt: skip


def check_books(world: World) -> None:
    """Check all accounts at once."""
    assert world.database.run(discrepancies()) == []
