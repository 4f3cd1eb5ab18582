"""A storm's report: when the rate of answers counts as sunk."""

from dataclasses import replace
from pathlib import Path

import pytest
from storm_report import AGAIN, Back, Books, Outcome, Report, crash_points

BACK = Back(5.0, 1.0)
BOOKS = Books(frozenset(), 0, 0, 0)


def report(*rows: tuple[float, float]) -> Report:
    """Return a report of faults with these rates before them, and speeds of the machine."""
    found = Report(seconds=60)
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


def test_a_rate_that_comes_back_after_neither_strike_fails_the_run() -> None:
    found = report((60.0, 1.0))
    missed = replace(found.outcomes[0], back=Back(share=0.9))
    found.outcomes[:] = [missed, replace(missed, name=missed.name + AGAIN)]
    with pytest.raises(AssertionError, match="not back"):
        found.check_rates()
    found.outcomes[1] = replace(found.outcomes[1], back=BACK)
    found.check_rates()


def test_crash_points_are_summed_from_their_table(tmp_path: Path) -> None:
    table = tmp_path / "table"
    assert crash_points(table) == "this run had none | |"
    table.write_text("| kind | calls | deaths |\n|---|---:|---:|\n| a | 21 | 26 | 1 |\n| b | - | 4 | 2 |\n")
    assert crash_points(table) == "2 | 21 | 30"
    table.write_text("41 calls, 77 deaths: before each of them.\n")
    assert crash_points(table) == "1 | 41 | 77"
