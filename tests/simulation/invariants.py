"""The invariants that the simulation checks after each commit: rows against the ledger, each other and the past."""

from dataclasses import dataclass, field
from typing import Any

from actors import World

from pipeline.accounts.ledger import discrepancies

#: The states that a commit may leave an item in, by the state before it. An item that has ended stays as it is.
NEXT = {
    "ready": {"ready", "leased", "cancelled"},
    "waiting": {"waiting", "ready", "cancelled"},
    "leased": {"leased", "ready", "waiting", "done", "failed", "cancelled"},
}
FINAL = {"done", "failed", "cancelled"}

_JOBS = "SELECT id, state, items_ok, items_failed, credits_held, credits_captured, finished_at FROM job"
_ITEMS = "SELECT id, job_id, state, lease_id, lease_until, attempts, crashes, captured, price FROM item"
#: Numbers that must agree, and no rows if they do.
_CONTRADICTIONS = """
SELECT 'a request is carried out once for its Idempotency-Key' AS rule, count(*) AS found, 1 AS expected
FROM job j WHERE idempotency_key IS NOT NULL AND NOT {schema}.was_refused(j.state, j.error)
GROUP BY account_id, route, idempotency_key HAVING count(*) > 1
UNION ALL
SELECT 'an account counts its open items', a.open_items, o.items
FROM account a CROSS JOIN LATERAL (
    SELECT coalesce(sum(c.items), 0) AS items FROM (
        SELECT items_total AS items FROM job j WHERE j.account_id = a.id AND j.finished_at IS NULL
        UNION ALL SELECT items FROM ended_job e WHERE e.account_id = a.id) c) o
WHERE a.open_items <> o.items
UNION ALL
SELECT 'a key uses at most its credits of the month', u.credits, k.credits_per_month
FROM api_key k CROSS JOIN LATERAL (
    SELECT sum(CASE WHEN j.finished_at IS NULL THEN j.credits_held ELSE j.credits_captured END) AS credits
    FROM job j WHERE j.api_key_id = k.id) u
WHERE u.credits > k.credits_per_month
UNION ALL
SELECT 'a waiting item wakes in time', count(*), 0 FROM item
WHERE state = 'waiting' AND run_at < now() - interval '5 min' HAVING count(*) > 0
UNION ALL
SELECT 'a job ends at its deadline', count(*), 0 FROM job
WHERE finished_at IS NULL AND deadline < now() - interval '5 min' HAVING count(*) > 0
"""


@dataclass
class Invariants:
    """Compares the database with what the world knows, and with what it was at the commit before."""

    world: World
    jobs: dict[Any, Any] = field(default_factory=dict)
    items: dict[Any, Any] = field(default_factory=dict)

    async def check(self) -> None:
        """Raise AssertionError for whatever must never be."""
        jobs = {row["id"]: row for row in await self._read(_JOBS)}
        items = {row["id"]: row for row in await self._read(_ITEMS)}
        schema = self.world.simulation.schema
        assert not await self._read(discrepancies().sql)
        assert not (found := await self._read(_CONTRADICTIONS.format(schema=schema))), found
        assert jobs.keys() == self.world.jobs.keys(), "There are other jobs than those that were accepted."
        for job_id, job in jobs.items():
            before = self.jobs.get(job_id, job)
            assert before["finished_at"] is None or before == job, "A job that had ended has changed."
        for item in items.values():
            self._check_item(self.items.get(item["id"], item), item)
            claimed = self.world.claims.get(item["lease_id"], {item["id"]})
            assert item["state"] != "leased" or item["id"] in claimed, "A lease has items of two claims."
        for item_id, lease in self.world.released:
            found = items.get(item_id, {})
            assert found.get("lease_id") != lease or found["state"] != "leased", "A lost item is on its lease."
        self.world.released.clear()
        self.jobs, self.items = jobs, items

    def _check_item(self, before: dict[str, Any], item: dict[str, Any]) -> None:
        number = item["id"]
        if before["state"] in FINAL:
            assert before == item, f"Item {number} had ended and has changed."
            return
        assert item["state"] in NEXT[before["state"]], f"Item {number} went from {before['state']} to {item['state']}."
        assert item["attempts"] >= before["attempts"]
        assert item["captured"] >= before["captured"] or item["state"] in FINAL, f"Item {number} earned less."
        if item["crashes"] > before["crashes"]:
            assert item["crashes"] == before["crashes"] + 1
            assert before["lease_until"] < self.world.simulation.now, f"Item {number} crashed on a lease that holds."
            self.world.leases.pop(number, None)
        if item["state"] in ("done", "failed") and number in self.world.earned:
            assert item["captured"] == min(self.world.earned[number], item["price"])
        if item["state"] == "done":
            assert number in self.world.earned, f"Nobody reported item {number}."
        if item["state"] == "leased":
            assert number in self.world.leases, f"Nobody was told that item {number} is leased."
            assert self.world.leases[number][0] == item["lease_id"]

    async def is_over(self) -> bool:
        """Tell whether all work is done and counted."""
        (row,) = await self._read(
            "SELECT NOT EXISTS (SELECT FROM job WHERE finished_at IS NULL)"
            " AND NOT EXISTS (SELECT FROM ended_job) AS over"
        )
        return bool(row["over"])

    async def _read(self, sql: str) -> list[dict[str, Any]]:
        return await (await self.world.simulation.monitor.execute(sql, prepare=True)).fetchall()
