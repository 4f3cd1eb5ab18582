"""The tables, a class `…Row` each, as the migrations make them: what Alembic compares, and readers look up.

Programs read and write rows by SQL; those of jobs, items, accounts and the ledger are `pipeline.lifecycle`'s alone."""

from models import (
    accounts,
    factors,
    index_check,
    jobs,
    ledger,
    memories,
    notices,
    operations,
    people,
    sites,
    uploads,
    webhooks,
)

__all__ = [
    "accounts",
    "factors",
    "index_check",
    "jobs",
    "ledger",
    "memories",
    "notices",
    "operations",
    "people",
    "sites",
    "uploads",
    "webhooks",
]
