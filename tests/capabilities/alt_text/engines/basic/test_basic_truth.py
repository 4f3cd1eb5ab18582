"""basic: what it does not say, and when its text is a draft."""

from collections.abc import Sequence

import drawn_pictures as drawn
import numpy as np
import pytest
from PIL import Image, ImageDraw

from capabilities.alt_text.engines import Caption, CaptionRequest, Mode
from capabilities.alt_text.engines.basic.basic import Basic
from workers.engines.ocr import Reader, TextLine
from workers.media.images.picture import Note, Picture


class Given(Reader):
    """A reader that finds the lines that a test gives it."""

    def __init__(self, lines: Sequence[TextLine]) -> None:
        self._lines = lines

    def read(self, image: Image.Image, *, is_grainy: bool = False) -> Sequence[TextLine]:
        return self._lines


def line(text: str, left: float, top: float, width: float = 0.3, height: float = 0.1, **more: bool) -> TextLine:
    return TextLine(text, 0.99, left, top, left + width, top + height, **more)


def say(picture: Picture, *lines: TextLine, mode: Mode = "short", language: str = "en") -> Caption:
    (texts,) = Basic(Given(lines)).caption([CaptionRequest(picture, (mode,), language)])
    assert not isinstance(texts, Exception), texts
    return texts[mode]


def photo() -> Picture:
    return Picture(drawn.photo(), "JPEG", is_exposed=True)


def blue() -> Picture:
    return drawn.picture_of(Image.new("RGB", (900, 500), "navy"))


@pytest.mark.parametrize(
    "mark",
    [
        "© 2024 Jane Doe", "@janedoe", "shop.example.com", "www.example.org", "https://a.test/b", "shutterstock",
        "Photo by Jane", "jane@example.org", "(c) Jane Doe", "All rights reserved", "Getty Images", "Foto: Jane Doe",
    ],
)  # fmt: skip
@pytest.mark.parametrize("picture", [photo(), blue()], ids=["photo", "graphic"])
def test_a_mark_of_ownership_is_never_the_subject_however_large_it_is(mark: str, picture: Picture) -> None:
    caption = say(picture, line(mark, 0.2, 0.4, 0.6, 0.2), mode="long")

    assert "“" not in caption.text
    assert caption.draft


@pytest.mark.parametrize(("left", "top"), [(0.02, 0.02), (0.8, 0.02), (0.02, 0.93), (0.8, 0.93)])
def test_small_print_in_a_corner_is_never_the_subject(left: float, top: float) -> None:
    corner = line("Winter edition", left, top, 0.15, 0.04)

    assert say(photo(), corner).draft
    assert say(blue(), corner).draft
    assert say(blue(), corner, line("Ten ideas", 0.3, 0.4, 0.4, 0.2)).text.startswith(
        "Graphic with the text “Ten ideas”"
    )


def test_what_stands_out_is_named_before_the_words_that_come_first() -> None:
    caption = say(
        blue(),
        line("Free delivery over 30 euros", 0.3, 0.2, 0.4, 0.05),
        line("BELLACUP", 0.2, 0.4, 0.6, 0.2),
        line("Coffee that wakes you", 0.3, 0.7, 0.4, 0.08),
    )

    assert caption.text.startswith("Graphic with the text “BELLACUP”, “Free delivery over 30 euros” and")
    assert (caption.draft, caption.confidence) == (False, pytest.approx(0.891))


AXIS = [line(str(value), 0.02, 0.2 + place * 0.15, 0.04, 0.04) for place, value in enumerate((30, 20, 10, 0))]
MONTHS = [line(month, 0.2 + place * 0.25, 0.9, 0.06, 0.04) for place, month in enumerate(("Jan", "Feb", "Mar"))]


@pytest.mark.parametrize(
    "label",
    [
        line("Revenue (EUR million)", 0.02, 0.08, 0.25, 0.04),
        line("Revenue", 0.02, 0.08, 0.1, 0.04),
        line("Revenue in %", 0.3, 0.08, 0.4, 0.06),
        line("Revenue", 0.01, 0.1, 0.03, 0.5, is_upright=True),
        line("Revenue", 0.4, 0.25, 0.2, 0.04),
    ],
)
def test_the_label_of_an_axis_is_no_title(label: TextLine) -> None:
    caption = say(drawn.picture_of(Image.new("RGB", (900, 600), "white")), label, *AXIS, *MONTHS)

    assert caption.text.startswith("Chart with the text")
    assert caption.draft


def test_what_stands_over_the_whole_chart_is_its_title() -> None:
    white = drawn.picture_of(Image.new("RGB", (900, 600), "white"))

    assert say(white, line("Revenue by month", 0.3, 0.08, 0.4, 0.04), *AXIS, *MONTHS).text == (
        "Chart titled “Revenue by month”"
    )
    assert say(white, line("Revenue by month", 0.02, 0.08, 0.4, 0.06), *AXIS, *MONTHS).text == (
        "Chart titled “Revenue by month”"
    )


