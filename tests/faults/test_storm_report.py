"""A storm's report: when the rate of answers counts as sunk."""

import pytest
from storm_report import Back, Books, Outcome, Report

BACK = Back(5.0, 1.0)
BOOKS = Books(frozenset(), 0, 0, 0)


def report(*rows: tuple[float, float]) -> Report:
    """Return a report of faults with these rates before them, and speeds of the machine."""
    found = Report(is_long=True, seconds=60)
    found.outcomes += [
        Outcome(f"fault {number}", 1, 60, 100, 100, rate, machine, BACK, BOOKS)
        for number, (rate, machine) in enumerate(rows)
    ]
    return found


def test_rates_that_stay_are_steady_however_the_machine_is_measured() -> None:
    report(*[(60.0, 1.0)] * 5, *[(58.0, 1.7)] * 5).check_rates()


def test_rates_that_sink_with_the_machine_are_steady() -> None:
    report(*[(60.0, 1.0)] * 5, *[(40.0, 0.7)] * 5).check_rates()


def test_rates_that_sink_by_themselves_fail_the_run() -> None:
    with pytest.raises(AssertionError, match="83% of the first"):
        report(*[(60.0, 1.0)] * 5, *[(50.0, 1.1)] * 5).check_rates()
