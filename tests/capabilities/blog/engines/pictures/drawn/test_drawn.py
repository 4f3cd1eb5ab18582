"""drawn: covers that can be read, and that differ."""

import io
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from cover_titles import TITLES
from PIL import Image
from test_typesetting import DESIGN_NAMES, page_of

from capabilities.blog.engines.pictures import Brief, Painted
from capabilities.blog.engines.pictures.drawn import shapes, topics
from capabilities.blog.engines.pictures.drawn.canvas import WIDTH
from capabilities.blog.engines.pictures.drawn.colours import DARK, LIGHT
from capabilities.blog.engines.pictures.drawn.drawn import Drawn
from capabilities.blog.engines.pictures.drawn.fonts import Fonts, sized
from capabilities.blog.engines.pictures.drawn.plans import DESIGNS, plans_of
from capabilities.blog.engines.pictures.drawn.scene import MARGIN
from capabilities.blog.engines.pictures.drawn.typesetting import _width
from capabilities.blog.engines.pictures.wording import WORDS
from workers.engines import Stopped


def _brief(title: str, style: str = "illustration", language: str = "en", category: str = "") -> Brief:
    return Brief(title, "", category, (), style, language)


def _covers(engine: Drawn, brief: Brief, count: int = 3) -> list[Painted]:
    painted = [picture for picture in engine.paint(brief, count=count) if isinstance(picture, Painted)]
    assert len(painted) == count
    return painted


def _opened(picture: Painted) -> Image.Image:
    return Image.open(io.BytesIO(picture.data)).convert("RGB")


@pytest.mark.parametrize("kind", TITLES)
def test_no_letter_is_shown_as_the_box_of_a_missing_one(fonts: Fonts, kind: str) -> None:
    text, _ = fonts.settable(TITLES[kind][0])
    face = fonts.face_for(text, fonts.sans)
    assert face is not None
    font = face.at(60)
    boxes = {bytes(font.getmask(character)) for character in ("\U000fffff", "\uabff")}

    assert not [c for c in set(text) - {" "} if c.isalnum() and bytes(font.getmask(c)) in boxes]


def test_a_title_with_letters_that_no_font_has_is_left_out_and_that_is_said(engine: Drawn) -> None:
    (cover,) = _covers(engine, _brief("বারান্দায় টমেটো", "realistic"), 1)

    assert cover.warnings == ("No font here has ব া র ন ্ দ য ় …, so the title is not on the pictures.",)
    assert cover.description.endswith("for the post “বারান্দায় টমেটো”.")


def test_without_the_library_that_shapes_simple_scripts_are_set_and_others_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from PIL import _imagingft

    # What Pillow says where libfribidi is not installed, as in small container images.
    monkeypatch.setattr(_imagingft, "HAVE_RAQM", False)
    sized.cache_clear()
    _width.cache_clear()
    try:
        engine = Drawn(Fonts())
        assert engine.readiness() is None
        engine.setup()
        for title, language in (TITLES["long"], TITLES["russian"], TITLES["japanese"]):
            (cover,) = _covers(engine, _brief(title, "realistic", language), 1)
            assert cover.warnings == ()
            assert "with the title" in cover.description or "タイトルは" in cover.description
        for title, language in (TITLES["arabic"], TITLES["hebrew"], TITLES["hindi"], TITLES["thai"]):
            (cover,) = _covers(engine, _brief(title, "realistic", language), 1)
            assert "libfribidi" in cover.warnings[0]
            assert "with the title" not in cover.description
    finally:
        sized.cache_clear()
        _width.cache_clear()


def test_symbols_that_no_font_has_are_left_out_of_the_title(engine: Drawn, fonts: Fonts) -> None:
    (cover,) = _covers(engine, _brief("🍅 Tomatoes! 👩‍🌾"), 1)

    assert fonts.settable("🍅 Tomatoes! 👩‍🌾")[0] == "Tomatoes!"
    assert cover.warnings == ("No font here has 🍅 👩 🌾, so the pictures show the title without.",)
    assert fonts.settable("🍅🎉") == ("", "🍅🎉")


@pytest.mark.parametrize(("style", "name"), DESIGN_NAMES)
def test_titles_stand_out_from_every_pixel_behind_them(style: str, name: str) -> None:
    palettes = [*LIGHT, *DARK]
    for seed in range(3):
        start = (DESIGN_NAMES.index((style, name)) * 5 + seed * 4) % 12
        palette = palettes[start]
        canvas, page = page_of(name, style, palette, seed)
        box = page.box
        behind = np.asarray(canvas.image.crop((int(box.left), int(box.top), int(box.right), int(box.bottom))), float)

        ratio = _contrast(np.array(page.ink, float)[None, None], behind).min()

        assert ratio >= 4.5, (palette.names, seed, ratio)


