"""Requests about jobs to an API whose process dies."""

import json
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from crash_actions import CREDITS, Action
from crash_site import FILES
from http_service import Answer, form
from payers import open_account

from pipeline import lifecycle
from pipeline.lifecycle.jobs import find_open
from pipeline.storage.artifacts import artifact_key


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
        body, content_type = form(("audio", FILES["audio"].read_bytes(), "a.ogg"))
        headers = self.world.keyed(Prefer="respond-async", Idempotency_Key=self.key)
        return "POST", "/tts/stt", body, {**headers, "Content-Type": content_type}

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


JOB_ACTIONS: tuple[type[Action], ...] = (
    Submit, SubmitWithKey, SubmitByAFreeAccount, SubmitFile, CheckUrls, Cancel, Retry, Delete,
)  # fmt: skip
