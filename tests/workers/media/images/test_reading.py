"""Image files of all kinds, made one kind of picture."""

import random
from contextlib import suppress

import pytest
from image_files import FORMATS, claiming, corners, encode, noisy, png, tiff, with_exif
from PIL import Image, ImageCms

from pipeline.downloads.images import ImageTooLarge, ImageUndecodable
from workers.media.images.picture import Picture
from workers.media.images.reading import read_picture

RED, LIME, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def read(body: bytes, *, max_pixels: int = 40_000_000, max_side: int = 16_000) -> Picture:
    return read_picture(body, max_pixels=max_pixels, max_side=max_side)


def colours(picture: Picture) -> list[tuple[int, ...]]:
    """Return the colours of the corners: left and right at the top, then at the bottom."""
    right, bottom = (side - 8 for side in picture.image.size)
    return [picture.image.getpixel(at) for at in ((7, 7), (right, 7), (7, bottom), (right, bottom))]


def is_near(found: list[tuple[int, ...]], expected: list[tuple[int, ...]], by: int = 14) -> bool:
    return all(
        abs(a - b) <= by for one, other in zip(found, expected, strict=True) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_read_upright_and_in_its_colours(form: str) -> None:
    body = encode(corners(), form)
    picture = read(body)
    assert picture.format == {"HEIF": "HEIC"}.get(form, form)
    assert (picture.image.mode, picture.image.size) == ("RGB", (120, 80))
    assert is_near(colours(picture), [RED, LIME, BLUE, WHITE])
    assert not picture.is_animated
    assert picture.opaque is None
    assert picture.notes == []


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF", "HEIF"])
@pytest.mark.parametrize(
    ("orientation", "expected"),
    [
        (1, [RED, LIME, BLUE, WHITE]), (2, [LIME, RED, WHITE, BLUE]), (3, [WHITE, BLUE, LIME, RED]),
        (4, [BLUE, WHITE, RED, LIME]), (5, [RED, BLUE, LIME, WHITE]), (6, [BLUE, RED, WHITE, LIME]),
        (7, [WHITE, LIME, BLUE, RED]), (8, [LIME, WHITE, RED, BLUE]),
    ],
)  # fmt: skip
def test_pictures_are_turned_as_exif_says(form: str, orientation: int, expected: list[tuple[int, ...]]) -> None:
    picture = read(with_exif(form, orientation=orientation))
    assert picture.image.size == ((80, 120) if orientation in (5, 6, 7, 8) else (120, 80))
    assert is_near(colours(picture), expected)


SMALL, LARGE = (120, 80), (3_400, 3_600)


@pytest.mark.parametrize(
    ("mode", "size"),
    [
        *(
            (mode, SMALL)
            for mode in ["1", "L", "LA", "P", "PA", "RGBA", "CMYK", "YCbCr", "I;16", "I;16B", "I", "F", "LAB"]
        ),
        *((mode, LARGE) for mode in ("P", "RGBA", "I;16")),
    ],
)
def test_every_mode_of_a_tiff_becomes_rgb(mode: str, size: tuple[int, int]) -> None:
    image = drawn(mode, size)
    picture = read(encode(image, "TIFF", compression="tiff_deflate"))
    assert picture.image.mode == "RGB"
    assert picture.image.size == (SMALL if size == SMALL else (1_700, 1_800))
    if image.mode in ("1", "L", "LA", "I;16", "I;16B", "I", "F"):
        top, bottom = (picture.image.getpixel((9, row))[0] for row in (0, picture.image.height - 1))
        assert top <= 4
        assert bottom >= 251
    else:
        assert is_near(colours(picture), [RED, LIME, BLUE, WHITE], by=24)


def drawn(mode: str, size: tuple[int, int]) -> Image.Image:
    """Return greys from black to white for modes without colours, and coloured corners for the others."""
    grey = Image.linear_gradient("L").resize(size)
    match mode:
        case "1" | "L" | "LA":
            return grey.convert(mode)
        case "I;16" | "I;16B":
            return grey.convert("I").point(lambda shade: shade * 257).convert(mode)
        case "I" | "F":
            return grey.convert(mode).point(lambda shade: shade * 900)
        case "LAB":
            spaces = ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB")
            return ImageCms.profileToProfile(corners(size), *spaces, outputMode=mode)
    return corners(size).convert(mode)


@pytest.mark.parametrize("form", ["PNG", "WEBP", "TIFF", "AVIF"])
def test_what_is_transparent_is_white(form: str) -> None:
    image = corners().convert("RGBA")
    image.paste((10, 20, 30, 0), (0, 0, 60, 80))
    image.paste((0, 0, 0, 128), (60, 40, 120, 80))
    picture = read(encode(image, form, **({"lossless": True} if form == "WEBP" else {})))
    assert picture.opaque is not None
    assert is_near(colours(picture), [WHITE, LIME, WHITE, (127, 127, 127)])


@pytest.mark.parametrize(("drawn", "ground"), [("black", 255), ("red", 255), ("white", 56), ("#e8e8e8", 56)])
def test_what_is_transparent_lies_on_a_ground_that_the_drawing_stands_out_from(drawn: str, ground: int) -> None:
    image = Image.new("RGBA", (80, 40), (0, 0, 0, 0))
    image.paste(drawn, (40, 0, 80, 40))

    picture = read(encode(image, "PNG"))

    assert picture.image.getpixel((5, 5)) == (ground, ground, ground)
    assert picture.opaque.getbbox() == (40, 0, 80, 40)


def test_palettes_and_single_colours_may_be_transparent_too() -> None:
    palette = corners().convert("P", palette=Image.Palette.ADAPTIVE)
    for options in ({"transparency": palette.getpixel((7, 7))}, {"transparency": bytes([0] * 256)}):
        assert read(encode(palette, "PNG", **options)).opaque is not None
    assert colours(read(encode(palette, "GIF", transparency=palette.getpixel((7, 7)))))[0] == WHITE
    assert colours(read(encode(corners(), "PNG", transparency=BLUE)))[2] == WHITE


@pytest.mark.parametrize("form", ["GIF", "WEBP", "PNG", "AVIF"])
def test_of_a_moving_picture_the_first_frame_is_taken(form: str) -> None:
    others = [Image.new("RGB", (120, 80), colour) for colour in ("black", "purple")]
    picture = read(encode(corners(), form, save_all=True, append_images=others))
    assert picture.is_animated
    assert is_near(colours(picture), [RED, LIME, BLUE, WHITE])


@pytest.mark.parametrize("form", ["TIFF", "HEIF"])
def test_several_pages_are_no_movement(form: str) -> None:
    pages = [Image.new("RGB", (120, 80), colour) for colour in ("black", "purple")]
    picture = read(encode(corners(), form, save_all=True, append_images=pages))
    assert not picture.is_animated
    assert is_near(colours(picture), [RED, LIME, BLUE, WHITE])


def test_a_photo_with_a_second_one_for_the_other_eye_is_a_jpeg() -> None:
    picture = read(encode(corners(), "MPO", save_all=True, append_images=[corners().rotate(180)]))
    assert (picture.format, picture.is_animated) == ("JPEG", False)


def test_a_photo_whose_list_of_others_is_broken_is_still_read() -> None:
    body = encode(corners(), "MPO", save_all=True, append_images=[corners().rotate(180)])
    at = body.index(b"MPF\0")
    broken = body[: at + 4] + b"XX" + body[at + 6 :]
    assert is_near(colours(read(broken)), [RED, LIME, BLUE, WHITE])


def test_profiles_are_followed_and_broken_ones_are_not() -> None:
    lab = ImageCms.createProfile("LAB")
    swapped = ImageCms.ImageCmsProfile(lab).tobytes()  # of another space than the picture's
    for profile in (b"", b"nonsense" * 99, swapped, bytes(5 * 2**20)):
        assert is_near(colours(read(encode(corners(), "TIFF", icc_profile=profile))), [RED, LIME, BLUE, WHITE])
    linear = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes().replace(b"sRGB", b"else")
    assert is_near(colours(read(encode(corners(), "JPEG", icc_profile=linear))), [RED, LIME, BLUE, WHITE])


def test_large_pictures_are_made_smaller_and_keep_their_shape() -> None:
    for form, size, expected in (("JPEG", (6_000, 4_000), (3_000, 2_000)), ("GIF", (3_400, 3_601), (1_700, 1_801))):
        picture = read(encode(corners(size), form))
        assert picture.image.size == expected
        assert is_near(colours(picture), [RED, LIME, BLUE, WHITE])


def test_limits_are_what_the_settings_say() -> None:
    assert read(png(100, 100), max_pixels=10_000, max_side=100).image.size == (100, 100)
    for limits in ({"max_pixels": 9_999}, {"max_side": 99}):
        with pytest.raises(ImageTooLarge, match="100 x 100"):
            read(png(100, 100), **limits)


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"", "empty"), (b"x", "not an image"), (bytes(1_000), "not an image"),
        (b'<?xml version="1.0"?><!-- x --><svg xmlns="http://www.w3.org/2000/svg"/>', "SVG drawing, which has no"),
        (b"\xef\xbb\xbf\n <SVG>", "SVG"), (b"<!DOCTYPE html><html>", "web page"), (b"\n<html lang=en>", "web page"),
        (b'{"error": "no"}', "text"), (b"%PDF-1.7", "PDF"), (b"%!PS-Adobe-3.0 EPSF-3.0", "PostScript"),
        (b"\xc5\xd0\xd3\xc6" + bytes(30), "PostScript"), (b"8BPS" + bytes(30), "Photoshop"), (b"\xff\x0a", "JPEG XL"),
        (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000"), (b"\0\0\1\0\1\0", "icon"), (b"\0\0\0\x18ftypmp42", "video"),
        (b"PK\3\4", "ZIP"), (b"\x1f\x8b\x08", "gzip"), (b"P6 1 1 255 aaa", "not an image"),
        (b"  " + encode(corners(), "PNG"), "not an image"), (b"#!/bin/sh\n" + encode(corners(), "GIF"), "not an image"),
    ],
    ids=lambda value: ascii(value)[:40],
)  # fmt: skip
def test_what_is_no_picture_is_told_by_name(body: bytes, what: str) -> None:
    with pytest.raises(ImageUndecodable, match=what) as caught:
        read(body)
    assert "JPEG, PNG, WebP, GIF, AVIF, TIFF, BMP or HEIC are accepted" in caught.value.message


