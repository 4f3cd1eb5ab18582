"""Commands for speech, over the HTTP API: `pressroom say` and `pressroom import-csv speech`."""

import asyncio
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.errors import InvalidRequest
from scripts.commands import SERVICE, under
from scripts.commands.import_csv import Column, DryRun, Errors, run_import
from scripts.commands.import_csv import group as import_csv
from scripts.options import Data, Language, ServiceUrl, find_service
from scripts.terminal import progress_bar, tell


def say(
    text: Annotated[Path, typer.Argument(metavar="FILE.txt", help="The text, in UTF-8.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT.mp3", help="Where the MP3 goes.")],
    music: Annotated[Path | None, typer.Option(metavar="M.mp3", help="Music to put under it.")] = None,
    language: Language = None,
    voice: Annotated[str | None, typer.Option(help="A voice of GET /tts/voices.")] = None,
    speed: Annotated[float, typer.Option(min=0.25, max=4.0)] = 1.0,
    plain: Annotated[bool, typer.Option("--plain", help="Read pause marks aloud.")] = False,
    srt: Annotated[Path | None, typer.Option(metavar="OUT.srt", help="Where subtitles go, as SubRip.")] = None,
    vtt: Annotated[Path | None, typer.Option(metavar="OUT.vtt", help="The same, as WebVTT.")] = None,
    url: ServiceUrl = None,
    data: Data = None,
) -> None:
    """Speak a text file into an MP3, with music under it if you like."""
    outputs = {"audio_url": output, "srt_url": srt, "vtt_url": vtt}
    wanted = {name: file for name, file in outputs.items() if file is not None}
    for file in wanted.values():
        check_output(file)
    fields: dict[str, Any] = {"text": read_text(text), "speed": speed, "plain_text": plain}
    fields["timestamps"] = len(wanted) > 1
    fields |= {name: value for name, value in (("language", language), ("voice_name", voice)) if value}
    if music is not None and not music.is_file():
        raise InvalidRequest(f"There is no file {music}.")
    route, files = ("/tts/batch", None) if music is None else ("/tts/with-music", {"music": music})
    size = asyncio.run(_say(*find_service(url, data), route, fields, files, wanted))
    typer.echo(f"{', '.join(map(str, wanted.values()))} ({size:,} bytes)")


def read_text(file: Path) -> str:
    """Return a text file's text. Raises InvalidRequest."""
    try:
        return file.read_text("utf-8-sig")
    except OSError as error:
        raise InvalidRequest(f"{file} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{file} is not UTF-8: save it as UTF-8 and try again.") from error


def check_output(file: Path) -> None:
    """Refuse a file that could not be written, before anything is paid for. Raises InvalidRequest."""
    if file.is_dir():
        raise InvalidRequest(f"{file} is a folder. Say which file to write, such as {file / 'out.mp3'}.")
    if not os.access(file.parent, os.W_OK | os.X_OK) or not file.parent.is_dir():
        raise InvalidRequest(f"{file} can't be written: {file.parent} is no folder that you may write to.")


async def _say(
    url: str, key: str, route: str, fields: dict[str, Any], files: dict[str, Path] | None, outputs: dict[str, Path]
) -> int:
    from scripts.client import Client

    async with Client.open(url, key) as client:
        job_id = await client.submit(route, fields, files)
        with progress_bar() as bar:
            speaking = bar.add_task("speaking", total=1)

            def show(done: float, total: float) -> None:
                bar.update(speaking, completed=done, total=total)

            if not fields["timestamps"]:
                return await client.save(job_id, outputs["audio_url"], show)
            return await client.save_linked(job_id, outputs, show)


@import_csv.command("speech")
def import_texts(
    file: Annotated[Path, typer.Argument(metavar="TEXTS.csv")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the MP3s go, named by their line.")],
    column: Column = None,
    header: Annotated[
        bool | None, typer.Option(help="Whether the first row names the columns; by default if one is text.")
    ] = None,
    errors: Errors = None,
    language: Language = None,
    voice: Annotated[str | None, typer.Option(help="A voice of GET /tts/voices.")] = None,
    dry_run: DryRun = False,
    url: ServiceUrl = None,
    data: Data = None,
) -> None:
    """Speak texts, an MP3 a row; stopped, the same command goes on where it was."""
    from scripts.imports.speech import SpeechImport

    fields = {"language": language, "voice_name": voice}
    wanted = SpeechImport(file, column=column, has_header=header, out=out, errors=errors, fields=fields)
    if header is None and not wanted.sheet.has_header:
        # Nothing tells a name from a text, and a text that is spoken is paid for.
        tell("the first row counts as a text; --header if it names the columns")
    run_import(wanted, url, data, dry_run=dry_run)


register = under(SERVICE, say)
