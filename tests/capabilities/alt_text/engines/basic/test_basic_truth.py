"""basic: what it does not say, and when its text is a draft."""

import drawn_pictures as drawn
import pytest
from drawn_pictures import Blind
from PIL import Image

from capabilities.alt_text.engines import Caption, CaptionRequest, Hints, Mode
from capabilities.alt_text.engines.basic.basic import Basic
from capabilities.alt_text.engines.basic.wording import LANGUAGES, wording_of
from workers.engines.ocr import TextLine
from workers.media.images.picture import Note, Picture


def line(text: str, left: float, top: float, width: float = 0.3, height: float = 0.1, **more: bool) -> TextLine:
    return TextLine(text, 0.99, left, top, left + width, top + height, **more)


def say(picture: Picture, *lines: TextLine, mode: Mode = "short", hints: Hints | None = None) -> Caption:
    (texts,) = Basic(Blind(*lines)).caption([CaptionRequest(picture, (mode,), "en", hints or Hints())])
    assert not isinstance(texts, Exception), texts
    return texts[mode]


def photo() -> Picture:
    return Picture(drawn.photo(), "JPEG")


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
    assert say(blue(), corner, line("Ten ideas", 0.3, 0.4, 0.4, 0.2)).text == "Picture with the text “Ten ideas”"


def test_lines_come_in_the_order_of_reading() -> None:
    caption = say(
        blue(),
        line("Why do programmers wear glasses?", 0.1, 0.2, 0.8, 0.1),
        line("Because they can't C#", 0.1, 0.6, 0.8, 0.2),
    )

    assert caption.text == "Picture with the text “Why do programmers wear glasses?” and “Because they can't C#”"
    assert (caption.draft, caption.confidence) == (False, pytest.approx(0.891))


def test_a_title_that_was_read_is_in_the_short_text_and_the_marks_of_axes_are_not() -> None:
    axis = [line(str(value), 0.02, 0.2 + place * 0.15, 0.04, 0.04) for place, value in enumerate((30, 20, 10, 0))]
    months = [line(month, 0.2 + place * 0.25, 0.9, 0.06, 0.04) for place, month in enumerate(("Jan", "Feb", "March"))]

    titled = say(blue(), line("Revenue by month", 0.3, 0.05, 0.4, 0.04), *axis, *months)

    assert titled.text == "Picture with the text “Revenue by month”"
    assert not titled.draft
    assert titled.confidence > 0.5
    assert say(blue(), *axis, line("Revenue by month", 0.3, 0.95, 0.4, 0.04)).confidence < 0.5  # it names the axis
    assert say(blue(), *axis, *months).draft


@pytest.mark.parametrize("text", ["OpenSaveCancel", "Xkcdrt", "rn7 gk"])
def test_glued_captions_and_letters_that_are_no_words_are_not_quoted(text: str) -> None:
    assert text not in say(blue(), line(text, 0.2, 0.4, 0.6, 0.2), mode="long").text


@pytest.mark.parametrize(
    ("text", "is_sure"),
    [
        ("Annual report", True),
        ("夏のセール", True),
        ("Coordinates", False),
        ("500 meters", False),
        ("Map of 50meter$", False),
        ("Height from 64.90 metres", False),
        ("February morning 10:50", False),
        ("Notes Fyldt", False),
    ],
)
def test_a_text_is_sure_if_it_is_of_several_known_words(text: str, is_sure: bool) -> None:
    assert (say(blue(), line(text, 0.2, 0.4, 0.6, 0.2)).confidence >= 0.5) is is_sure


def test_two_texts_that_hardly_fit_keep_their_quotation_marks() -> None:
    long = "Number of processing elements (cores, threads, processes)"
    caption = say(blue(), line("Execution time by all elements", 0.1, 0.1, 0.8), line(long, 0.1, 0.8, 0.8, 0.05))

    assert caption.text.count("“") == caption.text.count("”") > 0
    assert "Number" not in caption.text or f"“{long}”" in caption.text