@pytest.mark.parametrize("form", FORMATS)
def test_first_bytes_alone_and_files_that_are_cut_off_are_damaged(form: str) -> None:
    body = encode(noisy(), form)
    for length in (12, 16, 32, len(body) // 4, len(body) // 2, len(body) * 9 // 10):
        with pytest.raises(ImageUndecodable):
            read(body[:length])


@pytest.mark.parametrize("form", FORMATS)
def test_damage_never_raises_anything_but_a_reason(form: str) -> None:
    body, chance = encode(noisy((40, 30)), form), random.Random(form)
    for _ in range(60):
        damaged = bytearray(body)
        for _ in range(chance.randint(1, 12)):
            # Most of it near the start, where sizes, offsets and counts are.
            damaged[int(len(body) * chance.random() ** 3)] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
        with suppress(ImageUndecodable, ImageTooLarge):
            read(bytes(damaged))


@pytest.mark.parametrize(
    "body",
    [
        tiff((273, 4, 2**31, -1), (279, 4, 2**31, 100)), tiff((277, 3, 1, 65_535)), tiff((258, 3, 1, 7)),
        tiff((256, 4, 1, 0)), tiff((259, 3, 1, 34_712)), tiff((273, 4, 1, 2**32 - 1)), tiff((259, 3, 1, 5)),
        tiff((257, 4, 2, 8)), claiming("HEIF", (64, 64), (640, 640)),
    ],
)  # fmt: skip
def test_tags_that_lie_are_damage(body: bytes) -> None:
    with pytest.raises(ImageUndecodable):
        read(body)


def test_directories_that_lead_to_themselves_end() -> None:
    assert read(tiff(next_directory=8)).image.size == (10, 10)
