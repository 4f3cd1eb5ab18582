"""Sniffing: a file's format and claimed size, found in its bytes, since its name and content type can be wrong."""

import os
from typing import IO

#: Bytes read of a file. An MP3 may begin anywhere in them: some files have junk in front.
HEAD_BYTES = 65_536
#: ID3 tags that may stand in front of the sound: some programs add a second one.
MAX_TAGS = 8
#: Bit rates in kbit/s: MPEG-1 layer III, MPEG-1 layer II, MPEG-2 both (ISO 11172-3, 13818-3). 0: not allowed here.
LAYER_3 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0)
LAYER_2 = (0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 0)
MPEG_2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0)
SAMPLE_RATES = (44_100, 48_000, 32_000)
#: First bytes of a format, where they are, and ffmpeg's name for it. No text is among them: playlists, concat scripts
#: and session descriptions make ffmpeg open what they name.
SIGNATURES = (
    (0, b"OggS", "ogg"),
    (0, b"fLaC", "flac"),
    (0, b"\x1a\x45\xdf\xa3", "matroska"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "asf"),
    (0, b"riff\x2e\x91\xcf\x11", "w64"),
    (0, b"caff\x00\x01", "caf"),
    (0, b".snd", "au"),
    (0, b"#!AMR", "amr"),
    (0, b"wvpk", "wv"),
    (8, b"AIFF", "aiff"),
    (8, b"AIFC", "aiff"),
    (8, b"WAVE", "wav"),
    (8, b"AVI ", "avi"),
    (0, b"FLV\x01", "flv"),
    (0, b"\0\0\x01\xba", "mpeg"),
    (4, b"ftyp", "mov"),
    (4, b"moov", "mov"),
    (4, b"mdat", "mov"),
    (4, b"wide", "mov"),
    (4, b"free", "mov"),
    (4, b"skip", "mov"),
)
#: The packets of MPEG-TS, which broadcasts and cameras make, begin with this byte (ISO 13818-1).
TS_SYNC = 0x47
#: Offset of the first, and distance to the next: cameras put a time of four bytes before each.
TS_PACKETS = ((0, 188), (4, 192))
#: So many in a row can't be chance.
TS_IN_A_ROW = 5
#: Larger sizes in a WAV's header are written by programs that don't know the size.
LARGEST_CLAIM = 2**30
#: Chunks looked at before the sound of a WAV, and bytes of an MP3's longest frame.
MOST_CHUNKS, LONGEST_FRAME = 100, 1_500


def sniff(file: IO[bytes]) -> str | None:
    """Return ffmpeg's name for a file's format, or None when it is not an audio format that is accepted."""
    _, head = _untagged_head(file)
    for at, signature, name in SIGNATURES:
        if head.startswith(signature, at):
            return name
    if head.startswith(b"\x0b\x77"):
        # The bitstream's version is 8 or less in AC-3, and 11 to 16 in E-AC-3 (ETSI TS 102 366).
        return "ac3" if len(head) > 5 and head[5] >> 3 <= 10 else "eac3"
    return "mpegts" if _is_transport_stream(head) else _sniff_frames(head)


def is_cut_short(file: IO[bytes], name: str) -> bool:
    """Return whether a WAV or MP3 file ends before its header says; False for what does not tell."""
    end = _wav_end(file) if name == "wav" else _mp3_end(file) if name == "mp3" else 0
    return end > file.seek(0, os.SEEK_END) + LONGEST_FRAME


def _wav_end(file: IO[bytes]) -> int:
    """Return where the header of a WAV puts the end of its sound; 0 if it does not tell."""
    at = 12
    for _ in range(MOST_CHUNKS):
        file.seek(at)
        header = file.read(8)
        size = int.from_bytes(header[4:], "little")
        if len(header) < 8 or size > LARGEST_CLAIM:
            return 0
        if header.startswith(b"data"):
            return at + 8 + size
        at += 8 + size + size % 2
    return 0


def _mp3_end(file: IO[bytes]) -> int:
    """Return where the first frame of an MP3 puts its end ("Xing" or "Info", as LAME writes it); 0 without."""
    start, head = _untagged_head(file)
    at = max(head.find(b"Xing", 0, 4_096), head.find(b"Info", 0, 4_096))
    if at < 0 or not head[at + 7] & 2:
        return 0
    size = at + 8 + (4 if head[at + 7] & 1 else 0)  # the number of frames may stand before it
    return start + int.from_bytes(head[size : size + 4], "big")


def _untagged_head(file: IO[bytes]) -> tuple[int, bytes]:
    """Return where the ID3 tags end, which MP3, AAC and FLAC may have, with pictures in them, and the bytes there."""
    at = 0
    for _ in range(MAX_TAGS):
        file.seek(at)
        head = file.read(HEAD_BYTES)
        if not head.startswith(b"ID3"):
            break
        # A tag's size has 7 bits a byte, and leaves out its header of ten bytes.
        at += 10 + sum((byte & 0x7F) << shift for byte, shift in zip(head[6:10], (21, 14, 7, 0), strict=False))
    return at, head


def _is_transport_stream(head: bytes) -> bool:
    return any(
        len(found := head[at::length][:TS_IN_A_ROW]) == TS_IN_A_ROW and set(found) == {TS_SYNC}
        for at, length in TS_PACKETS
    )


def _sniff_frames(head: bytes) -> str | None:
    """Look for two frames in a row, for formats whose files have no header."""
    for name, length_of in (("aac", _aac_frame_length), ("mp3", _mp3_frame_length)):
        at = head.find(b"\xff")
        # AAC must begin at the first byte: elsewhere two of its frames are found by chance in other files.
        while at == 0 or (at > 0 and name == "mp3"):
            length = length_of(head[at : at + 7])
            if length and length_of(head[at + length : at + length + 7]):
                return name
            at = head.find(b"\xff", at + 1)
    return None


def _aac_frame_length(header: bytes) -> int | None:
    """Return the length of an ADTS frame with this header (ISO 13818-7); None when it is none."""
    if len(header) < 7 or header[0] != 0xFF or header[1] & 0xF6 != 0xF0:
        return None
    return (header[3] & 3) << 11 | header[4] << 3 | header[5] >> 5 or None


def _mp3_frame_length(header: bytes) -> int | None:
    """Return the length of a frame of layer II or III with this header; None when it is none."""
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xE0 != 0xE0:
        return None
    version, layer, rate_index, frequency = header[1] >> 3 & 3, header[1] >> 1 & 3, header[2] >> 4, header[2] >> 2 & 3
    if version == 1 or layer not in (1, 2) or frequency == 3:
        return None
    mpeg1, layer3 = version == 3, layer == 1
    bit_rate = (MPEG_2 if not mpeg1 else LAYER_3 if layer3 else LAYER_2)[rate_index] * 1_000
    sample_rate = SAMPLE_RATES[frequency] >> {3: 0, 2: 1, 0: 2}[version]
    samples = 576 if layer3 and not mpeg1 else 1_152
    return samples // 8 * bit_rate // sample_rate + (header[2] >> 1 & 1) or None
