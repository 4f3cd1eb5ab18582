"""Fonts set what they have, and what no font has is said."""

from pathlib import Path

import pytest

from capabilities.blog.engines.pictures.drawn.fonts import Face, Fonts
from pipeline.errors import NotReady


def test_fonts_of_the_operators_folder_set_what_the_shipped_ones_can_not(tmp_path: Path, fonts: Fonts) -> None:
    source = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
    if not source.exists():
        pytest.skip("no DejaVu here")
    (tmp_path / "DejaVuSans.ttf").write_bytes(source.read_bytes())
    more = Fonts(str(tmp_path))
    more.setup()

    assert fonts.settable("Բարեւ")[0] == ""
    assert more.settable("Բարեւ") == ("Բարեւ", "")


def test_a_folder_that_is_missing_and_a_file_that_is_no_font_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="PRESSROOM_PICTURES__FONTS"):
        Fonts(str(tmp_path / "none")).setup()
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    with pytest.raises(NotReady, match=r"broken\.ttf"):
        Fonts(str(tmp_path)).setup()


def test_the_largest_font_is_read_when_a_title_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    coverage = Face.coverage
    monkeypatch.setattr(Face, "coverage", lambda face: (read.append(Path(face.path).name), coverage(face))[1])
    fonts = Fonts()

    fonts.setup()
    assert fonts.settable("Fresh words, ночь") == ("Fresh words, ночь", "")
    assert fonts.face_for("Fresh words", fonts.serif) == fonts.serif
    assert not any(name.startswith("Noto") for name in read)

    if fonts.settable("猫と暮らす")[0]:  # the font is an extra
        assert sum(name.startswith("Noto") for name in read) == 1
