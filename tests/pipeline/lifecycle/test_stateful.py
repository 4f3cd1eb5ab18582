"""Any sequence of calls: the life cycle does what its model does, and the ledger agrees after each.

This asserts everything that one caller after another can see; the other files here have times, texts and races."""

from contextlib import closing

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from lifecycle_machine import LifecycleMachine, connect


@pytest.mark.timeout(900)  # many calls, which take a busy machine as long as it takes
def test_any_sequence_of_calls_does_what_the_model_does(make_database):
    with closing(connect(make_database())) as connection:
        run_state_machine_as_test(
            lambda: LifecycleMachine(connection),
            settings=settings(
                max_examples=60,
                stateful_step_count=50,
                derandomize=True,
                database=None,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
