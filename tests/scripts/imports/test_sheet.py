"""CSV files in any common dialect and encoding, read a row at a time."""

from pathlib import Path

import pytest

from pipeline.errors import InvalidRequest
from pipeline.sheets.sheet import Row, Sheet

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


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("url\nhttps://e.example/a,b\nhttps://e.example/c\n", ["https://e.example/a,b", "https://e.example/c"]),
        ("https://e.example/a,b\nhttps://e.example/c\nhttps://e.example/d;e\n", ["https://e.example/a,b"]),
        ("url\nOne, two.\nThree, four.\n", ["One, two.", "Three, four."]),
        ("sep=;\r\nname;url\r\none;https://e.example/\r\n", ["https://e.example/"]),
        ("url;note\nhttps://e.example/a,b;x\nhttps://e.example/c\n", ["https://e.example/a,b"]),
        ("", []),
        ("\n\n", []),
        ("url\n", []),
    ],
)
def test_a_sign_within_some_cells_separates_none(tmp_path: Path, text: str, values: list[str]) -> None:
    file = tmp_path / "urls.csv"
    file.write_bytes(text.encode())

    found = [row.value for row in Sheet(file, column=None, names=("url",)).rows()]

    assert found[: len(values) or None] == values


def test_what_spreadsheets_call_latin_1_keeps_its_quotes_and_its_euro(tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    file.write_bytes("text\n“Only 5 €” – café\n".encode("cp1252"))

    assert [row.value for row in Sheet(file, column=None, names=("text",)).rows()] == ["“Only 5 €” – café"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_told_by_its_line_ends_in_any_language(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "texts.csv"
    file.write_bytes("Привет\n你好世界\n".encode(encoding))

    assert [row.value for row in Sheet(file, column=None, names=("text",)).rows()] == ["Привет", "你好世界"]


def test_a_stray_nul_spoils_its_own_row_alone(tmp_path: Path) -> None:
    file = tmp_path / "urls.csv"
    file.write_bytes("url\nhttps://e.example/é\nhttps://e.example/\0b\n".encode())

    assert [row.value for row in Sheet(file, column=None, names=("url",)).rows()] == [
        "https://e.example/é",
        "https://e.example/\0b",
    ]


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
    assert list(Sheet(file, column=None, names=("text",)).rows()) == [Row(2, "one\ntwo"), Row(4, "three")]

    file.write_text('text\n"one' + "x" * 2**21)
    with pytest.raises(InvalidRequest, match="quote"):
        list(Sheet(file, column=None, names=("text",)).rows())


def test_a_first_row_is_a_header_where_it_names_a_column(tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"

    def lines(name: str) -> list[int]:
        file.write_text(f"{name}\nHello.\n")
        return [row.line for row in Sheet(file, column=None, names=("text",)).rows()]

    assert (lines("what to say"), lines("text")) == ([1, 2], [2])
