"""Index checks, as their users have them: a whole system, real HTTP, and a search engine on loopback."""

import csv
import io
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from ran import Ran
from search_engine import SearchEngine
from systems import Running, clean_environment, command
from waiting import wait_for

pytestmark = pytest.mark.system

#: No other file asks the shared system for them: what it knows is told again, free of charge.
HERE, GONE = "https://e.example/checked", "https://e.example/unchecked"
#: Nothing here takes a tenth of it, unless it hangs.
PATIENCE_SECONDS = 240


@pytest.fixture(scope="module")
def engine(shared_engine: SearchEngine) -> SearchEngine:
    shared_engine.forget()
    shared_engine.pages.add(HERE)
    return shared_engine


@pytest.fixture(scope="module")
def service(shared_system: Running, engine: SearchEngine) -> Running:
    return replace(shared_system)


@pytest.fixture
def import_csv(service: Running, command_here: Callable[..., Ran]) -> Callable[..., Ran]:
    """A function that imports a file."""

    def run(*arguments: str) -> Ran:
        return command_here("import-csv", *arguments, "--url", service.address, PRESSROOM_API_KEY=service.key)

    return run


def create(service: Running, *urls: str, **more: object) -> str:
    answer = service.ask("/indexing/jobs", {"type": "check", "urls": urls, **more})
    assert answer.status == 201, answer.body
    return str(answer.json["job_id"])


def wait(service: Running, job_id: str) -> dict:
    wait_for(lambda: service.ask(f"/indexing/jobs/{job_id}").json["status"] != "running")
    return dict(service.ask(f"/indexing/jobs/{job_id}").json)


def wait_for_queries(engine: SearchEngine, count: int) -> None:
    wait_for(lambda: len(engine.asked) >= count)


def exported(service: Running, job_id: str) -> list[dict[str, str]]:
    answer = service.ask(f"/indexing/jobs/{job_id}/export")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.body.decode(), newline="")))


def test_urls_are_checked_listed_and_exported(service: Running) -> None:
    job_id = create(service, HERE, GONE)
    job = wait(service, job_id)

    assert (job["status"], job["processed_urls"], job["indexed_count"], job["eta"]) == ("complete", 2, 1, None)
    found, missed = service.ask(f"/indexing/jobs/{job_id}/urls").json
    assert (found["status"], found["is_indexed"], found["raw_result"]["reason"]) == ("done", True, "indexed")
    assert found["raw_result"]["proofUrl"].startswith("https://duckduckgo.com/?q=")
    assert (missed["is_indexed"], missed["raw_result"]["reason"]) == (False, "not_indexed")
    assert [row["reason"] for row in exported(service, job_id)] == ["indexed", "not_indexed"]
    assert service.ask(f"/jobs/{job_id}/result").json == job
    assert service.ask(f"/jobs/{job_id}").json["credits"] == {"held": 2, "captured": 2, "released": 0}


def test_a_cancelled_job_keeps_what_it_has(service: Running, engine: SearchEngine) -> None:
    engine.asked.clear()
    engine.delay = 0.2
    urls = [f"https://e.example/c{number}" for number in range(200)]
    engine.pages |= set(urls)  # one that is not listed would wait for its proof
    job_id = create(service, *urls)
    wait_for_queries(engine, 20)  # of eight at once, so the first ones have been answered and reported
    engine.is_held = True

    service.ask(f"/jobs/{job_id}/cancel", {}, method="POST")

    engine.delay, engine.is_held = 0.0, False
    job = service.ask(f"/indexing/jobs/{job_id}").json
    assert job["status"] == "cancelled"
    assert 0 < job["processed_urls"] < 200
    rows = exported(service, job_id)
    assert sum(row["status"] == "done" for row in rows) == job["processed_urls"]
    assert sum(row["status"] == "failed" for row in rows) == job["failed_count"]
    assert {row["reason"] for row in rows if row["status"] == "failed"} == {"error"}
    paid = service.ask(f"/jobs/{job_id}").json["credits"]
    assert (paid["captured"], paid["released"]) == (job["processed_urls"], 200 - job["processed_urls"])


def test_a_csv_file_is_imported_and_its_results_come_back(import_csv: Callable[..., Ran], tmp_path: Path) -> None:
    file = tmp_path / "urls.csv"
    file.write_bytes(f"name;url\r\none;{HERE}\r\ntwo;nonsense\r\nthree;{GONE}\r\n".encode("utf-16"))

    dry = import_csv("check", str(file), "--dry-run")
    assert "rows: 2, 1 faulty" in dry.err
    assert "credits: 2" in dry.err
    assert (tmp_path / "urls.errors.csv").read_text().splitlines()[1].startswith("two,nonsense,3,it does not")
    done = import_csv("check", str(file), "--batch", "1")

    assert done.code == 0, done.err
    results = list(csv.DictReader((tmp_path / "urls.results.csv").read_text().splitlines()))
    assert [(row["line"], row["is_indexed"]) for row in results] == [("2", "true"), ("4", "false")]
    assert not (tmp_path / "urls.results.csv.journal").exists()


def test_a_stopped_import_goes_on(
    service: Running, engine: SearchEngine, import_csv: Callable[..., Ran], tmp_path: Path
) -> None:
    file = tmp_path / "many.csv"
    file.write_text("".join(f"https://e.example/i{number}\n" for number in range(30)))
    jobs_before = int(service.ask("/indexing/jobs").headers["X-Total-Count"])
    engine.delay = 1.0  # long enough to be stopped in the middle, however busy the machine is
    process = subprocess.Popen(
        command("import-csv", "check", str(file), "--batch", "10", "--url", service.address),
        env=clean_environment(extra={"PRESSROOM_API_KEY": service.key}),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A shell that runs the tests in the background has it ignored, and whoever it starts as well.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    journal = tmp_path / "many.results.csv.journal"
    while not (journal.exists() and '"size"' in journal.read_text()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE_SECONDS) == 130
    process.communicate()
    engine.delay = 0.0

    done = import_csv("check", str(file), "--batch", "10")

    assert done.code == 0, done.err
    results = list(csv.DictReader((tmp_path / "many.results.csv").read_text().splitlines()))
    assert [int(row["line"]) for row in results] == list(range(1, 31))
    assert int(service.ask("/indexing/jobs").headers["X-Total-Count"]) == jobs_before + 3
