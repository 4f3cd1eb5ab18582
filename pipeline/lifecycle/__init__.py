"""The life cycle of jobs and items, and the ledger: the only writer of job, item, account and credit entry.

Each transition is one atomic SQL function in lifecycle.sql, written once and given here as a statement that the async
API and the sync workers run alike. docs/architecture.md draws the state machine."""

from pipeline.lifecycle.accounts import change_tier, grant_credits, open_account, suspend_account
from pipeline.lifecycle.leases import Beat, ClaimedItem, Raised, claim, has_crashed_ready, heartbeat, raise_hold
from pipeline.lifecycle.reports import (
    Outcome,
    ReportedAndClaimed,
    Taken,
    claim_alone,
    report,
    report_then_claim,
    report_together,
)
from pipeline.lifecycle.retention import (
    DELETED_MESSAGE,
    Erased,
    edit,
    erase,
    erased,
    find_being_deleted,
    find_kept,
    keep,
)
from pipeline.lifecycle.schema import SCHEMA, install_sql
from pipeline.lifecycle.submission import CANCELLED, PRIORITIES, Priority, Submission, Submitted, cancel, submit
from pipeline.lifecycle.sweep import (
    CRASHED,
    EXPIRED,
    MAX_CRASHES,
    SUSPENDED,
    SWEEP_ROWS,
    Reaped,
    end_suspended,
    expire,
    forget,
    overdue_machines,
    purge,
    reap,
    recover,
    retire,
    uncount,
    wake_waiting,
)