def _contrast(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """WCAG 2.2, written down once more."""
    light = []
    for colour in (one, other):
        share = colour / 255
        linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        light.append(linear @ np.array([0.2126, 0.7152, 0.0722]))
    return (np.maximum(*light) + 0.05) / (np.minimum(*light) + 0.05)


@pytest.mark.parametrize("style", DESIGNS)
def test_the_covers_of_a_post_differ_in_design_and_in_colours(engine: Drawn, style: str) -> None:
    for title in ("Coffee, explained", "What we still owe each other"):
        small = [
            np.asarray(_opened(cover).resize((48, 25), Image.Resampling.BOX).convert("LAB"), float)
            for cover in _covers(engine, _brief(title, style))
        ]

        distances = [np.abs(one - other).mean() for one, other in combinations(small, 2)]

        assert min(distances) > 8, (title, distances)


def test_the_same_post_gets_the_same_bytes_and_another_others(engine: Drawn) -> None:
    fresh = Drawn(Fonts())
    fresh.setup()

    first = _covers(engine, _brief("Tea for two"), 2)

    assert _covers(fresh, _brief("Tea for two"), 2) == first
    assert _covers(engine, _brief("Tea for three"), 2) != first


@pytest.mark.parametrize("style", DESIGNS)
def test_covers_are_small_jpeg_files_for_link_previews(engine: Drawn, style: str) -> None:
    for cover in _covers(engine, _brief("Coffee", style), 6):
        image = Image.open(io.BytesIO(cover.data))
        assert (image.format, image.size, cover.content_type) == ("JPEG", (1200, 630), "image/jpeg")
        assert len(cover.data) <= 150_000
        assert cover.style == style


@pytest.mark.parametrize("style", ["realistic", "photographic"])
def test_a_style_that_can_not_be_drawn_is_not_pretended(engine: Drawn, style: str) -> None:
    (cover,) = _covers(engine, _brief("Tea", style), 1)

    assert style not in engine.styles()
    # The handler says so once for all pictures; a warning each would say the same.
    assert (cover.style, cover.warnings) == ("illustration", ())
    assert cover.description.startswith("Illustration of")


def test_a_post_about_nothing_that_can_be_drawn_gets_no_thing_at_all(engine: Drawn) -> None:
    covers = _covers(engine, _brief("What we still owe each other", "realistic"), 6)

    assert {cover.style for cover in covers} == {"abstract", "minimalist"}
    assert all(cover.look.endswith("/None") for cover in covers)
    assert all(cover.warnings == () for cover in covers)


def test_illustrations_that_were_asked_for_and_can_t_be_drawn_are_said_to_be_none(engine: Drawn) -> None:
    (cover,) = _covers(engine, _brief("What we still owe each other"), 1)

    assert cover.warnings == (
        "Nothing that can be drawn stands for this post, so pictures of other styles than illustration were made.",
    )


@pytest.mark.parametrize("style", ["realistic", *DESIGNS])
@pytest.mark.parametrize("title", ["Tea for two", "What we still owe each other"])
def test_without_the_title_the_pictures_show_no_letter(engine: Drawn, style: str, title: str) -> None:
    brief = replace(_brief(title, style), with_title=False)
    for cover in _covers(engine, brief, 4):
        assert "with the title" not in cover.description
        assert cover.description.endswith(f"for the post “{title}”.")
    # Other words of the same kind, as an untitled cover has none of them.
    for plan in plans_of(brief, 3, has_title=False):
        assert style == "minimalist" or plan.design not in DESIGNS["minimalist"]


@pytest.mark.parametrize("style", ["realistic", *DESIGNS])
def test_the_posts_of_one_blog_look_different(engine: Drawn, style: str) -> None:
    recent: list[tuple[str, ...]] = []
    for number in range(4):
        brief = replace(_brief(f"Coffee, part {number}", style), recent=tuple(recent))
        recent.insert(0, tuple(plan.look for plan in plans_of(brief, 3, has_title=True)))

    first = [looks[0].split("/") for looks in recent]
    assert len({design for design, _, _ in first}) == 4
    assert len({palette for _, palette, _ in first}) == 4
    # Twelve palettes: no cover of four posts has the colours of another.
    assert len({look.split("/")[1] for looks in recent for look in looks}) == 12


def test_right_to_left_titles_turn_the_whole_cover_round(engine: Drawn) -> None:
    cover = _opened(_covers(engine, _brief("שלום", "minimalist"), 1)[0])
    ground = np.array(cover.getpixel((WIDTH - 20, 20)), float)

    is_ink = np.abs(np.asarray(cover, float) - ground).sum(axis=2) > 200

    columns = np.flatnonzero(is_ink[:, WIDTH // 2 :].any(axis=0)) + WIDTH // 2
    assert abs(columns.max() - (WIDTH - MARGIN)) <= 3


@pytest.mark.parametrize(
    ("title", "tags", "category", "motif"),
    [
        ("Building a gardening bot", (), "Technology", "robot"),
        ("What to do with your old videotapes", (), "Technology", "tape"),
        ("A server rack in the cellar", (), "Technology", "server"),
        ("Macaroni like my grandmother's", (), "Food & Recipes", "pasta"),
        ("Mornings", ("kaffee", "espresso"), "Lifestyle", "cup"),
        ("A quiet season", (), "Music", "note"),
        ("A quiet season", (), "Travel", "compass"),
        # A word of the title alone has lost the words that give it another meaning.
        ("Stress testing your web app", ("stress", "app"), "General", None),
        # No one thing is true for all of these.
        ("A quiet season", (), "Technology", None),
        ("A quiet season", (), "Home & Garden", None),
        ("A quiet season", ("software", "gadgets"), "General", None),
    ],
)
def test_motifs_follow_title_tags_and_category(
    title: str, tags: tuple[str, ...], category: str, motif: str | None
) -> None:
    brief = Brief(title, "An espresso, and kaffee for two.", category, tags, "realistic", "en")
    assert topics.motif_of(brief) == motif


def test_every_motif_scene_and_design_is_there_and_has_words_in_every_language() -> None:
    used = {*topics.SYMBOLS, *topics.ON_DESK, *topics.SCENES, *topics.SUBJECTS}
    colours = {name for palette in (*LIGHT, *DARK) for name in palette.names}

    assert set(WORDS) == {"en", "es", "fr", "de", "pt", "it", "ja", "zh"}
    for language in WORDS.values():
        assert used <= set(language["motifs"]) == set(shapes.MOTIFS)
        assert {name for _, name in DESIGN_NAMES} == set(language["designs"])
        assert {scene for scenes in topics.SCENES.values() for scene in scenes} <= set(language["designs"])
        assert colours <= set(language["colours"])


@pytest.mark.parametrize(
    ("language", "style", "start", "quoted"),
    [
        ("en", "abstract", "Abstract picture of ", "“{Matcha}”"),
        ("es", "illustration", "Ilustración: ", "«{Matcha}»"),
        ("fr", "minimalist", "Couverture minimaliste : ", "« {Matcha} »"),
        ("de-AT", "illustration", "Illustration: ", "„{Matcha}“"),
        ("pt", "abstract", "Imagem abstrata: ", "“{Matcha}”"),
        ("it", "minimalist", "Copertina minimalista: ", "«{Matcha}»"),
        ("ja", "illustration", "イラスト：", "「{Matcha}」"),
        ("zh-Hant", "minimalist", "极简封面：", "《{Matcha}》"),
        ("ko", "illustration", "Illustration of ", "“{Matcha}”"),
    ],
)
def test_descriptions_say_what_is_seen_in_the_posts_language(
    engine: Drawn, language: str, style: str, start: str, quoted: str
) -> None:
    for cover in _covers(engine, _brief("{Matcha}", style, language)):
        assert cover.description.startswith(start)
        assert cover.description.endswith((f"{quoted}.", f"{quoted}。"))
        assert cover.description.count("{") == 1
        assert (25 if language[:2] in ("ja", "zh") else 60) <= len(cover.description) <= 250


def test_long_titles_are_shortened_in_descriptions(engine: Drawn) -> None:
    (cover,) = _covers(engine, _brief("word " * 200), 1)

    assert cover.description.endswith("word…”.")
    assert len(cover.description) < 320


def test_who_no_longer_wants_them_is_heard(engine: Drawn) -> None:
    with pytest.raises(Stopped):
        engine.paint(_brief("Tea"), count=3, stop=lambda: True)
