"""Seeds: small good files of every format that is taken, made by Pillow and ffmpeg; the same in each run."""

import io
import tempfile
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path

import numpy as np
import pillow_heif
from PIL import Image, ImageCms, PngImagePlugin

from pipeline.settings import Settings
from workers.media.audio.ffmpeg import find_ffmpeg

RATE = 22_050

XMP = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    b'<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt>'
    b'<rdf:li xml:lang="en">A title of the picture</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF>'
    b"</x:xmpmeta>"
)

#: Endings of sound files, the options of their encoder, and what it is to write.
SOUNDS: Mapping[str, tuple[str, ...]] = {
    "mp3": (), "mp3 with a tag": ("-id3v2_version", "4", "-metadata", "title=A title"), "wav": (), "ogg": (),
    "opus": (),
    "24 bit.wav": ("-c:a", "pcm_s24le"), "float.wav": ("-c:a", "pcm_f32le"), "adpcm.wav": ("-c:a", "adpcm_ms"),
    "alaw.wav": ("-c:a", "pcm_alaw"), "flac": (), "ogg flac.ogg": ("-c:a", "flac"),
    "m4a": (), "mp4": ("-c:a", "aac"), "fragments.mp4": ("-movflags", "frag_keyframe+empty_moov"),
    "mov": ("-c:a", "alac"), "aac": (), "webm": (), "vorbis.webm": ("-c:a", "libvorbis"), "mkv": (),
    "flac.mkv": ("-c:a", "flac"), "aiff": (), "wma": (), "ac3": (), "eac3": (), "caf": (), "alac.caf": ("-c:a", "alac"),
    "w64": (), "au": (), "wv": (), "mp2": (), "ts": ("-c:a", "mp2"), "aac.ts": ("-c:a", "aac"),
    "m2ts": ("-c:a", "ac3"), "flv": ("-c:a", "libmp3lame"), "mpg": (), "vob": ("-c:a", "ac3"),
    "avi": ("-c:a", "libmp3lame"), "amr": ("-ar", "8000", "-ac", "1"),
    "dts.mkv": ("-c:a", "dca", "-strict", "-2", "-ar", "48000"), "nellymoser.flv": ("-c:a", "nellymoser"),
    "truehd.mkv": ("-c:a", "truehd", "-strict", "-2", "-ar", "48000"),
}  # fmt: skip


