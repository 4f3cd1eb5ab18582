"""Imports of URLs from a CSV file: continued after a stop, within bounded memory, and clear about what fails."""

import asyncio
import csv
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from capabilities.index_check.commands.sheet import LOOKS_APART, IndexCheckImport
from pipeline.errors import Conflict, Gone, InvalidRequest
from pressroom import ConnectionLost
from pressroom.documents.index import IndexJob, UrlRecord
from scripts.commands import import_csv
from scripts.main import create_app
from scripts.system.programs import environment


def test_the_file_that_is_read_is_never_written_over(tmp_path: Path) -> None:
    file = tmp_path / "urls.csv"
    file.write_text("url\nhttps://e.example/\n")

    for out, errors in ((file, tmp_path / "e"), (tmp_path / "o", tmp_path / "x" / ".." / "urls.csv")):
        (tmp_path / "x").mkdir(exist_ok=True)
        with pytest.raises(InvalidRequest, match="is the input file"):
            IndexCheckImport(file, column=None, out=out, errors=errors, batch=10, fields={})
    assert file.read_text() == "url\nhttps://e.example/\n"


def test_faulty_rows_are_written_down_with_their_line_and_cost_nothing(tmp_path: Path) -> None:
    file, errors = tmp_path / "urls.csv", tmp_path / "errors.csv"
    file.write_text("Address\nhttps://e.example/\n=cmd|x\nhttps://e.example/\nhttps://user:x@e.example/\n")

    found = IndexCheckImport(file, column=None, out=tmp_path / "out.csv", errors=errors, batch=10, fields={}).estimate()

    assert (found.rows, found.faulty, found.credits) == (2, 2, 1)
    head, first, second = errors.read_text().splitlines()
    assert head == "Address,line,reason"
    assert first == "'=cmd|x,3,it does not begin with http:// or https://"
    assert second.startswith("https://user:x@e.example/,5,it has a user name")


def test_bare_domains_are_sent_and_have_the_answer_of_the_url_that_is_made_of_them(tmp_path: Path) -> None:
    file = tmp_path / "urls.csv"
    file.write_text("url\nexample.org/a\nhttps://example.org/a\nexample.org\nindex.html\n")
    wanted = IndexCheckImport(file, column=None, out=tmp_path / "o.csv", errors=tmp_path / "e.csv", batch=9, fields={})

    class Told:
        async def index_urls(self, _: str) -> AsyncIterator[UrlRecord]:
            for path in ("/a", ""):
                yield UrlRecord.read(record(f"https://example.org{path}") | {"raw_result": {"reason": "indexed"}})

    found = wanted.estimate()
    urls = ["example.org/a", "https://example.org/a", "example.org"]
    told = asyncio.run(wanted.answers(Told(), urls, "job"))  # type: ignore[arg-type]

    assert (found.rows, found.faulty) == (3, 1)
    assert [told[url][:3] for url in urls] == [("done", "true", "indexed")] * 3


def test_a_file_whose_first_column_has_no_urls_is_told_how_to_name_another(tmp_path: Path) -> None:
    file = tmp_path / "urls.csv"
    file.write_text("id,Where\n1,e.example/no url\n2,elsewhere\n")

    ran = CliRunner().invoke(create_app(), ["import-csv", "check", str(file), "--dry-run"])

    assert "rows: 0, 2 faulty" in ran.output
    assert "column: id; --column NAME reads another" in ran.output


IMPORT = """
import asyncio, sys
from pathlib import Path
from capabilities.index_check.commands.sheet import IndexCheckImport
file, out = Path(sys.argv[1]), Path(sys.argv[1]).with_suffix(".out")
wanted = IndexCheckImport(file, column=None, out=out, errors=file.with_suffix(".e"), batch=1_000, fields={})
rows = wanted.estimate().rows
asyncio.run(wanted.run(sys.argv[2], "key"))
status = Path("/proc/self/status").read_text()  # its ru_maxrss begins with that of the process that started it
print(rows, status.partition("VmHWM:")[2].split()[0])
"""


NOW = "2026-11-20T12:00:00.000Z"


