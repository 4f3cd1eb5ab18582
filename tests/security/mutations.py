"""Mutations: a good file made a hostile one, by a name and a random generator alone."""

import random
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence

#: No mutated file is larger.
MOST_BYTES = 2**21

#: Values to write over lengths, sizes and counts, with their width in bytes.
EXTREMES = (
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    2**24 - 1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    2**64 - 1,
)

#: Where formats declare how much there is: what stands before it, its distance from there, and how it is packed; widths
#: and heights in pixels, lengths in samples, frames or units of time.
DECLARED: Sequence[tuple[bytes, int, str]] = (
    (b"IHDR", 4, ">II"), (b"acTL", 4, ">I"), (b"\xff\xc0", 5, ">HH"), (b"\xff\xc2", 5, ">HH"),
    (b"GIF89a", 6, "<HH"), (b"GIF87a", 6, "<HH"), (b"\x00\x2c", 6, "<HH"),
    (b"VP8X", 12, "<IH"), (b"VP8L", 9, "<I"), (b"\x9d\x01\x2a", 3, "<HH"), (b"ANMF", 8, "<IIH"),
    (b"ispe", 8, ">II"), (b"BM", 18, "<ii"), (b"BM", 28, "<H"), (b"BM", 46, "<I"),
    (b"\x00\x01\x04\x00", 4, "<I"), (b"\x01\x01\x04\x00", 4, "<I"), (b"\x00\x01\x03\x00", 4, "<I"),
    (b"\x01\x01\x03\x00", 4, "<I"), (b"\x16\x01\x03\x00", 4, "<I"), (b"\x11\x01\x04\x00", 0, "<HHI"),
    (b"fmt ", 10, "<HII"), (b"fmt ", 20, "<HH"), (b"data", 4, "<I"), (b"fact", 8, "<I"), (b"ds64", 8, "<QQQ"),
    (b"fLaC", 8, ">HH"), (b"fLaC", 18, ">QI"), (b"mvhd", 16, ">II"), (b"mdhd", 16, ">II"), (b"stts", 8, ">III"),
    (b"stsz", 8, ">II"), (b"stsc", 8, ">II"), (b"stco", 8, ">II"), (b"mp4a", 20, ">HHII"), (b"esds", 4, ">BB"),
    (b"Info", 8, ">II"), (b"Xing", 8, ">II"), (b"OggS", 6, "<Q"), (b"OpusHead", 9, "<BHI"), (b"vorbis", 5, "<BI"),
    (b"\x44\x89", 2, ">Q"), (b"\x2a\xd7\xb1", 3, ">I"), (b"\xb5", 2, ">Q"), (b"COMM", 8, ">HIH"),
    (b"desc", 12, ">QIII"), (b"wvpk", 12, "<III"), (b".snd", 4, ">IIIII"), (b"avih", 8, "<IIII"),
    (b"strh", 40, "<IIII"),
)  # fmt: skip


def flipped_bits(choose: random.Random, body: bytearray, _: Sequence[bytes]) -> bytes:
    """Some bits anywhere."""
    for _ in range(choose.choice((1, 2, 4, 16, 64))):
        body[choose.randrange(len(body))] ^= 1 << choose.randrange(8)
    return bytes(body)


def noisy_header(choose: random.Random, body: bytearray, _: Sequence[bytes]) -> bytes:
    """Some bytes near the beginning, but for the first four, by which the format is known."""
    for _ in range(choose.randint(1, 24)):
        body[choose.randrange(min(4, len(body) - 1), min(len(body), 600))] = choose.randrange(256)
    return bytes(body)


def cut_off(choose: random.Random, body: bytearray, _: Sequence[bytes]) -> bytes:
    """A file after a broken transfer."""
    return bytes(body[: choose.randrange(1, len(body))])


