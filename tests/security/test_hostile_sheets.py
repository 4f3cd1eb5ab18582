"""Hostile files of URLs, a table: imports refuse them, or read what there is, with little memory and no program run."""

import io
import json
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from openpyxl import Workbook

from scripts.system.programs import ROOT

MIB = 2**20
URL = "https://a.example/1"
#: A name that nothing else has, for files that must not be written.
EVIL = f"evil-{uuid4().hex}"

CONTENT_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
)


def book(*rows: list[str]) -> bytes:
    """Return a spreadsheet."""
    made = Workbook()
    for row in rows:
        made.active.append(row)
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


def changed(part: str, change: Callable[[bytes], bytes], *more: tuple[str, bytes]) -> bytes:
    """Return a good spreadsheet one part of which is another, with further files in its archive."""
    file = io.BytesIO()
    good = zipfile.ZipFile(io.BytesIO(book(["url"], [URL])))
    with good, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bad, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # two files of one name
        for name in good.namelist():
            bad.writestr(name, change(good.read(name)) if name == part else good.read(name))
        for name, content in more:
            bad.writestr(name, content)
    return file.getvalue()


def far_apart() -> bytes:
    """Return 5 kB whose two cells are the first and the last that a sheet can have."""
    made = Workbook()
    made.active.cell(1, 1, "url")
    made.active.cell(1_048_576, 16_384, URL)
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


SHEET, STRINGS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
ENTITIES = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + b"".join(
    f'<!ENTITY {after} "{f"&{before};" * 10}">'.encode() for before, after in zip("abcdefghi", "bcdefghij", strict=True)
)
FILE_ENTITY = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'

#: Files, the suffix of their name, and whether their one URL must be found (None: it may be refused as well).
FILES: dict[str, tuple[Callable[[], bytes], str, bool | None]] = {
    "a good one": (lambda: book(["url"], [URL]), "xlsx", True),
    "17 billion cells in 5 kB": (far_apart, "xlsx", False),
    "a sheet of 20 MB in 20 kB": (
        lambda: changed(SHEET, lambda xml: xml.replace(b"<sheetData>", b"<sheetData>" + bytes(20 * MIB))), "xlsx", None,
    ),
    "ten to the tenth letters of entities": (
        lambda: changed(SHEET, lambda xml: xml.replace(b"<worksheet", ENTITIES + b"]><worksheet", 1)), "xlsx", None,
    ),
    "an entity that is a file": (
        lambda: changed(SHEET, lambda xml: FILE_ENTITY + xml.replace(b"<v>0", b"<v>&a;")), "xlsx", None,
    ),
    "tags within tags": (lambda: changed(SHEET, lambda xml: xml.replace(b"<sheetData>", b"<a>" * 10**6)), "xlsx", None),
    "names that lead up": (
        lambda: changed(SHEET, bytes, (f"../../tmp/{EVIL}", b"x"), (f"/etc/{EVIL}", b"x"), (f"..\\{EVIL}", b"x")),
        "xlsx", True,
    ),
    "20,000 files in its archive": (
        lambda: changed(SHEET, bytes, *[(f"x/{number}", b"") for number in range(20_000)]), "xlsx", True,
    ),
    "two files of one name": (lambda: changed(SHEET, bytes, (SHEET, b"x")), "xlsx", None),
    "no workbook in it": (lambda: zipped(("[Content_Types].xml", CONTENT_TYPES.encode())), "xlsx", False),
    "an archive within an archive": (lambda: zipped(("urls.xlsx", book(["url"], [URL]))), "xlsx", False),
    "a program at its front": (lambda: b"MZ" + bytes(100) + book(["url"], [URL]), "xlsx", None),
    "half of it": (lambda: book(["url"], [URL])[:2_000], "xlsx", False),
    "an old workbook's head": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\xff" * 4_096, "xls", False),
    "formulas": (lambda: book(["url", "note"], [URL, '=HYPERLINK("http://evil.example","x")']), "xlsx", True),
    "a cell of 3 MiB": (lambda: f"url,note\n{URL},{'x' * 3 * MIB}\n".encode(), "csv", False),
    "a quote that never ends": (lambda: f'url\n"{URL}\n'.encode() + b"x\n" * MIB, "csv", False),
    "a row of 100,000 cells": (lambda: f"url{',' * 10**5}\n{URL}\n".encode(), "csv", None),
    "a million empty rows": (lambda: b"url\n" + b"\n" * 10**6 + f"{URL}\n".encode(), "csv", True),
    "NUL": (lambda: f"url\n{URL}\n\0\0\0\n".encode(), "csv", None),
    "not UTF-8": (lambda: f"url\n{URL}\n".encode() + b"\xff\xfe\xfd\n", "csv", True),
    "half a surrogate": (lambda: f"url\n{URL}\n".encode("utf-16") + b"\x00\xd8", "csv", True),
    "formulas in text": (lambda: f'url,note\n{URL},"=cmd|\'/c calc\'!A1"\n'.encode(), "csv", True),
    "nothing": (bytes, "csv", None),
    "a picture": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 99, "csv", None),
}  # fmt: skip

#: Reads files as imports do, and says what became of each: its URLs, or the code of its refusal; then its memory.
CHILD = """
import json, resource, sys
from pathlib import Path
from pipeline.errors import PressroomError
from pipeline.sheets.sheet import Sheet
from scripts.imports.url_import import is_web_url

for file in sorted(Path(sys.argv[1]).iterdir(), key=lambda file: int(file.stem)):
    try:
        sheet = Sheet(file, column=None, names=("url",), is_wanted=is_web_url)
        found = [row.value for row in sheet.rows() if is_web_url(row.value or "")]
    except PressroomError as error:
        found = error.code
    # Its own ru_maxrss begins with that of the process that started it.
    own = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
    readers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(json.dumps([file.stem, found, own // 1024, readers // 1024]), flush=True)
"""


def zipped(*files: tuple[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files:
            archive.writestr(name, content)
    return made.getvalue()


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[object]]:
    """The results of all files, in a process of their own."""
    outside = tmp_path_factory.mktemp("sheets")
    folder = outside / "of" / "others"  # as deep as what leads up from it
    folder.mkdir(parents=True)
    for number, (make, suffix, _) in enumerate(FILES.values()):
        (folder / f"{number}.{suffix}").write_bytes(make())
    done = subprocess.run(
        [sys.executable, "-c", CHILD, folder], cwd=Path(ROOT), capture_output=True, text=True, timeout=500, check=False
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"it died after {found[-1:]}: {done.stderr[-2_000:]}"
    # Leading up from the working folder, from the files' own, and from none.
    parents = (Path(ROOT), *Path(ROOT).parents, Path("/etc"), Path("/tmp"))
    elsewhere = [path for parent in parents for path in (parent / EVIL, parent / "tmp" / EVIL)]
    assert [*outside.rglob(f"*{EVIL}*"), *(path for path in elsewhere if path.exists())] == []
    return {name: found[number] for number, name in enumerate(FILES)}


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_sheet_is_refused_or_read_in_little_memory(findings: dict[str, list[object]], name: str) -> None:
    _, found, own, readers = findings[name]
    must = FILES[name][2]
    assert found in ([[URL]] if must else ["invalid_request"] if must is False else [[URL], [], "invalid_request"])
    assert int(str(own)) < 400
    # At most what the reader may take as a whole.
    assert int(str(readers)) < 2_048
