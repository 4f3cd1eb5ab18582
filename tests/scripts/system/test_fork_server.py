"""The fork server: what it imports, what its children are like, and how their ends are told."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from systems import clean_environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems start programs by exec")

#: Says what it is like, and ends as it is told.
PROGRAM = """
import json, os, pathlib, signal, sys
links = {one.name: os.readlink(one) for one in pathlib.Path("/proc/self/fd").iterdir() if one.is_symlink()}
print(json.dumps({
    "called": [__name__, *sys.argv[1:]], "mark": os.environ.get("MARK"), "folder": os.getcwd(), "files": links,
    "is_leader": os.getsid(0) == os.getpid(), "modules": sorted(sys.modules), "parent": os.getppid(),
    "threads": len([*pathlib.Path("/proc/self/task").iterdir()]), "title": open("/proc/self/comm").read().strip(),
}), flush=True)
match sys.argv[1]:
    case "wait": signal.pause()
    case status: sys.exit(int(status))
"""
#: Has a program started some times, each ended as said; prints what each has told, with its exit status.
SUPERVISOR = """
import asyncio, json, os, signal, sys
from pathlib import Path
from scripts.system.fork_server import forking
from scripts.system.programs import Program, environment, module

async def report(start, how, end):
    ours, theirs = os.pipe()
    files = {"descriptors": numbers, "folder": Path(sys.argv[1])}
    program = Program("pool", module("reporting", how), environment(extra={"MARK": how}), forked=True, **files)
    process = await start(program, "pool.1", theirs)
    os.close(theirs)
    with os.fdopen(ours) as output:
        told = json.loads(await asyncio.to_thread(output.readline))
    end(process, told)
    return told | {"status": await process.wait()}

async def main(start):
    return [await report(start, how, end) for how, end in SCENARIO]

lock = os.open("lock", os.O_RDWR | os.O_CREAT)
numbers = [os.open(name, os.O_RDWR | os.O_CREAT) for name in ("a", "b", "c", "d", "e")][::-1]  # the other way round
with forking() as start:
    print(json.dumps([{"pid": os.getpid(), "numbers": numbers}, *asyncio.run(main(start))]))
"""


def told(folder: Path, scenario: str) -> list[dict[str, Any]]:
    """Run a scenario, [(how the program ends, what is done to it), …]; return what the supervisor and each told."""
    (folder / "reporting.py").write_text(PROGRAM)
    extra = {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", SUPERVISOR.replace("SCENARIO", scenario), str(folder)]
    ran = subprocess.run(
        command, env=clean_environment(extra=extra), cwd=folder, capture_output=True, text=True, check=True
    )
    found: list[dict[str, Any]] = json.loads(ran.stdout.splitlines()[-1])
    return found


def test_a_forked_program_is_like_one_that_python_started(tmp_path: Path) -> None:
    kill = "lambda process, _: process.send_signal(signal.SIGKILL)"
    supervisor, forked = told(tmp_path, f'[("wait", {kill})]')

    assert (forked["called"], forked["mark"], forked["folder"]) == (["__main__", "wait"], "wait", str(tmp_path))
    assert (forked["is_leader"], forked["threads"], forked["title"], forked["status"]) == (True, 1, "pool.1", -9)
    files = forked["files"]
    assert [Path(files.pop(str(number))).name for number in supervisor["numbers"]] == ["e", "d", "c", "b", "a"]
    assert {number for number, target in files.items() if "/fd" not in target} == {"0", "1", "2"}  # and no lock
    assert {"workers.main", "scripts.commands.sweep", "api.app", "dramatiq"} <= {*forked["modules"]}
    assert {"numpy", "onnxruntime", "grpc", "ctranslate2", "torch", "PIL"} & {*forked["modules"]} == set()


def test_programs_start_by_exec_once_the_fork_server_has_died(tmp_path: Path) -> None:
    kill_server = 'lambda _, told: os.kill(told["parent"], signal.SIGKILL)'
    supervisor, forked, executed = told(tmp_path, f'[("wait", {kill_server}), ("3", lambda *_: None)]')

    assert (forked["parent"] != supervisor["pid"], forked["status"]) == (True, -15)
    assert (executed["parent"], executed["status"]) == (supervisor["pid"], 3)
