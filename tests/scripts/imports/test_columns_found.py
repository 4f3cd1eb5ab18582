"""Which column an import reads, of CSV files and of spreadsheets."""

from pathlib import Path

import pytest
from openpyxl import Workbook

from capabilities.index_check.commands.sheet import IndexCheckImport
from pipeline.errors import InvalidRequest
from pipeline.sheets.sheet import Sheet
from scripts.imports.url_import import is_web_url

NAMES = ("url", "link")


def column_of(file: Path, text: str) -> tuple[int, bool]:
    file.write_text(text)
    sheet = Sheet(file, column=None, names=NAMES, is_wanted=is_web_url)
    return sheet.index, sheet.has_header


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Title,Page URL\nNews,https://a.example/1\n", (1, True)),
        ("Title,pageUrl\nNews,https://a.example/1\n", (1, True)),
        (
            "Page URL,link\nhttps://a.example/1,https://a.example/2\n",
            (1, True),
        ),  # a name itself, before one that only ends with it
        ("Title,Where\nNews,https://a.example/1\nMore,https://a.example/2\n", (1, False)),
        ("Link,Site\nsee there,https://a.example/1\n", (1, True)),
        ("url,note\na.example,x\n", (0, True)),
        ("https://a.example/url\nhttps://a.example/2\n", (0, False)),
        ("News of our url and link,https://a.example/1\nMore,https://a.example/2\n", (1, False)),
        ("a.example\nb.example\n", (0, False)),
    ],
)
def test_the_column_is_found_by_its_name_or_by_what_stands_in_it(
    tmp_path: Path, text: str, found: tuple[int, bool]
) -> None:
    assert column_of(tmp_path / "urls.csv", text) == found


def test_a_named_column_may_be_written_in_other_ways(tmp_path: Path) -> None:
    (tmp_path / "urls.csv").write_text("Old Address,New-Address\nhttps://a.example/1,https://a.example/2\n")
    assert Sheet(tmp_path / "urls.csv", column="new address", names=NAMES).index == 1


def test_a_spreadsheet_is_read_as_a_csv_file_is(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    sheet.append(["No.", "Published", "Page URL"])
    sheet.append([1, True, "https://a.example/1"])
    sheet.append([])
    sheet.append([2.5, False, "https://a.example/2"])
    book.create_sheet("other").append(["https://other.example"])
    book.save(tmp_path / "urls.xlsx")

    wanted = IndexCheckImport(tmp_path / "urls.xlsx", column=None, out=None, errors=None, batch=10, fields={})
    assert [(row.line, row.value) for row in wanted.sheet.rows()] == [
        (2, "https://a.example/1"),
        (4, "https://a.example/2"),
    ]
    assert [list(row.cells) for row in wanted.sheet.rows()] == [
        ["1", "true", "https://a.example/1"],
        ["2.5", "false", "https://a.example/2"],
    ]
    assert wanted.out == tmp_path / "urls.results.csv"


def test_a_broken_spreadsheet_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "urls.xlsx").write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(InvalidRequest, match="Save it as CSV"):
        Sheet(tmp_path / "urls.xlsx", column=None, names=NAMES)
