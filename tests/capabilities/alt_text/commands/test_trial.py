"""Trials: rows and a page of what engines make of a folder."""

from pathlib import Path

import drawn_pictures as drawn
import pytest
from typer.testing import CliRunner

from capabilities.alt_text.commands.trial import HEAD, page_of, pictures_in, trials
from capabilities.alt_text.engines.basic.basic import Basic
from capabilities.alt_text.settings import CaptioningSettings
from scripts.main import create_app


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "pictures"
    inside.mkdir()
    drawn.banner().save(inside / "a<b>.png")
    (inside / "broken.jpg").write_bytes(b"no picture")
    (inside / "notes.txt").write_text("no picture")
    return inside


def test_each_picture_has_a_row_and_a_place_on_the_page(folder: Path) -> None:
    done = list(
        trials(pictures_in(folder), [Basic()], mode="short", language="en", limits=CaptioningSettings(threads=1))
    )
    page = page_of(done, "<i>")

    assert [len(cells) for cells, _ in done] == [len(HEAD)] * 2
    assert done[0][0][:2] == ["a<b>.png", "basic"]
    assert "Summer sale" in done[0][0][2]
    assert "first bytes" in done[1][0][2] or "image" in done[1][0][2]
    assert page.count("data:image/png;base64,") == 1
    assert "a&lt;b&gt;.png" in page
    assert "&lt;i&gt;" in page
    assert "default-src 'none'" in page
    assert not any(mark in page for mark in ("<script", "<style", " style=", "http://", "https://", "<i>"))


def test_the_command_prints_a_table_and_writes_the_page(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    arguments = ["try", "captioning", str(folder), "--page", str(page), "--engine", "basic", "--data", str(tmp_path)]

    result = CliRunner().invoke(create_app(), arguments)

    assert result.exit_code == 0, result.output
    assert "confidence" in result.output
    assert "Summer sale" in page.read_text()
