"""Authors' notes in image files: in the right order and language, and never taken for code."""

import time

import pytest
from image_files import alternatives, chunk, corners, encode, png, with_exif, with_iptc, with_xmp, xmp
from PIL import PngImagePlugin

from workers.media.images.notes import clean, is_default
from workers.media.images.picture import Note
from workers.media.images.reading import read_picture


def notes(body: bytes) -> list[Note]:
    return list(read_picture(body, max_pixels=10**6, max_side=1_000).notes)


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "AVIF", "TIFF", "HEIF"])
def test_alt_text_is_found_wherever_a_format_keeps_its_xmp(form: str) -> None:
    packet = xmp(alternatives("Iptc4xmpCore:AltTextAccessibility", es="Una niña lee bajo un árbol."))
    assert notes(with_xmp(form, packet)) == [Note("alt_text", "Una niña lee bajo un árbol.", "es")]


def test_notes_come_in_the_order_in_which_they_are_believed() -> None:
    packet = xmp(
        alternatives("dc:title", x_default="Reading")
        + alternatives("dc:description", x_default="A description")
        + alternatives("Iptc4xmpCore:ExtDescrAccessibility", x_default="A long description")
        + alternatives("Iptc4xmpCore:AltTextAccessibility", x_default="An alt text", de="Ein Alternativtext")
    )
    iptc = with_iptc(b"An IPTC caption")
    at = iptc.index(b"Photoshop") - 4
    segment = iptc[at : at + 2 + int.from_bytes(iptc[at + 2 : at + 4], "big")]
    exif = with_exif(description="An EXIF description")
    marker = b"http://ns.adobe.com/xap/1.0/\0" + packet
    with_all = exif[:2] + segment + b"\xff\xe1" + (len(marker) + 2).to_bytes(2, "big") + marker + exif[2:]
    assert notes(with_all) == [
        Note("alt_text", "An alt text"),
        Note("alt_text", "Ein Alternativtext", "de"),
        Note("caption", "A long description"),
        Note("caption", "A description"),
        Note("caption", "An IPTC caption"),
        Note("caption", "An EXIF description"),
        Note("title", "Reading"),
    ]


def test_a_default_text_that_is_also_there_with_its_language_comes_once() -> None:
    packet = xmp(alternatives("dc:description", x_default="A dog", en_GB="A dog", fr="Un chien"))
    assert notes(with_xmp("JPEG", packet)) == [Note("caption", "A dog", "en-GB"), Note("caption", "Un chien", "fr")]


def test_texts_without_alternatives_and_as_attributes_are_taken() -> None:
    assert notes(with_xmp("JPEG", xmp("<dc:description>Plain</dc:description>"))) == [Note("caption", "Plain")]
    attribute = xmp("").replace(b'rdf:about=""', b'rdf:about="" dc:title="In an attribute"')
    assert notes(with_xmp("JPEG", attribute)) == [Note("title", "In an attribute")]


def test_what_is_said_of_a_pictures_parts_is_not_said_of_the_picture() -> None:
    part = f"<rdf:Description>{alternatives('dc:description', x_default='A part')}</rdf:Description>"
    assert notes(with_xmp("JPEG", xmp(f"<dc:source>{part}</dc:source>"))) == []


@pytest.mark.parametrize(
    "packet",
    [
        b"", b"<", b"not xml", b"<x/>", xmp("")[:-40], xmp("<dc:title>"), b"\xff\xfe" + bytes(50),
        xmp("<a>" * 60_000)[:60_000],
        b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + xmp("<dc:title>&b;</dc:title>"),
        b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + xmp("<dc:title>&a;</dc:title>"),
        b'<?xml version="1.0" encoding="nonsense"?><x/>', b'<?xml version="1.0" encoding="idna"?><x/>',
    ],
    ids=lambda packet: ascii(packet[:30]) + str(len(packet)),
)  # fmt: skip
def test_a_packet_that_is_broken_or_dangerous_says_nothing(packet: bytes) -> None:
    assert notes(with_xmp("WEBP", packet)) == []


def test_a_packet_of_tens_of_thousands_of_notes_costs_no_time() -> None:
    titles = {f"a{place}": f"A garden of {place} trees" for place in range(20_000)}
    body = with_xmp("WEBP", xmp(alternatives("dc:title", **titles)))
    began = time.process_time()
    assert len(notes(body)) == 20
    assert time.process_time() - began < 2


