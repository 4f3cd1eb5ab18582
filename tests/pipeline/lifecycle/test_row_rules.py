"""What no row of the busy tables may be, whatever a statement says: the last guard of the invariants."""

import psycopg
import pytest

BROKEN = [
    ("account", "available = -1"),
    ("account", "tier = 'gold'"),
    ("account", "email = 'Anna@example.org'"),
    ("item", "state = 'lost'"),
    ("item", "state = 'waiting', run_at = NULL"),
    ("item", "state = 'leased', lease_id = NULL, lease_until = now()"),
    ("item", "state = 'leased', lease_id = gen_random_uuid(), lease_until = NULL"),
    ("item", "captured = price + 1"),
    ("item", "captured = -1"),
    ("job", "state = 'lost'"),
    ("job", "state = 'succeeded', finished_at = NULL"),
    ("job", "state = 'running', finished_at = now()"),
    ("job", "items_ok = items_total, items_failed = 1"),
    ("job", "credits_captured = credits_held + 1"),
    ("job", "credits_captured = -1"),
]


@pytest.mark.parametrize(("table", "change"), BROKEN)
def test_a_row_that_breaks_a_rule_is_refused(bench, table, change):
    bench.job_of(5)

    with pytest.raises(psycopg.errors.CheckViolation, match=f'relation "{table}"'):
        bench.write(f"UPDATE {table} SET {change}")
