"""CSV files as people have them, and the journal of an import."""

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.errors import Conflict, InvalidRequest
from scripts.importing import UrlImport
from scripts.journals import Journal
from scripts.programs import environment
from scripts.sheets import Row, Sheet

ROWS = ["https://e.example/café", "https://e.example/b,c"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_dialects_and_encodings_are_told_apart(tmp_path: Path, encoding: str, delimiter: str) -> None:
    lines = [delimiter.join(["name", "url", "note"])]
    lines += [delimiter.join([f'"the {number}th"', f'"{row}"', "x"]) for number, row in enumerate(ROWS)]
    file = tmp_path / "urls.csv"
    file.write_bytes("\r\n".join(lines).encode(encoding))

    sheet = Sheet(file, column=None, names=("url",))

    assert list(sheet.rows()) == [Row(2, ROWS[0]), Row(3, ROWS[1])]


def test_a_column_is_taken_by_name_or_is_the_first(tmp_path: Path) -> None:
    file = tmp_path / "any.csv"
    file.write_text("a,Page\n1,x\n\n2\n")

    assert list(Sheet(file, column="page", names=()).rows()) == [Row(2, "x"), Row(4, None)]
    assert [row.value for row in Sheet(file, column=None, names=("url",)).rows()] == ["a", "1", "2"]
    with pytest.raises(InvalidRequest, match=r"no column .url..*a, Page"):
        Sheet(file, column="url", names=())
    with pytest.raises(InvalidRequest, match="no file"):
        Sheet(tmp_path / "none.csv", column=None, names=())


def test_cells_may_hold_line_ends_and_a_lost_quote_is_told(tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    file.write_text('text\n"one\ntwo"\nthree\n')
    assert list(Sheet(file, column=None, names=("text",)).rows()) == [Row(3, "one\ntwo"), Row(4, "three")]

    file.write_text('text\n"one' + "x" * 2**21)
    with pytest.raises(InvalidRequest, match="quote"):
        list(Sheet(file, column=None, names=("text",)).rows())


def test_faulty_rows_are_written_down_with_their_line_and_cost_nothing(tmp_path: Path) -> None:
    file, errors = tmp_path / "urls.csv", tmp_path / "errors.csv"
    file.write_text("Address\nhttps://e.example/\n=cmd|x\nhttps://e.example/\nhttps://user:x@e.example/\n")

    found = UrlImport(file, column=None, out=tmp_path / "out.csv", errors=errors, batch=10, fields={}).estimate()

    assert (found.rows, found.faulty, found.credits) == (2, 2, 1)
    _, first, second = errors.read_text().splitlines()
    assert first.startswith("3,it does not begin with http:// or https://,'=cmd")
    assert second.startswith("5,it has a user name")


def test_a_journal_is_taken_up_where_it_was_and_another_import_s_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    journal = Journal(file, about={"file": "a"})
    journal.note(batch=0, job_id="x")
    file.write_text(file.read_text() + '{"batch": 1, "jo')  # stopped in the middle of a line

    assert Journal(file, about={"file": "a"}).steps == [{"batch": 0, "job_id": "x"}]
    with pytest.raises(Conflict, match="another import"):
        Journal(file, about={"file": "b"})


ESTIMATE = """
import resource, sys
from pathlib import Path
from scripts.importing import UrlImport
file = Path(sys.argv[1])
wanted = UrlImport(file, column=None, out=file, errors=file.with_suffix(".e"), batch=1_000, fields={})
print(wanted.estimate().rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_a_hundred_thousand_rows_need_no_more_memory_than_a_few(tmp_path: Path) -> None:
    def peak(rows: int) -> int:
        file = tmp_path / f"{rows}.csv"
        file.write_text("url\n" + "".join(f"https://shop.example/products/{n}?ref=list\n" for n in range(rows)))
        said = subprocess.run(
            [sys.executable, "-c", ESTIMATE, str(file)], env=environment(), capture_output=True, text=True, check=True
        ).stdout.split()
        assert int(said[0]) == rows
        return int(said[1])

    few, many = peak(1_000), peak(100_000)
    assert many < few + 8_000  # KiB; the rows alone would be 30,000