def test_many_languages_are_cut_off() -> None:
    titles = {f"a{first}{second}": f"Title {first}{second}" for first in "abcdefgh" for second in "abcdefgh"}
    assert len(notes(with_xmp("WEBP", xmp(alternatives("dc:title", **titles))))) == 20


@pytest.mark.parametrize(
    ("caption", "is_utf_8", "expected"),
    [("Café".encode(), True, "Café"), ("Café".encode(), False, "Café"), ("Café".encode("cp1252"), False, "Café")],
)
def test_iptc_captions_are_read_in_both_character_sets(caption: bytes, is_utf_8: bool, expected: str) -> None:
    assert notes(with_iptc(caption, is_utf_8=is_utf_8)) == [Note("caption", expected)]


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF", "HEIF"])
def test_exif_descriptions_are_read_in_utf_8_too(form: str) -> None:
    for written in ("A red boat", "Un été"):
        assert notes(with_exif(form, description=written.encode())) == [Note("caption", written)]


def test_a_png_may_have_a_description_and_a_title() -> None:
    text = PngImagePlugin.PngInfo()
    text.add_text("Title", "A boat")
    text.add_itxt("Description", "A red boat on a lake")
    found = notes(encode(corners(), "PNG", pnginfo=text))
    assert found == [Note("caption", "A red boat on a lake"), Note("title", "A boat")]


@pytest.mark.parametrize(
    "text",
    [
        "OLYMPUS DIGITAL CAMERA         ", "SAMSUNG", "SONY DSC", "MINOLTA DIGITAL CAMERA", "dav", "Untitled",
        "PNG", "mimetypes",
        "IMG_2041.JPG", "DSC00017-2", "20240311_101112", "PXL_20240101_101112345", "sunset.jpg", "https://example.com/xy",
        "12345", "...", "", "-", "x", "Created with GIMP", "Screenshot", "image", "Image.", "DCIM\\100MEDIA",
        "IMG_2041", "P1010001", "Screenshot 2024-01-01 at 10.11.12", "KODAK Digital Still Camera",
    ],
)  # fmt: skip
def test_what_cameras_and_programs_write_says_nothing(text: str) -> None:
    assert is_default(clean(text))
    assert notes(with_exif(description=text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Sunset", "Samsung phone on a desk", "Dawn over Hanoi, 2024", "犬", "Chart of sales 2019-2024",
        "Image of a dog", "Ottawa", "Screenshot of the settings", "A man repairs his old digital camera",
    ],
)  # fmt: skip
def test_what_people_write_is_kept(text: str) -> None:
    assert not is_default(clean(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  two\r\n\tlines\x00\x07 ", "two lines"), ("<b>bold</b> &amp; brave", "bold & brave"),
        ("A<script>alert(1)</script> dog", "A dog"), ("A dog<style>b{", "A dog"),
        ("&lt;img src=x onerror=alert(1)&gt; x", "x"),
        ("ab\u202ecd\u2066ef\ufeff\u200b\ue000\ud800", "abcdef"), ("👩\u200d🚀", "👩\u200d🚀"),
        ("2 < 3 and 5 > 4", "2 < 3 and 5 > 4"),
    ],
    ids=ascii,
)  # fmt: skip
def test_texts_are_one_clean_line(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_exif_that_is_broken_costs_the_picture_nothing() -> None:
    for exif in (b"", b"II*\0", b"Exif\0\0MM\0*\xff\xff\xff\xff", b"II*\0\x08\0\0\0\xff\xff", bytes(50)):
        body = png(10, 10, extra=chunk(b"eXIf", exif))
        assert notes(body) == []


@pytest.mark.parametrize(
    "text",
    [
        "alert(document.cookie)",
        "alert('x'); steal()",
        "function run() { return document.cookie; }",
        "body{color:red}",
        '{"prompt": "a dog", "seed": 4}',
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    ],
)
def test_a_program_is_no_description(text: str) -> None:
    assert notes(with_exif(description=text)) == []


@pytest.mark.parametrize("text", ["Two birds (or three)", "Bird(s) on a wire; rain", "E = mc², on a blackboard"])
def test_signs_that_people_write_leave_a_description_what_it_is(text: str) -> None:
    assert [note.text for note in notes(with_exif(description=text.encode()))] == [text]


def test_deep_nesting_ends() -> None:
    assert notes(with_xmp("WEBP", xmp("<dc:x>" * 100_000 + "</dc:x>" * 100_000))) == []
