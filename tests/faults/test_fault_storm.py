"""Storms of faults over mixed load of real kinds: every request has one job, which ends, and every credit is counted.

`make faults KILLS=2000 MINUTES=30 SECONDS=60` writes docs/faults.md. test_one_fault.py has each promise by itself."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from storm_faults import SCENARIOS, Scenario, kill_many
from storm_report import AGAIN, GIVEN_UP, Outcome, Report, books, wait_for_ends
from storm_site import Site, storm_site

pytestmark = [pytest.mark.system, pytest.mark.storm, pytest.mark.timeout(7_200)]

#: How long each fault lasts.
SECONDS = float(os.environ.get("SECONDS", "60"))
#: Workers are killed at random so often, within so long at most.
MINUTES = float(os.environ.get("MINUTES", "30"))
KILLS = int(os.environ.get("KILLS", "2000"))
CLIENTS = 3
#: Only scenarios whose names have this in them.
ONLY = os.environ.get("ONLY", "")
#: No scenario begins after so many minutes; GO_ON=1 does those that are left.
SITTING = float(os.environ.get("SITTING", "inf"))
GO_ON = bool(os.environ.get("GO_ON"))


def strike(site: Site, scenario: Scenario, report: Report) -> None:
    """Let one fault strike, and once more if throughput was not back: what is no accident comes twice."""
    if lack := scenario.lacks(site):
        report.skip(scenario.name, lack)
    elif not strike_once(site, scenario, report):
        strike_once(site, replace(scenario, name=f"{scenario.name}{AGAIN}"), report)


def strike_once(site: Site, scenario: Scenario, report: Report) -> bool:
    """Let one fault strike, and wait until every client has had its answer; returns whether throughput came back."""
    before, machine = report.measure_before(site)
    jobs = len(site.load.jobs)
    with site.database() as database:
        earlier = database.run(GIVEN_UP)
    began = time.monotonic()
    done = scenario.strike(site, SECONDS)
    took = time.monotonic() - began
    back = report.measure_back(site, before)
    site.load.wait_for_turn()
    print(f"{scenario.name}: {done} faults in {took:.1f} s, all answered after {time.monotonic() - began - took:.1f} s")
    asked = list(site.load.jobs.values())[jobs:]
    wait_for_ends(site, asked)
    found = books(site)
    with site.database() as database:
        given_up = database.run(GIVEN_UP) - earlier
    ended = sum(job_id in found.ended for job_id in asked)
    report.add(Outcome(scenario.name, done, took, len(asked), ended, before, machine, back, found, given_up))
    return back.seconds is not None


def kill_enough(site: Site, _: float) -> int:
    """Kill as many workers as were asked for; a run that could not has shown less than its page says."""
    done = kill_many(site, MINUTES, KILLS)
    assert done >= KILLS, f"{done} of {KILLS} kills in {MINUTES:g} minutes; give it more by MINUTES, or ask for fewer"
    return done


def test_every_job_ends_and_every_credit_is_counted_whatever_fails(tmp_path: Path) -> None:
    report = Report(seconds=SECONDS)
    if GO_ON:
        report.go_on()
    asked = [one for one in (Scenario("workers killed at random", kill_enough), *SCENARIOS) if ONLY in one.name]
    left = [one for one in asked if not report.has(one.name)]
    with storm_site(tmp_path, clients=CLIENTS) as site:
        site.load.wait_for_turn()
        began = time.monotonic()
        while left and time.monotonic() - began < 60 * SITTING:
            strike(site, left.pop(0), report)
            if not ONLY:
                report.write()  # after each: a run that is cut short has shown something too
        site.load.stop()
        report.finish(site)
    report.keep()
    report.is_finished = not left
    print(f"left for GO_ON=1: {', '.join(one.name for one in left) or 'nothing'}")
    if not ONLY:
        report.write()
    report.check_rates()
