"""Requests about an account, its lexicon, keys, webhooks and monitors, to an API whose process dies."""

import json
from uuid import uuid4

from crash_actions import Action
from http_service import Answer

from pipeline.accounts.keys import hash_key
from pipeline.webhooks.log import add_test

HOOK = "https://hooks.example.org/a"


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


class SetWebhook(Action):
    """An account has one webhook, at the address that was set."""

    decisive = "postgres: end of pipeline"

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        body = json.dumps({"webhook_url": HOOK}).encode()
        return "PUT", "/webhooks", body, self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        assert {answer.status for answer in (first, again) if answer} == {200}
        (hook,) = self.world.webhooks()
        assert hook["url"] == HOOK
        shown = [
            answer.json["webhook_secret"] for answer in (first, again) if answer and "webhook_secret" in answer.json
        ]
        # A client without an answer makes a new one if it wants the secret.
        assert shown == [hook["secret"]] if first else shown in ([], [hook["secret"]])


class AddWebhook(Action):
    """Each webhook whose request arrived is there, with the secret that was shown."""

    decisive = "postgres: end of pipeline"

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return "POST", "/webhooks", json.dumps({"webhook_url": HOOK}).encode(), self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        kept = {hook["secret"] for hook in self.world.webhooks()}
        assert {answer.json["webhook_secret"] for answer in (first, again) if answer} <= kept
        assert len(kept) in ((1, 2) if first is None else (2,))


class RemoveWebhook(Action):
    """An account whose webhook was taken off has none."""

    decisive = "postgres: WITH done AS (UPDATE webhook"

    def prepare(self) -> None:
        self.world.set_webhook(HOOK)

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return "DELETE", "/webhooks", None, self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        assert {answer.status for answer in (first, again) if answer} == {204}
        (hook,) = self.world.webhooks()
        assert hook["url"] is None


class NewSecret(Action):
    """The secret that was shown last signs, and the one before it for a while."""

    decisive = "postgres: end of pipeline"

    def prepare(self) -> None:
        self.world.set_webhook(HOOK)

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return "POST", "/webhooks/secret", None, self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        shown = [answer.json["webhook_secret"] for answer in (first, again) if answer]
        (hook,) = self.world.webhooks()
        assert hook["secret"] == shown[-1]
        assert first is None or hook["previous_secret"] == shown[0]


class TestWebhook(Action):
    """Each test that arrived is one delivery."""

    __test__ = False
    decisive = "postgres: end of pipeline"

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return "POST", "/webhooks/test", json.dumps({"webhook_url": HOOK}).encode(), self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        found = {str(row["id"]) for row in self.world.deliveries()}
        assert {answer.json["id"] for answer in (first, again) if answer} <= found
        assert len(found) in ((1, 2) if first is None else (2,))


class SendAgain(Action):
    """A delivery that is sent again is the same one."""

    decisive = "postgres: WITH found AS (SELECT id FROM webhook"

    def prepare(self) -> None:
        self.id = self.world.database.run(add_test(self.world.payer.account_id, "webhook.test", "{}", HOOK))
        self.world.rows(
            "UPDATE webhook_delivery SET state = 'failed', ended_at = now() WHERE id = %(id)s RETURNING id", id=self.id
        )

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return "POST", f"/webhooks/deliveries/{self.id}/send", None, self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        assert {answer.status for answer in (first, again) if answer} == {202}
        (delivery,) = self.world.deliveries()
        assert (delivery["id"], delivery["state"], delivery["ended_at"]) == (self.id, "pending", None)


class MakeKey(Action):
    """Each secret that was shown is a key's."""

    decisive = "postgres: end of pipeline"

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return "POST", "/keys", b'{"name": "of the shop", "routes": ["/tts"]}', self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        made = {bytes(row["hash"]): row for row in self.world.api_keys() if row["name"] == "of the shop"}
        assert {hash_key(answer.json["api_key"]) for answer in (first, again) if answer} <= made.keys()
        assert len(made) in ((1, 2) if first is None else (2,))
        assert all(row["routes"] == ["/tts"] for row in made.values())


class ChangeKey(Action):
    """A key has all that was changed."""

    decisive = 'postgres: WITH done AS (UPDATE api_key SET "name"'

    def prepare(self) -> None:
        asked = self.world.api.ask_until_answered("POST", "/keys", b'{"name": "old"}', self.world.keyed())
        self.id, self.key = asked.json["id"], asked.json["api_key"]

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        body = b'{"name": "new", "credits_per_month": 5, "requests_per_minute": 7}'
        return "PATCH", f"/keys/{self.id}", body, self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        (found,) = [row for row in self.world.api_keys() if str(row["id"]) == self.id]
        assert (found["name"], found["credits_per_month"], found["requests_per_minute"]) == ("new", 5, 7)
        assert {answer.status for answer in (first, again) if answer} == {200}


class DeleteKey(ChangeKey):
    """A key that was deleted is refused."""

    decisive = "postgres: WITH done AS (UPDATE api_key SET rev"

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return "DELETE", f"/keys/{self.id}", None, self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        assert again.status in ((204, 404) if first is None else (404,))
        headers = self.world.keyed(X_API_Key=self.key)
        assert self.world.api.ask_until_answered("POST", "/made-up", b'{"count": 1}', headers).status == 401


class MakeMonitor(Action):
    """A monitor is whole, with its webhook, as often as its request arrived."""

    decisive = "postgres: end of pipeline"

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        body = {"every": "week", "name": "shop", "urls": ["https://example.com/a"], "webhook_url": HOOK}
        return "POST", "/indexing/monitors", json.dumps(body).encode(), self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        found = {str(row["id"]): row for row in self.world.monitors()}
        assert {answer.json["id"] for answer in (first, again) if answer} <= found.keys()
        assert len(found) in ((1, 2) if first is None else (2,))
        assert {row["webhook_id"] for row in found.values()} == {hook["id"] for hook in self.world.webhooks()}


class ChangeMonitor(Action):
    """A monitor has all that was changed, and the one webhook that it names."""

    decisive = "postgres: end of pipeline"

    def prepare(self) -> None:
        body = {"every": "week", "name": uuid4().hex, "urls": ["https://example.com/a"]}
        asked = self.world.api.ask_until_answered(
            "POST", "/indexing/monitors", json.dumps(body).encode(), self.world.keyed()
        )
        self.id = asked.json["id"]

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        body = json.dumps({"state": "paused", "webhook_url": HOOK}).encode()
        return "PATCH", f"/indexing/monitors/{self.id}", body, self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        assert {answer.status for answer in (first, again) if answer} == {200}
        (monitor,) = self.world.monitors()
        (hook,) = self.world.webhooks()
        assert (monitor["state"], monitor["webhook_id"], hook["url"]) == ("paused", hook["id"], HOOK)


class DeleteMonitor(ChangeMonitor):
    """A monitor that was deleted is gone."""

    decisive = "postgres: WITH gone AS (DELETE FROM index_monitor"

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return "DELETE", f"/indexing/monitors/{self.id}", None, self.world.keyed()

    def check(self, first: Answer | None, again: Answer | None) -> None:
        assert again.status in ((204, 404) if first is None else (404,))
        assert self.world.monitors() == []


ACCOUNT_ACTIONS: tuple[type[Action], ...] = (
    SetLexicon, SetWebhook, AddWebhook, RemoveWebhook, NewSecret, TestWebhook, SendAgain,
    MakeKey, ChangeKey, DeleteKey, MakeMonitor, ChangeMonitor, DeleteMonitor,
)  # fmt: skip