def test_words_that_the_page_has_too_are_quoted_first() -> None:
    lines = [line(f"Some other words {place}", 0.1, 0.1 + place / 10, 0.4, 0.05) for place in range(6)]
    lines.append(line("Nordlicht tea", 0.1, 0.8, 0.4, 0.05))

    assert "Nordlicht" not in say(blue(), *lines).text
    assert "Nordlicht tea" in say(blue(), *lines, hints=Hints(page_title="Nordlicht, 100 g")).text


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


def test_the_authors_words_are_no_draft_but_a_title_is_one() -> None:
    for note in (Note("caption", "The harbour at dawn"), Note("title", "Hafen"), Note("alt_text", "Ein Hund", "de")):
        caption = say(drawn.picture_of(drawn.photo(), notes=[note]))
        assert caption.draft is (note.field == "title")
        assert (caption.confidence < 0.5) is caption.draft


@pytest.mark.parametrize(
    "text", ["EPS converted from http://aiga.org", "Name: A1 Size: 5338 K Camera: EOS", "Window class: marble"]
)
def test_a_note_with_an_address_or_values_is_about_the_file(text: str) -> None:
    assert say(drawn.picture_of(drawn.photo(), notes=[Note("caption", text)])).draft


def test_entries_of_a_menu_are_no_document() -> None:
    entries = (
        "Setup of the layers",
        "Place the modules",
        "Route the tracks",
        "Inspect the board",
        "Design rules",
        "Quit",
    )
    assert (
        "Document" not in say(blue(), *(line(one, 0.1, 0.1 + 0.1 * n, 0.6, 0.06) for n, one in enumerate(entries))).text
    )


def test_labels_of_a_window_and_misread_words_make_a_draft() -> None:
    labels = [
        line(text, 0.1, 0.1 + place / 10)
        for place, text in enumerate(("Open the file", "Save", "Copy", "Help", "Quit"))
    ]

    assert say(blue(), *labels).draft
    assert say(blue(), line("Your Compony Nome", 0.2, 0.4, 0.6, 0.2)).draft
    assert say(blue(), line("Nordlichtern", 0.2, 0.4, 0.6, 0.2)).draft
    assert not say(blue(), line("Nordlichtern", 0.2, 0.4, 0.6, 0.2), hints=Hints(page_title="Nordlichtern")).draft


@pytest.mark.parametrize(
    "text", ["Based of Jakub Steiner work", "Adwaita Icon Template", "Canon EOS 80D", "Image saved with GIMP"]
)
def test_a_credit_or_a_name_of_many_files_or_of_a_camera_is_no_description(text: str) -> None:
    caption = say(Picture(Image.new("RGB", (900, 500), "navy"), "PNG", notes=(Note("title", text),)))

    assert text not in caption.text
    assert caption.draft


def test_a_name_of_one_icon_is_a_title() -> None:
    caption = say(Picture(Image.new("RGB", (900, 500), "navy"), "PNG", notes=(Note("title", "Shopping cart icon"),)))

    assert "Shopping cart icon" in caption.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_all_words_and_a_name_for_each_colour(language: str) -> None:
    wording, english = wording_of(language), wording_of("en")

    assert len(set(wording.colours.values())) == len(english.colours)
    for name, template in english.words.items():
        assert [part in wording[name] for part in ("{noun}", "{quotes}", "{colours}", "{paper}")] == [
            part in template for part in ("{noun}", "{quotes}", "{colours}", "{paper}")
        ]
    assert Basic().offer() == {"languages": list(LANGUAGES)}


def test_a_caption_without_a_word_of_the_files_title_is_a_draft() -> None:
    caption = Note("caption", "The color of thy mud is easy to change")
    for title, is_draft in (("A green mug of tea", True), ("newMudColor", False), ("DSCF_0123", False)):
        said = say(drawn.picture_of(drawn.photo(), notes=[caption, Note("title", title)]))
        assert (said.draft, said.confidence < 0.5) == (is_draft, is_draft)
