"""Mutations of lifecycle.sql that only an interleaving, a lost connection or a late worker brings to light."""

from dataclasses import dataclass

from planting import Change


@dataclass(frozen=True)
class Mutation:
    """A mistake: in each named function, one text instead of another; and a seed that finds it."""

    name: str
    seed: int
    changes: tuple[Change, ...]


MUTATIONS = (
    Mutation("a submission does not lock its account", 2, (
        ("submit", "WHERE a.id = p_account FOR NO KEY UPDATE;", "WHERE a.id = p_account;"),
    )),
    Mutation("a job sent again after a lost answer is made again", 2, (
        ("submit", "IF EXISTS (SELECT FROM job j WHERE j.id = p_job", "IF EXISTS (SELECT FROM job j WHERE false"),
    )),
    Mutation("an Idempotency-Key is not looked up", 1, (
        ("submit", "IF p_idempotency_key IS NOT NULL THEN", "IF false THEN"),
    )),
    Mutation("a claim does not lock what it found", 6, (("lock_ready", " FOR NO KEY UPDATE SKIP LOCKED", ""),)),
    Mutation("a claim repeated by its lease takes other items", 3, (
        ("claim", "WHERE i.lease_id = p_lease AND i.state = 'leased'", "WHERE false"),
    )),
    Mutation("a claim repeated by its lease revives what was cancelled", 100_495, (
        ("claim", "i.lease_id = p_lease AND i.state = 'leased' FOR NO KEY UPDATE)",
         "i.lease_id = p_lease AND i.state = 'leased')"),
    )),
    Mutation("a heartbeat renews whatever lease there is", 324, (
        ("heartbeat", " AND i.lease_id = b.lease AND i.state = 'leased'", " AND i.state = 'leased'"),
    )),
    Mutation("a heartbeat revives an item that was taken back", 3, (
        ("heartbeat", "lease_until = now() + p_lease_for,", "lease_until = now() + p_lease_for, state = 'leased',"),
        ("heartbeat", " AND i.lease_id = b.lease AND i.state = 'leased'", " AND i.lease_id = b.lease"),
    )),
    Mutation("a report by a lost lease counts", 45, (
        ("report", "ON i.id = o.item AND i.lease_id = o.lease", "ON i.id = o.item"),
        ("report", " AND i.lease_id = v_outcome.lease AND", " AND"),
    )),
    Mutation("a report counts twice", 1, (
        ("report", " AND i.lease_id = v_outcome.lease AND i.state = 'leased'", " AND i.lease_id = v_outcome.lease"),
    )),
    Mutation("a report does not lock its job", 17, (
        ("report", "PERFORM FROM job j WHERE j.id = v_job FOR NO KEY UPDATE;", ""),
    )),
    Mutation("a raised hold does not lock its account", 22, (
        ("raise_hold", "WHERE a.id = v_job.account_id FOR NO KEY UPDATE;", "WHERE a.id = v_job.account_id;"),
    )),
    Mutation("a raised hold is added to each time", 0, (
        ("raise_hold", "SELECT p_credits - i.price INTO", "SELECT p_credits INTO"),
    )),
    Mutation("an ended job ends again", 0, (
        ("cancel", "IF v_state IN ('queued', 'running') THEN", "IF v_state IS NOT NULL THEN"),
        ("settle", " AND j.state IN ('queued', 'running')", ""),
    )),
    Mutation("a job is settled without what its items earned", 0, (
        ("settle", "SELECT coalesce(sum(i.captured), 0) INTO v_captured", "SELECT 0 INTO v_captured"),
    )),
    Mutation("a sweep takes back a lease that still runs", 1, (
        ("reap", "i.lease_until < now()", "i.lease_until < now() + interval '10 s'"),
    )),
    Mutation("a sweep takes back what was renewed while it waited", 13, (
        ("reap", "WHERE i.job_id = v_job AND i.state = 'leased' AND i.lease_until < now()\n            RETURNING",
         "WHERE i.job_id = v_job AND i.state = 'leased'\n            RETURNING"),
    )),
    Mutation("waiting items never wake", 10, (
        ("wake_waiting", "w.run_at <= now()", "w.run_at <= now() - interval '1 day'"),
    )),
    Mutation("ended jobs are counted without the account's lock", 3, (
        ("uncount", "FOR NO KEY UPDATE SKIP LOCKED;", ";"),
    )),
    Mutation("counting anew keeps the notes of ended jobs", 11, (
        ("count_open", "WITH gone AS (DELETE FROM ended_job e WHERE e.account_id = p_account)", ""),
    )),
    Mutation("a pause is not looked at by claims", 1, (("lock_ready", "i.job_id <> ALL (p_jobs)", "true"),)),
)  # fmt: skip
