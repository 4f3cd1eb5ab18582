"""Image files: ordinary ones by Pillow, and hostile ones byte by byte."""

import io
import struct
import zlib
from collections.abc import Sequence

import pillow_heif
from PIL import Image, ImageChops, PngImagePlugin

pillow_heif.register_heif_opener()

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "AVIF", "TIFF", "BMP", "HEIF")


def encode(image: Image.Image, form: str, **options: object) -> bytes:
    """Return an image as a file."""
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def corners(size: tuple[int, int] = (120, 80)) -> Image.Image:
    """Return a picture whose four corners tell how it is turned: red, green; blue, white."""
    image = Image.new("RGB", size)
    for at, colour in (((0, 0), "red"), ((1, 0), "lime"), ((0, 1), "blue"), ((1, 1), "white")):
        half = (size[0] // 2, size[1] // 2)
        image.paste(colour, (at[0] * half[0], at[1] * half[1], (at[0] + 1) * half[0], (at[1] + 1) * half[1]))
    return image


def noisy(size: tuple[int, int] = (96, 64)) -> Image.Image:
    """Return a picture that no format makes much smaller."""
    noise = [Image.effect_noise(size, 80) for _ in range(3)]
    return ImageChops.add(Image.merge("RGB", noise), corners(size), scale=2)


def with_xmp(form: str, packet: bytes, image: Image.Image | None = None) -> bytes:
    """Return a file that holds an XMP packet, where its format keeps it."""
    image = image or corners((16, 16))
    match form:
        case "PNG":
            text = PngImagePlugin.PngInfo()
            text.add_itxt("XML:com.adobe.xmp", packet.decode(), zip=True)
            return encode(image, form, pnginfo=text)
        case "TIFF":
            return encode(image, form, tiffinfo={700: packet})
    return encode(image, form, xmp=packet)


def xmp(inside: str) -> bytes:
    """Return a packet with something said of the picture."""
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:Iptc4xmpCore="http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/">'
        f'{inside}</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>\n\n  \0'
    ).encode()


def alternatives(name: str, **texts: str) -> str:
    """Return a property in several languages; `x_default` is the one for everybody."""
    listed = "".join(f'<rdf:li xml:lang="{tag.replace("_", "-")}">{text}</rdf:li>' for tag, text in texts.items())
    return f"<{name}><rdf:Alt>{listed}</rdf:Alt></{name}>"


def with_iptc(caption: bytes, *, is_utf_8: bool = True) -> bytes:
    """Return a JPEG with an IPTC caption in its Photoshop segment."""

    def dataset(record: int, number: int, value: bytes) -> bytes:
        return struct.pack(">BBBH", 0x1C, record, number, len(value)) + value

    block = (dataset(1, 90, b"\x1b%G") if is_utf_8 else b"") + dataset(2, 120, caption)
    resource = b"8BIM\x04\x04\0\0" + struct.pack(">I", len(block)) + block + b"\0" * (len(block) % 2)
    segment = b"Photoshop 3.0\0" + resource
    body = encode(corners((16, 16)), "JPEG")
    return body[:2] + b"\xff\xed" + struct.pack(">H", len(segment) + 2) + segment + body[2:]


def with_exif(form: str = "JPEG", image: Image.Image | None = None, **tags: object) -> bytes:
    """Return a file with EXIF: `description` and `orientation`."""
    exif = Image.Exif()
    for name, number in (("description", 270), ("orientation", 274)):
        if name in tags:
            exif[number] = tags[name]
    image = image or corners()
    # In a HEIC file a turn is a property of the picture, made from what the picture came with.
    image.info["exif"] = exif.tobytes()
    return encode(image, form, **({} if form == "HEIF" else {"exif": exif}))


def png(width: int, height: int, *, extra: bytes = b"", colour: int = 0, depth: int = 1) -> bytes:
    """Return a black PNG made without its pixels being in memory at once."""
    packer = zlib.compressobj(9 if depth == 1 else 1)
    row = bytes(1 + (width * depth * {0: 1, 2: 3, 6: 4}[colour] + 7) // 8)
    pixels = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def chunk(name: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG."""
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def gif(width: int, height: int, frames: int) -> bytes:
    """Return a GIF with so many frames of the whole size."""
    one = encode(Image.new("P", (width, height)), "GIF")
    start = one.index(b",")
    return one[:start] + one[start:-1] * frames + b";"


Tag = tuple[int, int, int, int]


def tiff(*changed: Tag, pixels: bytes = bytes(100), next_directory: int = 0) -> bytes:
    """Return a TIFF of 10 x 10 greys with tags (number, type, count, value) of one's own; type 0 leaves one out."""
    usual = [(256, 4, 1, 10), (257, 4, 1, 10), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, -1),
             (277, 3, 1, 1), (278, 4, 1, 10), (279, 4, 1, 100)]  # fmt: skip
    tags: Sequence[Tag] = sorted(
        tag for tag in ({one[0]: one for one in usual} | {one[0]: one for one in changed}).values() if tag[1]
    )
    at = 8 + 2 + 12 * len(tags) + 4
    listed = b"".join(
        struct.pack("<HHII", number, kind, count, at if value < 0 else value) for number, kind, count, value in tags
    )
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + listed + struct.pack("<I", next_directory) + pixels


def webp(width: int, height: int) -> bytes:
    """Return a WebP whose extended header claims a size that its picture does not have."""
    inner = encode(Image.new("RGB", (64, 64)), "WEBP")[12:]
    head = bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    body = b"WEBPVP8X" + struct.pack("<I", 10) + head + inner
    return b"RIFF" + struct.pack("<I", len(body)) + body


def claiming(form: str, real: tuple[int, int], claimed: tuple[int, int]) -> bytes:
    """Return an AVIF or HEIC file whose header claims another size."""
    body = encode(Image.new("RGB", real, "red"), form, **({"speed": 10} if form == "AVIF" else {}))
    at = body.index(b"ispe") + 8
    return body[:at] + struct.pack(">II", *claimed) + body[at + 8 :]


def many_scans(scans: int) -> bytes:
    """Return a progressive JPEG of 4 megapixels that is gone through again and again."""
    body = encode(Image.new("L", (2_000, 2_000)), "JPEG", progressive=True)
    last = body.rindex(b"\xff\xda")
    return body[:-2] + body[last:-2] * scans + body[-2:]
