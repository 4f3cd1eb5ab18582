"""Fonts set what they have, and what no font has is said."""

from pathlib import Path

import pytest

from capabilities.blog.engines.pictures.drawn.fonts import Fonts
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