def record(url: str) -> dict[str, Any]:
    found = {"id": "u", "url": url, "created_at": NOW, "updated_at": NOW}
    if "blocked" in url:
        return found | {"status": "failed", "is_indexed": None, "raw_result": {"reason": "rate_limited"}}
    return found | {"status": "done", "is_indexed": True, "raw_result": None}


def job(job_id: str, total: int, *, done: int, **more: Any) -> dict[str, Any]:
    return {
        "id": job_id,
        "kind": "index_check",
        "state": "succeeded" if done == total else "running",
        "progress": {"done": done, "failed": 0, "total": total, "unit": "urls"},
        "credits": {"held": total, "captured": done, "released": 0},
        "created_at": NOW,
        "finished_at": NOW if done == total else None,
        "route": "/indexing/jobs",
        "request_id": "r",
        **more,
    }


def index_job(job_id: str, total: int, rests: Sequence[dict[str, str]]) -> dict[str, Any]:
    counts = ("processed_urls", "indexed_count", "pending_count", "failed_count", "rate_limited_count")
    waiting = {"until": NOW, "providers": list(rests)}
    named = {"id": job_id, "type": "check", "status": "running", "created_at": NOW, "total_urls": total}
    return {**named, **dict.fromkeys(counts, 0), "waiting_for": waiting}


USAGE = {
    **dict.fromkeys(("total_requests", "total_credits_used", "requests_this_month", "credits_used_this_month"), 0),
    "subscription_tier": "free",
    "credits_remaining": 1,
    "credits_held": 0,
    "usage_by_endpoint": {},
    "credits_by_endpoint": {},
    "by_key": [],
    "by_day": [],
}


