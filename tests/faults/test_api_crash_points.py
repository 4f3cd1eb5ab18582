"""Whatever call an API's process dies at, its clients send their request again, and all is as if it had been one.

`CRASH_POINTS=all` tries each call of each request; otherwise a process dies after its statement, and once before one:
then nothing has been done, whatever was asked.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from crash_account_actions import ACCOUNT_ACTIONS
from crash_actions import Action, World, check_books
from crash_api import CrashingApi, crashing_api
from crash_dashboard_actions import DASHBOARD_ACTIONS
from crash_job_actions import JOB_ACTIONS
from crash_points import AFTER, BEFORE, Plan, Told, is_long
from crash_runs import die_at_each
from crash_site import Copy, copy_of_database

from pipeline.database import Database

pytestmark = [pytest.mark.system, pytest.mark.timeout(3_600)]
ACTIONS = (*JOB_ACTIONS, *ACCOUNT_ACTIONS, *DASHBOARD_ACTIONS)
TABLE = Path("out", "faults-api-crash-points").with_suffix(".md")
HEAD = "| request | calls | deaths | at calls of |\n|---|---:|---:|---|"


@pytest.fixture(scope="module")
def own(make_database: Callable[[], str], redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A system without workers."""
    return copy_of_database(
        make_database(),
        redis_server,
        tmp_path_factory.mktemp("api"),
        {
            "PRESSROOM_KINDS": "made_up:MadeUp",
            "PRESSROOM_LIMITS__ENTERPRISE__PER_MINUTE": "0",
            "PRESSROOM_DASHBOARD__SIGN_INS_PER_MINUTE": "1000",
        },
    )


@pytest.fixture(scope="module")
def api(own: Copy) -> Iterator[CrashingApi]:
    with crashing_api(own.folder, own.environment) as running:
        yield running


@pytest.fixture(scope="module")
def table() -> Iterator[list[str]]:
    rows: list[str] = []
    yield rows
    lines = "\n".join([HEAD, *rows])
    print(f"\n{lines}")
    if is_long():
        TABLE.parent.mkdir(exist_ok=True)
        TABLE.write_text(f"{lines}\n")


def perform(action_type: type[Action], api: CrashingApi, own: Copy, database: Database, plan: Plan) -> Told:
    """Send a request whose process dies as planned, and once more; check what came of it."""
    action = action_type(World(api, own, database))
    action.prepare()
    request = action.request()
    first = api.try_to_ask(*request, plan=plan)
    told = api.told()
    assert first is not None or told.died_at, told
    if first is not None and first.status == 503:  # nothing is done: on a busy machine, Redis is late for a sign-in
        return perform(action_type, api, own, database, plan)
    again = api.ask_until_answered(*request) if action.is_repeated else None
    action.check(first, again)
    check_books(action.world)
    return told


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.__name__)
def test_a_request_whose_process_dies_is_carried_out_once_when_it_is_sent_again(
    own: Copy, api: CrashingApi, table: list[str], action: type[Action]
) -> None:
    died: Counter[str] = Counter()
    with Database(own.database_url) as database:

        def die(plan: Plan) -> Told:
            told = perform(action, api, own, database, plan)
            if told.died_at:
                died[told.died_at.split()[1].rstrip(":")] += 1
            return told

        told, calls = perform(action, api, own, database, Plan()), 0
        if is_long():
            # By name: what a process does by itself comes between, so that the n-th of all is another one each time.
            calls = sum(die_at_each(name, die) for name in dict.fromkeys(told.calls))
        else:
            call = next((name for name in told.calls if name.startswith(action.decisive)), None)
            assert call, told.calls
            for side in (BEFORE, AFTER) if action is ACTIONS[0] else (AFTER,):
                assert die(Plan(call=call, side=side)).died_at
    by_kind = ", ".join(f"{name} {count}" for name, count in sorted(died.items()))
    table.append(f"| {action.__name__} | {calls or '-'} | {died.total()} | {by_kind} |")
    print(f"\n{action.__name__}: {told.calls}")
    assert died
