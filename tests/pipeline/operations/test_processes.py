"""Processes die with their parent, also one that died before they asked, also where the kernel sends no signal."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Mapping

import pytest
from servers import wait_for_end

from pipeline.operations.child_processes import shimmed
from scripts.system.programs import environment

linux = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")

IMPORTED = "from pipeline.operations import child_processes as processes; "
ASKS = IMPORTED + "processes.die_with_parent(); print('lives', flush=True); time.sleep(600)"
#: What a process does where there is no such signal (macOS).
WATCHES = (
    IMPORTED + "processes.sys.platform = 'darwin'; processes.die_with_parent();"
    "print('lives', flush=True); time.sleep(600)"
)


def output_of(code: str, extra: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment(extra=extra),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("child", [pytest.param(ASKS, marks=linux), WATCHES])
def test_a_process_dies_with_its_parent(child: str):
    """The parent prints its child's pid and kills itself."""
    run = output_of(f"""
        import os, signal, subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time;" + {child!r}], stdout=subprocess.PIPE)
        child.stdout.readline()
        print(child.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    assert run.returncode == -signal.SIGKILL
    wait_for_end(int(run.stdout))


def test_a_process_whose_parent_is_dead_already_stops_at_once():
    run = output_of(
        "from pipeline.operations.child_processes import die_with_parent; die_with_parent(1 << 22); print('lives')"
    )
    assert (run.returncode, run.stdout) == (-signal.SIGTERM, "")


def test_a_process_that_nobody_supervises_lives():
    run = output_of(
        "from pipeline.operations.child_processes import die_with_parent; die_with_parent(); print('lives')"
    )
    assert (run.returncode, run.stdout) == (0, "lives\n")


@linux
def test_the_shim_becomes_the_program_in_a_session_of_its_own():
    report = (
        "import os; print(os.getpid() == os.getsid(0), os.getppid() == int(os.environ['PRESSROOM_SUPERVISED_BY']),"
        "os.getpid() == int(os.environ['PRESSROOM_MASTER']))"
    )
    run = subprocess.run(shimmed([sys.executable, "-c", report]), capture_output=True, text=True, check=True)
    assert run.stdout == "True True True\n"


def test_a_program_that_can_not_be_run_is_reported_in_one_line():
    run = subprocess.run(shimmed(["/no/such/program"]), capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (1, "/no/such/program can't be run: No such file or directory\n")


@linux
def test_grandchildren_made_by_a_plain_fork_die_with_the_master():
    """As gunicorn's workers are made."""
    code = f"""
        import os, signal, sys, time
        if (child := os.fork()) == 0:
            {ASKS}
        print(child, flush=True)
        time.sleep(600)
    """
    argv = shimmed([sys.executable, "-c", textwrap.dedent(code)])
    with subprocess.Popen(argv, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        written = [process.stdout.readline().strip() for _ in range(2)]
        assert "lives" in written
        child = next(int(line) for line in written if line.isdigit())
        assert os.getpgid(child) == process.pid
        process.kill()
    wait_for_end(child)