@cache
def image_seeds() -> Mapping[str, bytes]:
    """Return small pictures by the name of their format and form."""
    pillow_heif.register_heif_opener()
    colour, grey = _picture(), _picture().convert("L")
    clear = colour.convert("RGBA")
    clear.putalpha(Image.linear_gradient("L").resize(colour.size))
    frames = [colour.rotate(angle) for angle in (90, 180)]
    moving = {"save_all": True, "append_images": frames, "duration": 100}
    exif = Image.Exif()
    exif[270], exif[274] = "A description", 6
    exif.get_ifd(0x8769)[0x829A] = 0.01
    text = PngImagePlugin.PngInfo()
    text.add_text("Title", "A title")
    text.add_itxt("XML:com.adobe.xmp", XMP.decode(), zip=True)
    dated = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    profile = dated[:24] + bytes(12) + dated[36:]
    made = {
        "JPEG": _file(colour, "JPEG"),
        "JPEG with notes": _file(colour, "JPEG", exif=exif, xmp=XMP, icc_profile=profile, comment=b"A comment"),
        "JPEG, progressive": _file(colour, "JPEG", progressive=True, quality=90, subsampling=0),
        "JPEG, grey": _file(grey, "JPEG"),
        "JPEG, CMYK": _file(colour.convert("CMYK"), "JPEG"),
        "JPEG with restarts": _file(colour, "JPEG", restart_marker_rows=1),
        "JPEG of two pictures": _file(colour, "MPO", save_all=True, append_images=[colour.rotate(90)]),
        "PNG": _file(colour, "PNG"),
        "PNG with notes": _file(clear, "PNG", pnginfo=text, exif=exif, icc_profile=profile),
        "PNG of a palette": _file(colour.convert("P"), "PNG", transparency=0),
        "PNG of 16 bits": _file(Image.fromarray(np.asarray(grey).astype(np.uint16) * 257), "PNG"),
        "PNG of 1 bit": _file(grey.convert("1"), "PNG"),
        "PNG, moving": _file(colour, "PNG", **moving),
        "GIF": _file(colour.convert("P"), "GIF", interlace=1),
        "GIF, moving": _file(colour, "GIF", loop=0, transparency=0, comment=b"A comment", **moving),
        "WebP": _file(colour, "WEBP"),
        "WebP, lossless": _file(clear, "WEBP", lossless=True, exif=exif, xmp=XMP, icc_profile=profile),
        "WebP, moving": _file(clear, "WEBP", **moving),
        "AVIF": _file(clear, "AVIF", speed=10, exif=exif, xmp=XMP),
        "AVIF, moving": _undated(_file(colour, "AVIF", speed=10, **moving)),
        "HEIC": _file(colour, "HEIF", quality=50),
        "HEIC with notes": _file(clear, "HEIF", xmp=XMP, exif=exif.tobytes()),
        "TIFF": _file(colour, "TIFF"),
        "TIFF, LZW": _file(clear, "TIFF", compression="tiff_lzw", exif=exif),
        "TIFF, deflated": _file(colour, "TIFF", compression="tiff_adobe_deflate", tiffinfo={700: XMP, 270: "A text"}),
        "TIFF of JPEG": _file(colour, "TIFF", compression="jpeg"),
        "TIFF of a fax": _file(grey.convert("1"), "TIFF", compression="group4"),
        "TIFF of floats": _file(grey.convert("F"), "TIFF"),
        "TIFF of pages": _file(
            colour, "TIFF", save_all=True, append_images=[colour.rotate(90)], compression="tiff_lzw"
        ),
        "BMP": _file(colour, "BMP"),
        "BMP of a palette": _file(colour.convert("P"), "BMP"),
        "BMP with alpha": _file(clear, "BMP"),
    }
    return made | {"SVG": b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'}


def sound_seeds(*names: str) -> dict[str, bytes]:
    """Return sounds of 0.4 s by the ending of their file: those named, or all of SOUNDS. Each must be made."""
    ffmpeg = find_ffmpeg(Settings())
    time = np.arange(RATE * 2 // 5) / RATE
    tone = np.rint(10_000 * np.sin(2 * np.pi * (300 + 400 * time) * time)).astype("<i2").tobytes()
    made = {}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as source:
        source.write(tone)
        for name in names or SOUNDS:
            source.seek(0)
            path = Path(folder) / f"sound.{name.split(' ')[0] if '.' not in name else name.split('.')[-1]}"
            raw = ["-y", "-f", "s16le", "-ar", str(RATE), "-ac", "1", "-i", "fd:"]
            exact = ["-fflags", "+bitexact", "-flags:a", "+bitexact"]
            with ffmpeg.start(
                [*raw, *exact, *SOUNDS[name], str(path)], stdin=source, stdout=-3, time_limit=timedelta(seconds=60)
            ) as run:
                assert run.wait(), f"ffmpeg can't write {name}"
            made[name] = path.read_bytes()
    return made


def _picture() -> Image.Image:
    """Return 48 x 40 pixels with edges, a gradient and noise that is always the same."""
    noise = np.random.default_rng(7).integers(0, 60, (40, 48, 3), np.uint8)
    noise[:20, :24] += np.linspace(0, 190, 24, dtype=np.uint8)[None, :, None]
    noise[25:, 30:, 0] += 150
    return Image.fromarray(noise)


def _undated(body: bytes) -> bytes:
    """Return a film without the times at which it was made: two of 64 bits, behind a box's name, version and flags."""
    for name in (b"mvhd", b"tkhd", b"mdhd"):
        before, found, after = body.partition(name)
        body = before + found + after[:4] + bytes(16) + after[20:] if found else body
    return body


def _file(image: Image.Image, form: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.copy().save(file, form, **options)  # a copy: the image keeps how it was saved last
    return file.getvalue()