@pytest.mark.parametrize("number", ["6e+06-", "1e-3", "2.5e6"])
def test_numbers_with_an_exponent_are_no_words(number: str) -> None:
    white = drawn.picture_of(Image.new("RGB", (900, 600), "white"))

    assert number not in say(white, *AXIS, *MONTHS, line(number, 0.4, 0.4), mode="long").text


def test_tones_that_run_into_each_other_are_no_graphic() -> None:
    across = np.linspace(40, 230, 800)[None, :, None] * np.ones((500, 1, 3))

    caption = say(drawn.picture_of(Image.fromarray(across.astype("uint8"))))

    assert caption.text.startswith("Picture")


def test_the_largest_colour_of_a_scene_is_no_background() -> None:
    image = drawn.photo()
    image.paste(drawn.photo().crop((0, 0, 1200, 60)).resize((1200, 500)), (0, 0))

    assert "background" not in say(Picture(image, "JPEG", is_exposed=True), mode="long").text


@pytest.mark.parametrize(("is_exposed", "noun"), [(True, "Photo"), (False, "Picture")])
def test_only_what_a_camera_has_exposed_is_called_a_photo(is_exposed: bool, noun: str) -> None:
    caption = say(Picture(drawn.photo(), "JPEG", is_exposed=is_exposed))

    assert caption.text.startswith(noun)


@pytest.mark.parametrize("mode", ["short", "seo", "long"])
def test_without_a_subject_the_text_is_a_draft_in_which_nobody_should_trust(mode: Mode) -> None:
    for picture in (photo(), blue(), drawn.picture_of(drawn.illustration()), drawn.picture_of(drawn.icon())):
        caption = say(picture, mode=mode)
        assert caption.draft
        assert caption.confidence <= 0.4


def test_text_on_something_in_a_photo_is_quoted_in_a_draft_and_a_sign_is_no_draft() -> None:
    badge = say(photo(), line("HOPPER", 0.4, 0.6, 0.1, 0.03))
    sign = say(photo(), line("NO ENTRY", 0.3, 0.4, 0.4, 0.12))

    assert "“HOPPER”" in badge.text
    assert badge.draft
    assert "“NO ENTRY”" in sign.text
    assert not sign.draft
    assert badge.confidence < sign.confidence <= 0.5


def test_letters_of_a_diagram_are_no_words() -> None:
    assert say(blue(), line("A", 0.5, 0.2), line("B1", 0.3, 0.5), line("C2", 0.7, 0.5)).draft


def test_the_authors_words_are_no_draft() -> None:
    for note in (Note("caption", "The harbour at dawn"), Note("title", "Hafen"), Note("alt_text", "Ein Hund", "de")):
        picture = drawn.picture_of(drawn.photo(), notes=[note])
        assert not say(picture).draft


def boxes(*, bar: bool) -> Picture:
    """Return boxes side by side and below each other, as a diagram or a program has them; `bar`: below a title bar."""
    image = Image.new("RGB", (1000, 700), "white")
    draw = ImageDraw.Draw(image)
    for top in (100, 300, 500):
        for left in (80, 400, 720):
            draw.rectangle((left, top, left + 240, top + 120), outline="black", width=2)
    if bar:
        draw.line((0, 60, 1000, 60), "black", 2)
    return drawn.picture_of(image)


@pytest.mark.parametrize(("bar", "genre"), [(False, "Graphic"), (True, "Screenshot")])
def test_the_boxes_of_a_diagram_are_no_screenshot_without_a_bar(bar: bool, genre: str) -> None:
    lines = [
        line(name, left, top, 0.1, 0.03)
        for name, left, top in (
            ("Parser", 0.1, 0.2),
            ("Writer", 0.45, 0.2),
            ("Reader", 0.75, 0.2),
            ("Cache", 0.1, 0.5),
            ("Index", 0.45, 0.5),
            ("Store", 0.75, 0.5),
        )
    ]

    assert say(boxes(bar=bar), *lines).text.startswith(f"{genre} with the text “")


@pytest.mark.parametrize(("share", "genre"), [(0.9, "Graphic"), (0.3, "Logo")])
def test_a_button_is_no_logo(share: float, genre: str) -> None:
    opaque = Image.new("L", (600, 200), 0)
    opaque.paste(255, (0, 0, int(600 * share), 200))
    picture = Picture(Image.new("RGB", (600, 200), "orange"), "PNG", opaque=opaque)

    assert say(picture, line("LEARN MORE", 0.02, 0.3, 0.25, 0.3)).text.startswith(f"{genre} with the text “LEARN MORE”")


@pytest.mark.parametrize("text", ["Based of Jakub Steiner work", "Adwaita Icon Template", "Adwaita Folder Icons"])
def test_a_credit_or_a_name_of_many_files_is_no_description(text: str) -> None:
    caption = say(Picture(Image.new("RGB", (900, 500), "navy"), "PNG", notes=(Note("title", text),)))

    assert text not in caption.text
    assert caption.draft


def test_a_name_of_one_icon_is_a_title() -> None:
    caption = say(Picture(Image.new("RGB", (900, 500), "navy"), "PNG", notes=(Note("title", "Shopping cart icon"),)))

    assert "Shopping cart icon" in caption.text