class IndexingService(BaseHTTPRequestHandler):
    """Takes index jobs whose URLs are all indexed at once."""

    protocol_version = "HTTP/1.1"
    jobs: ClassVar[list[list[str]]] = []
    #: The providers that rest until somebody asks who rests.
    rests: ClassVar[list[dict[str, str]]] = []

    def do_POST(self) -> None:
        self.jobs.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["urls"])
        self._answer({}, 201, **{"X-Job-Id": str(len(self.jobs) - 1)})

    def do_GET(self) -> None:
        if self.path == "/usage":
            self._answer(USAGE)
            return
        *_, job_id = (path := urlsplit(self.path).path).removesuffix("/urls").split("/")
        urls = self.jobs[int(job_id)]
        if not urls:
            self._answer({"message": "The job's URLs have been deleted."}, 410)
        elif path.endswith("/urls"):
            self._answer([record(url) for url in urls])
        elif path.startswith("/indexing/jobs/"):
            self._answer(index_job(job_id, len(urls), self.rests))
            self.rests.clear()
        else:
            self._answer(job(job_id, len(urls), done=0 if self.rests else len(urls)))

    def _answer(self, document: object, status: int = 200, **headers: str) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body)), "Content-Type": "application/json"}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """One whose clients may hang up when they have what they want: an import that is done resets its connections."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def indexing_service(*jobs: list[str]) -> Iterator[str]:
    """Run one that knows these jobs; its address."""
    IndexingService.jobs[:] = jobs
    with Server(("127.0.0.1", 0), IndexingService) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            serving.join()


def test_an_import_of_many_rows_needs_no_more_memory_than_one_of_a_few(tmp_path: Path) -> None:
    def peak(rows: int) -> int:
        file = tmp_path / f"{rows}.csv"
        file.write_text("url\n" + "".join(f"https://shop.example/products/{n}?ref=list\n" for n in range(rows)))
        said = subprocess.run(
            [sys.executable, "-c", IMPORT, str(file), address],
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        assert int(said[-2]) == rows
        with file.with_suffix(".out").open() as results:
            assert sum(1 for line in results if '"true"' in line) == rows
        return int(said[-1])

    with indexing_service() as address:
        few, many = peak(3_000), peak(50_000)
    assert many < few + 8_000  # KiB; the rows alone would be 15,000


def test_results_that_are_lost_in_the_middle_are_read_again_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    file, out = tmp_path / "urls.csv", tmp_path / "out.csv"
    file.write_text("url\n" + "".join(f"https://shop.example/{n}\n" for n in range(4)))
    with indexing_service(["https://shop.example/0", "https://shop.example/1"]) as address:
        wanted = IndexCheckImport(file, column=None, out=out, errors=tmp_path / "e", batch=2, fields={})
        journal = wanted._journal()
        journal.note(batch=0, job_id="0")
        journal.note(batch=0, size=500)

        asyncio.run(wanted.run(address, "key"))

    assert len(IndexingService.jobs) == 2
    assert len(out.read_text().splitlines()) == 5


def test_results_that_were_lost_are_whole_after_another_stop(tmp_path: Path) -> None:
    file, out = tmp_path / "urls.csv", tmp_path / "out.csv"
    urls = [f"https://shop.example/{n}" for n in range(4)]

    def importing(rows: int) -> IndexCheckImport:
        file.write_text("\n".join(["url", *urls[:rows]]))
        return IndexCheckImport(file, column=None, out=out, errors=tmp_path / "e", batch=2, fields={})

    with indexing_service(urls[:2], urls[2:]) as address:
        asyncio.run(importing(2).run(address, "key"))
        wanted = importing(4)
        journal = wanted._journal()
        for batch, size in ((0, 5_000), (1, 9_000), (0, out.stat().st_size)):
            journal.note(batch=batch, job_id=str(batch))
            journal.note(batch=batch, size=size)

        asyncio.run(wanted.run(address, "key"))

    assert [row[0] for row in rows_of(out)] == ["url", *urls]


def test_again_keeps_answers_and_asks_anew_for_the_rows_without_one(tmp_path: Path) -> None:
    file, out = tmp_path / "urls.csv", tmp_path / "urls.results.csv"
    file.write_text("url\nhttps://e.example/a\nhttps://e.example/blocked\nhttps://e.example/b\n")

    def run(address: str, **options: Any) -> list[list[str]]:
        wanted = IndexCheckImport(file, column=None, out=out, errors=tmp_path / "e", batch=10, fields={}, **options)
        wanted.estimate()
        asyncio.run(wanted.run(address, "key"))
        return rows_of(out)

    with pytest.raises(InvalidRequest, match="no results"):
        run("http://127.0.0.1:9", again=True)
    with indexing_service() as address:
        first = run(address)
        asked = len(IndexingService.jobs)
        second = run(address, again=True)
        (job,) = IndexingService.jobs[asked:]
        file.write_text(file.read_text().replace("url\n", "url\nhttps://e.example/blocked/new\n"))
        third = run(address, again=True)

    assert job == ["https://e.example/blocked"]
    assert [row[2] for row in first] == [row[2] for row in second] == ["status", "done", "failed", "done"]
    assert IndexingService.jobs[-1] == ["https://e.example/blocked/new", "https://e.example/blocked"]
    assert [row[2] for row in third] == ["status", "failed", "done", "failed", "done"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["urls.csv", "urls.results.csv"]


SHOP = """\
sku;URL;status;price;phone;note
7;https://shop.example/a;sold out;-5;+49 151 23;=1+1
8;https://shop.example/blocked;on sale;1,50
9;https://shop.example/a;new;2;;three;and more
"""
HEAD = [
    *("sku", "URL", "status", "price", "phone", "note", "column_7"),
    *("line", "pressroom_status", "is_indexed", "reason", "code", "provider", "index"),
    *("matched_url", "proof_url", "checked_at", "message"),
]


def rows_of(file: Path) -> list[list[str]]:
    with file.open(newline="") as opened:
        return list(csv.reader(opened))


def check_shop(file: Path, address: str) -> Path:
    """Check the shop's URLs, each row in a job of its own; returns the results."""
    out = file.with_suffix(".out")
    wanted = IndexCheckImport(file, column=None, out=out, errors=file.with_suffix(".errors"), batch=1, fields={})
    wanted.estimate()
    asyncio.run(wanted.run(address, "key"))
    return out


def test_columns_of_the_file_stay_as_they_are_and_ours_follow_under_names_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "shop.csv"
    file.write_text(SHOP)
    with indexing_service() as address:
        results = rows_of(check_shop(file, address))

    assert results[0] == HEAD
    assert [row[:10] for row in results[1:]] == [
        ["7", "https://shop.example/a", "sold out", "-5", "+49 151 23", "'=1+1", "", "2", "done", "true"],
        ["8", "https://shop.example/blocked", "on sale", "1,50", "", "", "", "3", "failed", ""],
        ["9", "https://shop.example/a", "new", "2", "", "three", "and more", "4", "done", "true"],
    ]


