"""Whatever call the first start dies at, the next one has an account whose key and link are those that were kept.

`CRASH_POINTS=all` tries each call, those around the account's making otherwise.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from crash_points import AFTER, BEFORE, Plan, Told, is_long
from crash_runs import die_at_each, run_once
from crash_site import Copy, copy_of_database
from crash_worker import prepare_process

from pipeline.accounts.keys import find_caller, hash_key
from pipeline.accounts.sign_in import has_link
from pipeline.database import Database, Statement
from scripts.system.first_steps import read_first

pytestmark = [pytest.mark.system, pytest.mark.timeout(1_200)]
TABLE = Path("out", "faults-first-start-crash-points").with_suffix(".md")
#: The calls that make the account, and keep its key and its link.
MAKES, KEEPS = "postgres: end of pipeline", "file: os.rename"


def start(own: Copy, plan: Plan) -> Told:
    """Prepare the database in a process that may die."""
    return run_once(prepare_process, own, plan)


def check(own: Copy, told: Told) -> None:
    """Check that there is one account, and that its owner can get in."""
    first = read_first(own.folder / "data")
    assert first, told
    with Database(own.database_url) as database:
        (account,) = database.run(Statement("SELECT id, is_operator FROM account"))
        caller = database.run(find_caller(hash_key(first.api_key)))
        assert caller, told
        assert (caller.account_id, account["is_operator"]) == (account["id"], True)
        assert database.run(has_link(first.sign_in_token)), told


def test_a_first_start_that_dies_leaves_no_account_whose_key_nobody_has(
    make_database: Callable[[], str], redis_server: str, tmp_path: Path
) -> None:
    deaths: list[str] = []

    def die(plan: Plan) -> Told:
        own = copy_of_database(make_database(), redis_server, tmp_path / f"{plan.call}-{plan.number}-{plan.side}", {})
        told = start(own, plan)
        if told.died_at:
            deaths.append(told.died_at)
            start(own, Plan())
        check(own, told)
        return told

    calls = die(Plan()).calls
    assert calls.index(KEEPS) < calls.index(MAKES), calls
    if not is_long():
        for call, side in ((KEEPS, BEFORE), (MAKES, BEFORE), (MAKES, AFTER)):
            assert die(Plan(call=call, side=side)).died_at
        return
    for call in dict.fromkeys(calls):
        die_at_each(call, die)
    print(f"\nfirst start: {calls}, {len(deaths)} deaths")
    TABLE.parent.mkdir(exist_ok=True)
    where = "before each of them, and after those of the database"
    TABLE.write_text(f"{len(calls)} calls, {len(deaths)} deaths: {where}.\n")
    assert len(deaths) >= len(calls)
