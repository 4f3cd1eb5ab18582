"""`pressroom say`, over the HTTP API."""

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from shutil import copyfileobj
from subprocess import DEVNULL
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from capabilities.speech.kinds.batch import MAX_CHARACTERS
from capabilities.speech.kinds.pauses import without_code
from pipeline.errors import InvalidRequest
from pipeline.settings import Settings
from pressroom.files import whole_file
from scripts.commands import SERVICE, under
from scripts.options import Data, Language, ServiceUrl
from scripts.service import JobBar, ask_service
from scripts.terminal import check_outputs, tell

if TYPE_CHECKING:
    from pressroom import Pressroom
    from pressroom.options import VoiceOptions

#: The name of standard input.
STDIN = "-"
#: ffmpeg's options for each format. The service sends MP3 at 192 kbit/s, from which the others are made.
FORMATS: Mapping[str, Sequence[str]] = {
    ".mp3": ("-c:a", "copy", "-f", "mp3"),
    ".wav": ("-c:a", "pcm_s16le", "-f", "wav"),
    ".flac": ("-c:a", "flac", "-sample_fmt", "s16", "-f", "flac"),
    ".ogg": ("-c:a", "libopus", "-b:a", "96k", "-f", "ogg"),
    ".opus": ("-c:a", "libopus", "-b:a", "96k", "-f", "opus"),
    ".m4a": ("-c:a", "aac", "-b:a", "160k", "-f", "ipod"),
    ".aac": ("-c:a", "aac", "-b:a", "160k", "-f", "adts"),
}
#: A day of speech is converted in minutes.
CONVERSION_LIMIT = timedelta(hours=1)


def say(
    text: Annotated[
        str,
        typer.Argument(metavar="[TEXT|FILE.txt]", help="The text or its file, in UTF-8; - is standard input."),
    ] = STDIN,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="OUT.mp3", help=f"The file to write: {', '.join(FORMATS)}. Default: FILE.mp3."
        ),
    ] = None,
    music: Annotated[Path | None, typer.Option(metavar="M.mp3", help="Background music.")] = None,
    language: Language = None,
    voice: Annotated[str | None, typer.Option(help="A voice of GET /tts/voices.")] = None,
    speed: Annotated[float, typer.Option(min=0.25, max=4.0)] = 1.0,
    plain: Annotated[
        bool, typer.Option("--plain", help="Read pause marks, front matter and code blocks aloud.")
    ] = False,
    srt: Annotated[Path | None, typer.Option(metavar="OUT.srt", help="Also write subtitles as SubRip.")] = None,
    vtt: Annotated[Path | None, typer.Option(metavar="OUT.vtt", help="Also write subtitles as WebVTT.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
    url: ServiceUrl = None,
    data: Data = None,
) -> None:
    """Speak a text of any length, optionally over music."""
    output = output or _named_after(text)
    if output.suffix.lower() not in FORMATS:
        raise InvalidRequest(f"{output} has no known suffix: use {', '.join(FORMATS)}.")
    check_outputs([file for file in (output, srt, vtt) if file], overwrite=overwrite)
    if music is not None and not music.is_file():
        raise InvalidRequest(f"There is no file {music}.")
    written = read_text(text)
    # Left out here, so that a long text is not split in a block of code.
    parts = _parts(written if plain else without_code(written), language)
    if len(parts) > 1 and (music or srt or vtt):
        raise InvalidRequest(
            f"A text of more than {MAX_CHARACTERS:,} characters is spoken in separate parts: leave out --music, --srt "
            "and --vtt, or shorten it."
        )
    options: VoiceOptions = {"language": language, "voice": voice, "speed": speed, "plain_text": plain}
    with ask_service(url, data) as client, TemporaryDirectory() as folder:
        spoken = _say(client, parts, options, Path(folder), music=music, subtitles={"srt": srt, "vtt": vtt})
        size = write_recording(spoken, output)
    typer.echo(f"{', '.join(str(file) for file in (output, srt, vtt) if file)} ({size:,} bytes)")


def read_text(text: str) -> str:
    """Return the text of a file, of standard input, or the text itself. Raises InvalidRequest."""
    if _is_words(text):
        return text
    try:
        return (sys.stdin.buffer.read() if text == STDIN else Path(text).read_bytes()).decode("utf-8-sig")
    except OSError as error:
        raise InvalidRequest(f"{text} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{text} is not UTF-8: save it as UTF-8 and try again.") from error


def _is_words(text: str) -> bool:
    """Return whether an argument is a text to speak.

    It is not if it looks like a file's name, so that a mistyped name is an error and is not paid for."""
    is_name = Path(text).suffix[1:].isalnum() or ("/" in text and " " not in text)
    return text != STDIN and not is_name and not os.path.exists(text)  # noqa: PTH110  # Path.exists refuses a long text


def _named_after(text: str) -> Path:
    if text == STDIN or _is_words(text):
        raise InvalidRequest("Name the file to write: --output OUT.mp3.")
    return Path(text).with_suffix(".mp3")


def _parts(text: str, language: str | None) -> list[str]:
    """Return a text in parts of whole sentences that fit in one request."""
    if len(text) <= MAX_CHARACTERS:
        return [text]
    from capabilities.speech.normalization.sentences import split_text  # packages that other commands don't need

    return split_text(text, limit=MAX_CHARACTERS, language=language or "en")


def _say(
    client: "Pressroom",
    parts: Sequence[str],
    options: "VoiceOptions",
    folder: Path,
    *,
    music: Path | None,
    subtitles: dict[str, Path | None],
) -> list[Path]:
    """Speak the parts, write the subtitles, and return the files of the parts."""
    timestamps = any(subtitles.values())
    files: list[Path] = []
    warnings: dict[str, None] = {}
    with JobBar(client, "speaking", total=sum(map(len, parts))) as bar:
        for number, part in enumerate(parts):
            bar.begin(len(part))
            asked: dict[str, Any] = {**options, "progress": bar.show, "to": folder / f"{number}.mp3"}
            if music is not None:
                speech = client.speak_with_music(part, music, timestamps=timestamps, **asked)
            else:
                speech = client.speak_long(part, timestamps=timestamps, **asked)
            files.append(folder / f"{number}.mp3")
            warnings |= {speech.warning: None} if speech.warning else {}
    for warning in warnings:
        tell(warning)
    for name, file in subtitles.items():
        if file is not None:
            with whole_file(file) as opened:
                opened.write(str(getattr(speech, name)).encode())
    return files


def write_recording(parts: Sequence[Path], output: Path) -> int:
    """Join MP3s into one file of the format of its suffix, whole or not at all; return its size in bytes."""
    with whole_file(output) as finished, TemporaryFile() as joined:
        for part in parts:
            with part.open("rb") as sound:
                copyfileobj(sound, joined)
        joined.seek(0)
        if len(parts) == 1 and output.suffix.lower() == ".mp3":
            copyfileobj(joined, finished)
        else:
            _convert(joined, Path(finished.name), FORMATS[output.suffix.lower()])
    return output.stat().st_size


def _convert(joined: IO[bytes], output: Path, options: Sequence[str]) -> None:
    from workers.media.audio.ffmpeg import find_ffmpeg  # the engines' packages, which other commands don't need

    arguments = ["-f", "mp3", "-i", "fd:", "-map_metadata", "-1", *options, "-y", f"file:{output.absolute()}"]
    with find_ffmpeg(Settings()).start(arguments, stdin=joined, stdout=DEVNULL, time_limit=CONVERSION_LIMIT) as run:
        run.check()


register = under(SERVICE, say)
