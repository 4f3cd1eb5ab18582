"""A pool's process whose worker dies while it starts ends soon, so that its supervisor starts it again."""

import signal
import subprocess
import time

import pytest
from systems import children, kill

from pipeline.settings import Settings
from scripts.system.programs import environment, pool

#: Dramatiq alone waits for 30 s.
SOON_SECONDS = 15.0


@pytest.mark.parametrize("died_by", [signal.SIGKILL, signal.SIGSEGV], ids=lambda died_by: died_by.name)
def test_a_process_whose_worker_dies_while_it_starts_ends_soon(died_by: signal.Signals):
    master = subprocess.Popen(pool(Settings(), "vision"), env=environment())
    try:
        while not (found := children(master.pid)):
            assert master.poll() is None
            time.sleep(0.01)
        for child in found:
            kill(child, died_by)
        assert master.wait(SOON_SECONDS) != 0
    finally:
        master.kill()
        master.wait()