def test_results_may_be_sent_in_again_and_again(tmp_path: Path) -> None:
    file = tmp_path / "shop.csv"
    file.write_text(SHOP)
    with indexing_service() as address:
        second = check_shop(check_shop(file, address).rename(tmp_path / "again.csv"), address)
        third = rows_of(check_shop(second.rename(tmp_path / "third.csv"), address))

    assert third[0][: len(HEAD)] == HEAD
    assert third[0][len(HEAD) :][:3] == ["pressroom_line", "pressroom_status_2", "pressroom_is_indexed"]
    assert len(third[0]) == len(set(third[0])) == 7 + 3 * 11
    assert third[1][-10:-8] == ["done", "true"]


def test_results_of_another_file_are_not_written_over(tmp_path: Path) -> None:
    first, second = tmp_path / "products.csv", tmp_path / "products.xlsx"
    first.write_text("url\nhttps://shop.example/a\n")
    second.write_text("url\nhttps://shop.example/b\n")
    with indexing_service() as address:
        out = check_shop(first, address)
        paid = out.read_bytes()
        jobs = len(IndexingService.jobs)
        with pytest.raises(Conflict, match=r"another import\. Name another file with --out"):
            check_shop(second, address)
        assert (out.read_bytes(), len(IndexingService.jobs)) == (paid, jobs)

        assert check_shop(first, address).read_bytes() == paid


def test_an_import_that_goes_on_writes_the_same_columns(tmp_path: Path) -> None:
    file = tmp_path / "shop.csv"
    file.write_text(SHOP)
    with indexing_service() as address:
        out = check_shop(file, address)
        whole = out.read_bytes()
        wanted = IndexCheckImport(file, column=None, out=out, errors=tmp_path / "e", batch=1, fields={})
        journal = wanted._journal()
        journal.note(batch=0, job_id="0")
        journal.note(batch=0, size=len(b"\n".join(whole.split(b"\n")[:2])) + 1)
        jobs = len(IndexingService.jobs)

        asyncio.run(wanted.run(address, "key"))

    assert out.read_bytes() == whole
    assert len(IndexingService.jobs) == jobs + 1  # the first URL was known from the first row


def test_results_of_an_earlier_release_are_written_anew_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    file = tmp_path / "shop.csv"
    file.write_text("url\nhttps://shop.example/a\n")
    with indexing_service(["https://shop.example/a"]) as address:
        out = tmp_path / "shop.out"
        out.write_text('"line","url","status"\r\n"2","https://shop.example/a","done"\r\n')
        wanted = IndexCheckImport(file, column=None, out=out, errors=tmp_path / "e", batch=1, fields={})
        journal = wanted._journal()
        journal.note(batch=0, job_id="0")
        journal.note(batch=0, size=out.stat().st_size)

        asyncio.run(wanted.run(address, "key"))

    assert [row[:4] for row in rows_of(out)] == [
        ["url", "line", "status", "is_indexed"],
        ["https://shop.example/a", "2", "done", "true"],
    ]
    assert len(IndexingService.jobs) == 1


def test_a_check_tells_once_who_rests_while_it_waits(tmp_path: Path) -> None:
    file = tmp_path / "urls.csv"
    file.write_text("url\nhttps://shop.example/a\n")
    wanted = IndexCheckImport(file, column=None, out=tmp_path / "o", errors=tmp_path / "e", batch=1, fields={})
    rest = {"until": "2026-11-20T12:40:00.000Z", "code": "captcha", "message": "the search engine asked for a captcha"}
    asked = []

    class Resting:
        async def index_job(self, job_id: str) -> IndexJob:
            asked.append(job_id)
            return IndexJob.read(index_job("j", 1, [{"provider": "duckduckgo", **rest}]))

    told = [asyncio.run(wanted.standstill(Resting(), "7")) for _ in range(2 * LOOKS_APART)]  # type: ignore[arg-type]

    line = "duckduckgo is asked again at 2026-11-20 12:40 UTC: the search engine asked for a captcha"
    assert told == [line, *[None] * (2 * LOOKS_APART - 1)]
    assert asked == ["7"] * 2


