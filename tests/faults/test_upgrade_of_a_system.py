"""An upgrade of a whole system with jobs in flight: from the code of a release before to this one.

tests/pipeline/lifecycle/test_upgrade.py has the same promise without the processes."""

import signal
import subprocess
import time
from pathlib import Path
from uuid import uuid4

import pytest
import tools
from systems import Running, clean_environment, command, kill, only, system
from waiting import wait_for

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database

pytestmark = [pytest.mark.system, pytest.mark.storm]

ROOT = Path(__file__).parents[2]
#: The last commit before version 1.0.0 was prepared, and the packages that its wheel holds.
BEFORE = "3fe2437bd98a1461520959a6cc2bc2ffd82a8476"
PACKAGES = ("api", "capabilities", "models", "pipeline", "pressroom", "scripts", "workers")
JOBS = 12
TEXT = "The harbour was quiet when the last boat came in. " * 20
ESPEAK = {"PRESSROOM_SYNTHESIS__ENGINES": "espeak", "PRESSROOM_MODELS__DOWNLOAD": "never"}


@pytest.fixture
def old_code(tmp_path: Path) -> Path:
    """The packages of the wheel before."""
    archive = subprocess.run(["git", "archive", BEFORE, *PACKAGES], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        tools.skip("history", f"this clone has no commit {BEFORE[:8]}")
    folder = tmp_path / "before"
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


def signal_workers(running: Running, sent: signal.Signals) -> None:
    """Signal the processes of the pools, and no others."""
    for pid in running.processes():
        if b"workers.main" in Path(f"/proc/{pid}/cmdline").read_bytes():
            kill(pid, sent)


def test_jobs_in_flight_survive_an_upgrade(old_code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(old_code)  # the old API looks there for code first
    data, keys = tmp_path / "data", [uuid4().hex for _ in range(JOBS)]
    with system(
        data, *only("synthesis"), extra={**ESPEAK, "PYTHONPATH": str(old_code)}, answers="/healthz", as_shipped=True
    ) as before:
        wait_for((data / "first-key").exists)  # the old API answers before the first account is made
        key = (data / "first-key").read_text().strip()

        def submit(number: int) -> str:
            return before.submit({"text": f"{number}. {TEXT}"}, "/tts", X_API_Key=key, Idempotency_Key=keys[number])

        def state(job: str) -> str:
            return str(before.ask(f"/jobs/{job}", X_API_Key=key).json["state"])

        jobs = [submit(0)]
        wait_for(lambda: state(jobs[0]) != "queued", about=before.written)
        signal_workers(before, signal.SIGSTOP)  # or they might do the others before the migration
        jobs += [submit(number) for number in range(1, JOBS - 1)]
        began = time.monotonic()
        migrated = subprocess.run(
            command("migrate", "--data", str(data)), env=clean_environment(extra=ESPEAK), capture_output=True, text=True
        )
        assert migrated.returncode == 0, migrated.stderr
        print(f"migrated beside {JOBS - 2} open jobs in {time.monotonic() - began:.1f} s")
        signal_workers(before, signal.SIGCONT)
        wait_for(lambda: state(jobs[1]) == "succeeded", about=before.written)  # by an old worker on the new tables
        signal_workers(before, signal.SIGSTOP)
        jobs.append(submit(JOBS - 1))
        signal_workers(before, signal.SIGCONT)
        stopped = time.monotonic()

    with system(data, *only("synthesis"), extra=ESPEAK) as after:
        print(f"answered again {time.monotonic() - stopped:.1f} s after the stop")
        after.key = key
        assert {after.wait_for_state(job)["state"] for job in jobs} == {"succeeded"}
        first, last = (after.ask(f"/jobs/{job}/result").body for job in (jobs[0], jobs[-1]))
        assert (first[:4], last[:4]) == (b"RIFF", b"RIFF")
        again = after.ask("/tts", {"text": f"0. {TEXT}"}, Idempotency_Key=keys[0])
        assert (again.status, again.body) == (200, first)
        with Database(after.database_url) as database:
            assert database.run(discrepancies()) == []