def extreme_numbers(choose: random.Random, body: bytearray, _: Sequence[bytes]) -> bytes:
    """Extreme numbers of any width at any place, the beginning preferred."""
    for _ in range(choose.randint(1, 6)):
        width = choose.choice((1, 2, 4, 8))
        at = choose.randrange(choose.choice((64, 512, len(body))))
        number = choose.choice(EXTREMES) & (1 << 8 * width) - 1
        body[at : at + width] = number.to_bytes(width, choose.choice(("big", "little")))
    return bytes(body)


def extreme_lengths(choose: random.Random, body: bytearray, _: Sequence[bytes]) -> bytes:
    """Extreme numbers where the lengths of chunks, boxes and segments are."""
    places = _lengths(body)
    for at, width, order in choose.sample(places, min(len(places), choose.choice((1, 1, 2, 8)))):
        old = int.from_bytes(body[at : at + width], order)
        near = (old - 1, old + 1, old * 2, old // 2, old - 8, old + 8)
        number = choose.choice((*EXTREMES, *near)) & (1 << 8 * width) - 1
        body[at : at + width] = number.to_bytes(width, order)
    return bytes(body)


def huge_claims(choose: random.Random, body: bytearray, _: Sequence[bytes]) -> bytes:
    """Declared widths, heights, rates, counts and durations, as large as their fields, or nothing."""
    found = [
        (at + distance, form)
        for needle, distance, form in DECLARED
        if (at := body.find(needle)) >= 0 and at + distance + struct.calcsize(form) <= len(body)
    ]
    for at, form in choose.sample(found, min(len(found), choose.choice((1, 1, 2, 4)))):
        sizes = {"B": 8, "H": 16, "I": 32, "i": 31, "Q": 64}
        numbers = [
            choose.choice((0, 1, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits // 2 + 2))) for bits in _widths(form, sizes)
        ]
        old = struct.unpack_from(form, body, at)
        kept = [new if choose.random() < 0.7 else was for new, was in zip(numbers, old, strict=True)]
        struct.pack_into(form, body, at, *kept)
    return bytes(body) if found else extreme_lengths(choose, body, ())


def spliced(choose: random.Random, body: bytearray, others: Sequence[bytes]) -> bytes:
    """The beginning of one file, and the end of another."""
    other = choose.choice(others)
    return bytes(body[: choose.randrange(1, len(body))]) + other[choose.randrange(len(other)) :]


def crossed(choose: random.Random, body: bytearray, others: Sequence[bytes]) -> bytes:
    """The header of one format, and the body of another."""
    other = choose.choice(others)
    length = choose.choice((4, 8, 12, 16, 32, 64, 128, 256))
    return bytes(body[:length]) + other[choose.choice((0, 12, length)) :]


def repeated(choose: random.Random, body: bytearray, _: Sequence[bytes]) -> bytes:
    """A chunk, or any part, many times over."""
    start = (
        choose.choice([at for at, *_ in _lengths(body)] or [0])
        if choose.random() < 0.5
        else choose.randrange(len(body))
    )
    end = min(len(body), start + choose.choice((1, 4, 16, 64, 256, 4_096, 65_536)))
    times = min(choose.choice((2, 16, 256, 4_096)), MOST_BYTES // (end - start))
    return bytes(body[:start]) + bytes(body[start:end]) * times + bytes(body[end:])


def left_out(choose: random.Random, body: bytearray, _: Sequence[bytes]) -> bytes:
    """A part is missing."""
    start = choose.randrange(len(body))
    return bytes(body[:start] + body[start + choose.choice((1, 2, 4, 16, 256, 4_096)) :]) or b"\0"


def overwritten(choose: random.Random, body: bytearray, _: Sequence[bytes]) -> bytes:
    """A part is noise, or all one byte."""
    start, length = choose.randrange(len(body)), choose.choice((4, 16, 64, 512, 8_192))
    length = min(length, len(body) - start)
    body[start : start + length] = choose.choice((bytes(length), b"\xff" * length, choose.randbytes(length)))
    return bytes(body)


def exchanged(choose: random.Random, body: bytearray, _: Sequence[bytes]) -> bytes:
    """Parts in another order."""
    first, second, third = sorted(choose.randrange(len(body)) for _ in range(3))
    return bytes(body[:first] + body[second:third] + body[first:second] + body[third:])


def nested(choose: random.Random, body: bytearray, others: Sequence[bytes]) -> bytes:
    """A whole file within another."""
    at = choose.choice([place for place, *_ in _lengths(body)] or [len(body) // 2])
    return bytes(body[:at]) + choose.choice(others) + bytes(body[at:])


Mutation = Callable[[random.Random, bytearray, Sequence[bytes]], bytes]

MUTATIONS: Mapping[str, Mutation] = {
    mutation.__name__.replace("_", " "): mutation
    for mutation in (
        flipped_bits, noisy_header, cut_off, extreme_numbers, extreme_lengths, huge_claims, spliced, crossed, repeated,
        left_out, overwritten, exchanged, nested,
    )
}  # fmt: skip


def mutated(choose: random.Random, mutation: str, body: bytes, others: Sequence[bytes]) -> bytes:
    """Return a file with a mutation, every tenth with a second one; checksums are mended in one of two files.

    A decoder that looks at checksums first would otherwise never see what is behind them."""
    made = MUTATIONS[mutation](choose, bytearray(body), others)[:MOST_BYTES]
    if choose.random() < 0.1 and made:
        made = MUTATIONS[choose.choice(list(MUTATIONS))](choose, bytearray(made), others)[:MOST_BYTES]
    return with_checksums(made) if choose.random() < 0.5 else made


def with_checksums(body: bytes) -> bytes:
    """Return a file with right checksums of a PNG's chunks and of Ogg's pages, as far as these can be followed."""
    if body.startswith(b"\x89PNG"):
        return _mended_png(bytearray(body))
    return _mended_ogg(bytearray(body)) if body.startswith(b"OggS") else body


def _mended_png(body: bytearray) -> bytes:
    at = 8
    while at + 12 <= len(body):
        end = at + 8 + int.from_bytes(body[at : at + 4], "big")
        if end + 4 > len(body):
            break
        struct.pack_into(">I", body, end, zlib.crc32(body[at + 4 : end]))
        at = end + 4
    return bytes(body)


def _mended_ogg(body: bytearray) -> bytes:
    at = body.find(b"OggS")
    while at >= 0 and at + 27 <= len(body):
        segments = body[at + 26]
        end = at + 27 + segments + sum(body[at + 27 : at + 27 + segments])
        if end > len(body):
            break
        body[at + 22 : at + 26] = bytes(4)
        struct.pack_into("<I", body, at + 22, _ogg_crc(body[at:end]))
        at = body.find(b"OggS", end)
    return bytes(body)


def _ogg_crc(page: bytes | bytearray) -> int:
    crc = 0
    for byte in page:
        crc = (crc << 8 & 0xFFFFFFFF) ^ _OGG[crc >> 24 ^ byte]
    return crc


def _ogg_row(byte: int) -> int:
    row = byte << 24
    for _ in range(8):
        row = (row << 1 & 0xFFFFFFFF) ^ (0x04C11DB7 if row & 0x80000000 else 0)
    return row


_OGG = [_ogg_row(byte) for byte in range(256)]


def _lengths(body: bytes | bytearray) -> list[tuple[int, int, str]]:
    """Return places of numbers that can be lengths: beside a name of four letters, or after a JPEG's marker."""
    found: list[tuple[int, int, str]] = []
    for at in range(4, min(len(body) - 8, 65_536)):
        name = body[at : at + 4]
        if all(32 <= letter < 127 for letter in name) and any(65 <= letter <= 122 for letter in name):
            if int.from_bytes(body[at - 4 : at], "big") <= len(body):
                found.append((at - 4, 4, "big"))
            if int.from_bytes(body[at + 4 : at + 8], "little") <= len(body):
                found.append((at + 4, 4, "little"))
        elif body[at] == 0xFF and 0xC0 <= body[at + 1] <= 0xFE:
            found.append((at + 2, 2, "big"))
    return found[:400]


def _widths(form: str, sizes: Mapping[str, int]) -> list[int]:
    return [sizes[letter] for letter in form if letter in sizes]
