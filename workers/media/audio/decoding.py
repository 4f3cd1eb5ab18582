"""Decoding: turns uploaded files into samples, by an ffmpeg that can open nothing else."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import IO

from pipeline.errors import InvalidRequest
from pipeline.log import get_logger
from workers.engines import never
from workers.media.audio.ffmpeg import Ffmpeg, FfmpegFailed
from workers.media.audio.pcm import SAMPLE_BYTES
from workers.media.audio.sniffing import is_cut_short, sniff
from workers.media.audio.track import Track, new_track

log = get_logger(__name__)

#: Time limit per file; an hour of any format takes some seconds.
TIME_LIMIT = timedelta(minutes=3)
#: The lowest sample rate that is taken; at 1 Hz, 14 kB would be four hours. Telephones have 8,000 Hz.
MIN_SAMPLE_RATE = 4_000
#: ffmpeg's word on the length: "Duration: 01:02:03.45, start: 0.000000, bitrate: 24 kb/s".
DURATION = re.compile(r"Duration: (\d+):(\d\d):(\d\d\.\d+)")
#: ffmpeg's word on a stream of sound: "Stream #0:0: Audio: pcm_s16le, 7 Hz, mono".
STREAM = re.compile(r"Stream #0:\d+.*: Audio: .*?\b(\d+) Hz")

#: The audio decoders that may be used. Pictures and subtitles in a file are not decoded.
CODECS = (
    "mp3,mp3float,mp2,mp2float,mp1,mp1float,aac,aac_fixed,aac_latm,vorbis,libvorbis,opus,libopus,flac,alac,wavpack,"
    "ac3,eac3,dca,truehd,mlp,wmav1,wmav2,wmapro,wmalossless,wmavoice,amrnb,amrwb,libopencore_amrnb,libopencore_amrwb,"
    "gsm,gsm_ms,speex,nellymoser,"
    "pcm_alaw,pcm_mulaw,pcm_u8,pcm_s8,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_f32le,pcm_f32be,"
    "pcm_f64le,pcm_f64be,pcm_bluray,pcm_dvd,adpcm_ms,adpcm_ima_wav,adpcm_ima_qt,adpcm_g722,adpcm_g726"
)


class AudioUndecodable(InvalidRequest):
    """The file has no audio that can be decoded."""

    code = "audio_undecodable"
    field = "audio"


class AudioTooLong(InvalidRequest):
    """The file has more audio than the limit."""

    code = "audio_too_long"
    field = "audio"


def decode(
    ffmpeg: Ffmpeg,
    file: IO[bytes],
    *,
    sample_rate: int,
    max_duration: timedelta,
    time_limit: timedelta = TIME_LIMIT,
    stop: Callable[[], bool] = never,
    is_head: bool = False,
) -> Track:
    """Return the first audio of a file, mono, as far as it goes. The caller closes it.

    `is_head`: only about `max_duration` of a longer one is wanted. The decoded length counts, not the header's.
    Raises AudioUndecodable, AudioTooLong, Stopped, and OSError if the disk is full."""
    demuxer = sniff(file)
    if demuxer is None:
        raise AudioUndecodable(
            "The file is not audio that can be read. Send MP3, WAV, OGG, Opus, FLAC, M4A, AAC, WebM, AIFF or WMA."
        )
    with new_track(sample_rate) as track:
        track.is_cut_short = is_cut_short(file, demuxer)
        file.seek(0)
        _decode(ffmpeg, file, demuxer, track, max_duration, time_limit, stop)
        if not len(track):
            raise AudioUndecodable("The file's audio is empty.")
        if track.duration > max_duration and not is_head:
            minutes = max_duration / timedelta(minutes=1)
            raise AudioTooLong(
                f"The file has more than {minutes:g} minutes of audio, which is the limit. Send it in parts.",
                max_duration_seconds=max_duration.total_seconds(),
            )
    return track


def _decode(
    ffmpeg: Ffmpeg,
    file: IO[bytes],
    demuxer: str,
    track: Track,
    max_duration: timedelta,
    time_limit: timedelta,
    stop: Callable[[], bool] = never,
) -> None:
    # ffmpeg may read only the open file, and only as the format found in its first bytes. The limit is in bytes (-fs):
    # -t believes the file's time stamps, by which 25 MB can last for months.
    def refuse(line: str) -> bool:
        if found := DURATION.match(line):
            hours, minutes, seconds = map(float, found.groups())
            track.declared = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return _is_absurd(line)

    size = round(max_duration.total_seconds() * track.sample_rate + 1) * SAMPLE_BYTES + 2**16
    allowed = ["-protocol_whitelist", "fd", "-format_whitelist", demuxer, "-codec_whitelist", CODECS, "-threads", "1"]
    source = [*allowed, "-f", demuxer, "-i", "fd:", "-map", "0:a:0", "-filter_threads", "1"]
    result = ["-ac", "1", "-ar", str(track.sample_rate), "-fs", str(size), "-f", "s16le", "fd:"]
    try:
        with ffmpeg.start(
            ["-loglevel", "info", *source, *result],
            stdin=file,
            stdout=track.file,
            time_limit=time_limit,
            max_output_bytes=size + 2**20,
            refuse=refuse,
        ) as run:
            if not run.wait(stop):
                log.info("audio not decoded", format=demuxer, reason=run.said())
                _require_room(track)
                raise AudioUndecodable(
                    f"The file looks like {demuxer}, but holds no audio of {MIN_SAMPLE_RATE:,} Hz or more that can be"
                    " decoded."
                )
    except FfmpegFailed as error:
        raise AudioUndecodable(
            f"The file was not decoded within {time_limit.total_seconds():.0f} s. Send it as MP3 or WAV."
        ) from error


def _is_absurd(line: str) -> bool:
    found = STREAM.match(line)
    return found is not None and int(found[1]) < MIN_SAMPLE_RATE


def _require_room(track: Track) -> None:
    """Raise OSError if the disk is full: then the file is not to blame."""
    length = len(track) * SAMPLE_BYTES
    track.append(bytes(2**20))
    track.file.truncate(length)
