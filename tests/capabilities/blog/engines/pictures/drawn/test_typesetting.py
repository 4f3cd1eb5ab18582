"""Titles are set within their box, in even lines, in any script."""

from dataclasses import replace
from random import Random

import pytest
from cover_titles import TITLES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from capabilities.blog.engines.pictures.drawn import shapes
from capabilities.blog.engines.pictures.drawn.breaking import pieces_of
from capabilities.blog.engines.pictures.drawn.canvas import HEIGHT, WIDTH, Canvas
from capabilities.blog.engines.pictures.drawn.colours import LIGHT
from capabilities.blog.engines.pictures.drawn.drawn import DESIGNS
from capabilities.blog.engines.pictures.drawn.fonts import Fonts
from capabilities.blog.engines.pictures.drawn.scene import Scene
from capabilities.blog.engines.pictures.drawn.typesetting import Box, TypesetPage, draw, typeset

DESIGN_NAMES = [(style, name) for style, designs in DESIGNS.items() for name in designs]


def page_of(name: str, style: str, palette: object = LIGHT[0], seed: int = 0) -> tuple[Canvas, TypesetPage]:
    canvas = Canvas(palette.ground)
    return canvas, DESIGNS[style][name](Scene(canvas, palette, Random(seed), shapes.MOTIFS["book"], has_title=True))


def _ink(fonts: Fonts, text: str, language: str, page: TypesetPage, serif: bool = False) -> tuple[int, int, int, int]:
    """Return where a title leaves ink, on a sheet that is larger than the picture on all sides."""
    face = fonts.face_for(text, fonts.serif if serif else fonts.sans)
    assert face is not None, text
    title = typeset(text, face, page, language)
    shifted = replace(
        page,
        box=Box(page.box.left + 500, page.box.top + 500, page.box.right + 500, page.box.bottom + 500),
        ink=(255, 255, 255),
        bar=None,
    )
    sheet = Image.new("RGB", (WIDTH + 1000, HEIGHT + 1000))
    draw(sheet, title, shifted)
    left, top, right, bottom = sheet.getbbox()
    return left - 500, top - 500, right - 500, bottom - 500


@pytest.mark.parametrize("kind", TITLES)
def test_no_title_leaves_its_box_and_no_box_comes_near_the_edges(fonts: Fonts, kind: str) -> None:
    text, missing = fonts.settable(TITLES[kind][0])
    assert (bool(text), missing) == (True, "")
    # The longest in all designs; of the others, each kind in four, so that each design has several kinds.
    start = list(TITLES).index(kind) % 5
    for style, name in DESIGN_NAMES if kind == "long" else DESIGN_NAMES[start::5]:
        _, page = page_of(name, style)

        left, top, right, bottom = _ink(fonts, text, TITLES[kind][1], page, serif=style == "minimalist")

        assert page.box.left - 1 <= left, (style, name)
        assert right <= page.box.right + 1, (style, name)
        assert page.box.top - 2 <= top, (style, name)
        assert bottom <= page.box.bottom + 2, (style, name)
        assert page.box.left >= 60, (style, name)
        assert page.box.top >= 56, (style, name)
        assert page.box.right <= WIDTH - 60, (style, name)
        assert page.box.bottom <= HEIGHT - 60, (style, name)


def test_chinese_and_latin_titles_are_of_like_weight(fonts: Fonts) -> None:
    _, page = page_of("overlap", "abstract")
    left, _, right, _ = _ink(fonts, "I", "en", page)
    _, top, _, bottom = _ink(fonts, "一", "zh", page)
    assert bottom - top > 0.6 * (right - left)


@pytest.mark.parametrize(
    ("word", "language", "lines"),
    [
        ("Donaudampfschifffahrtsgesellschaft", "de", ("Donaudampf-", "schifffahrts-", "gesellschaft")),
        ("https://example.com/a-long-address", "en", ("https://", "example.com/", "a-long-address")),
        ("Haftpflichtversicherung-Vergleich", "de", ("Haftpflicht-", "versicherung-", "Vergleich")),
    ],
)
def test_long_words_are_parted_where_their_language_parts_them(
    fonts: Fonts, word: str, language: str, lines: tuple[str, ...]
) -> None:
    page = TypesetPage(Box(72, 72, 492, 558), (0, 0, 0), largest=60, lines=3)

    assert typeset(word, fonts.sans, page, language).lines == lines


LETTERS = st.text(
    st.characters(codec="utf-8", categories=["L", "M", "N", "P", "Zs", "So", "Cf", "Cc"]), min_size=1, max_size=120
)


WESTERN = st.text(st.sampled_from("abcdefgÄöüßéçĂžșŁжщΩλאבשعرب ỗậ  -—'’“”.,:;!?()0123456789"), min_size=1, max_size=300)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(title=st.one_of(LETTERS, WESTERN), language=st.sampled_from(["en", "de", "ja", "zh-Hant", "x-klingon", ""]))
def test_any_title_is_set_within_its_box_or_not_at_all(fonts: Fonts, title: str, language: str) -> None:
    text, missing = fonts.settable(title)
    if not text:
        return
    page = TypesetPage(Box(72, 72, 600, 558), (0, 0, 0))
    face = fonts.face_for(text, fonts.sans)
    assert face is not None
    left, top, right, bottom = _ink(fonts, text, language, page)

    assert (left >= 71, top >= 70, right <= 601, bottom <= 560) == (True,) * 4
    assert not set(missing) & set(text)


def test_no_piece_of_a_title_begins_with_a_sign_that_belongs_to_the_word_before() -> None:
    pieces = pieces_of("วิธีทำต้มยำกุ้งแบบง่ายๆ ที่บ้าน", "th", lambda text: True)
    assert "ง่ายๆ" in [piece.text for piece in pieces]
    assert not any(piece.text.startswith("ๆ") for piece in pieces)