def test_an_import_prints_why_its_job_stands_still_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "urls.csv"
    file.write_text("url\nhttps://shop.example/a\n")
    monkeypatch.setattr(IndexCheckImport, "pause", 0.01)
    with indexing_service() as address:
        rest = {"provider": "bing", "until": "2026-11-20T12:40:00.000Z", "code": "throttled", "message": "[no] more"}
        IndexingService.rests[:] = [rest]
        out = check_shop(file, address)

    assert "bing is asked again at 2026-11-20 12:40 UTC: [no] more" in capsys.readouterr().err
    assert rows_of(out)[1][2] == "done"


def test_rows_that_are_left_out_keep_their_columns(tmp_path: Path) -> None:
    file = tmp_path / "shop.csv"
    file.write_text("reason,Link,note\nold,nonsense,-\nnew,https://shop.example/a,x\nold,,y\n")

    wanted = IndexCheckImport(file, column=None, out=tmp_path / "o", errors=tmp_path / "e.csv", batch=1, fields={})
    wanted.estimate()

    assert rows_of(tmp_path / "e.csv") == [
        ["reason", "Link", "note", "line", "pressroom_reason"],
        ["old", "nonsense", "-", "2", "it does not begin with http:// or https://"],
        ["old", "", "y", "4", "the row has no such column, or it is empty"],
    ]


def test_columns_without_names_are_called_by_their_numbers(tmp_path: Path) -> None:
    file = tmp_path / "shop.csv"
    file.write_text("https://shop.example/a,7\nhttps://shop.example/blocked,8\n")
    with indexing_service() as address:
        results = rows_of(check_shop(file, address))

    assert results[0][:4] == ["url", "column_2", "line", "status"]
    assert [row[:4] for row in results[1:]] == [
        ["https://shop.example/a", "7", "1", "done"],
        ["https://shop.example/blocked", "8", "2", "failed"],
    ]


def test_an_import_whose_job_has_been_deleted_names_the_journal_that_knows_it(tmp_path: Path) -> None:
    file = tmp_path / "urls.csv"
    file.write_text("url\nhttps://shop.example/\n")
    with indexing_service([]) as address:
        wanted = IndexCheckImport(
            file, column=None, out=tmp_path / "out.csv", errors=tmp_path / "e", batch=2, fields={}
        )
        wanted._journal().note(batch=0, job_id="0")

        with pytest.raises(Gone, match=r"out\.csv\.journal knows a job .*\. Delete it"):
            asyncio.run(wanted.run(address, "key"))


def test_a_service_that_is_not_there_is_told_at_once_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESSROOM_API_KEY", "key")
    monkeypatch.setattr(import_csv, "FIRST_PATIENCE", timedelta(seconds=0.5))
    file = tmp_path / "urls.csv"
    file.write_text("url\nhttps://shop.example/\n")

    ran = CliRunner().invoke(create_app(), ["import-csv", "check", str(file), "--url", "http://127.0.0.1:9"])

    assert isinstance(ran.exception, ConnectionLost)
    assert [path.name for path in tmp_path.iterdir()] == ["urls.csv"]


def test_an_import_that_the_account_can_not_pay_for_says_so_and_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESSROOM_API_KEY", "key")
    file = tmp_path / "urls.csv"
    file.write_text("url\nhttps://shop.example/a\nhttps://shop.example/b\n")
    with indexing_service() as address:
        ran = CliRunner().invoke(create_app(), ["import-csv", "check", str(file), "--url", address])

    assert ran.exit_code == 0, ran.output
    assert "credits of the account: 1;" in ran.output
    assert len(file.with_suffix(".results.csv").read_text().splitlines()) == 3


def test_rows_without_an_answer_are_told_and_a_file_s_name_is_no_markup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESSROOM_API_KEY", "key")
    file = tmp_path / "urls[1].csv"
    file.write_text("".join(f"https://shop.example/{name}\n" for name in ("blocked", "a", "blocked")))
    with indexing_service() as address:
        ran = CliRunner().invoke(create_app(), ["import-csv", "check", str(file), "--url", address])

    assert ran.exit_code == 0, ran.output
    results = tmp_path / "urls[1].results.csv"
    assert f"results in {results}" in ran.output
    assert f"rows without an answer: 2; {results} says why" in ran.output
