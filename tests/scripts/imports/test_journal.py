"""The journal of an import."""

from pathlib import Path

import pytest

from pipeline.errors import Conflict
from scripts.imports.journal import Journal


def test_an_import_that_never_began_stands_in_no_other_s_way(tmp_path: Path) -> None:
    Journal(tmp_path / "journal", about={"file": "a"})

    assert not (tmp_path / "journal").exists()


def test_a_journal_is_taken_up_where_it_was_and_another_import_s_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    journal = Journal(file, about={"file": "a"})
    journal.note(batch=0, job_id="x")
    file.write_text(file.read_text() + '{"batch": 1, "jo')  # stopped in the middle of a line

    assert Journal(file, about={"file": "a"}).steps == [{"batch": 0, "job_id": "x"}]
    with pytest.raises(Conflict, match="another import"):
        Journal(file, about={"file": "b"})


def test_a_line_without_its_end_is_kept_and_the_next_stands_on_its_own(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    journal = Journal(file, about={"file": "a"})
    journal.note(batch=0, job_id="x")
    whole = file.read_bytes()
    file.write_bytes(whole.removesuffix(b"\n"))

    journal = Journal(file, about={"file": "a"})
    assert file.read_bytes() == whole
    journal.note(batch=1, job_id="y")
    assert [step["batch"] for step in Journal(file, about={"file": "a"}).steps] == [0, 1]
