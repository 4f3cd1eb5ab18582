"""`pressroom say`: a text file becomes a recording, over the HTTP API."""

import asyncio
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from pipeline.errors import InvalidRequest
from scripts.options import Data


def say(
    text: Annotated[Path, typer.Argument(metavar="FILE.txt", help="The text, in UTF-8.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT.mp3", help="Where the MP3 goes.")],
    music: Annotated[Path | None, typer.Option(metavar="M.mp3", help="Music to put under it.")] = None,
    language: Annotated[str | None, typer.Option(help="Language code such as en, es, fr.")] = None,
    voice: Annotated[str | None, typer.Option(help="A voice of GET /tts/voices.")] = None,
    speed: Annotated[float, typer.Option(min=0.25, max=4.0)] = 1.0,
    url: Annotated[str | None, typer.Option(help="The service; by default the one that runs here.")] = None,
    data: Data = None,
) -> None:
    """Speak a text file into an MP3, with music under it if you like."""
    from scripts.client import service_key, service_url  # aiohttp, which no other command needs

    check_output(output)
    fields: dict[str, Any] = {"text": read_text(text), "speed": speed}
    fields |= {name: value for name, value in (("language", language), ("voice_name", voice)) if value}
    if music is not None and not music.is_file():
        raise InvalidRequest(f"There is no file {music}.")
    route, files = ("/tts/batch", None) if music is None else ("/tts/with-music", {"music": music})
    size = asyncio.run(_say(service_url(url, data), service_key(data), route, fields, files, output))
    typer.echo(f"{output} ({size:,} bytes)")


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
        raise InvalidRequest(f"{file} is a folder. Say which file the MP3 goes to, such as {file / 'out.mp3'}.")
    if not os.access(file.parent, os.W_OK | os.X_OK) or not file.parent.is_dir():
        raise InvalidRequest(f"{file} can't be written: {file.parent} is no folder that you may write to.")


async def _say(
    url: str, key: str, route: str, fields: dict[str, Any], files: dict[str, Path] | None, output: Path
) -> int:
    from scripts.client import Client

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:.0f}/{task.total:.0f}"))
    async with Client.open(url, key) as client:
        job_id = await client.submit(route, fields, files)
        with Progress(*columns, TimeElapsedColumn()) as bar:
            speaking = bar.add_task("speaking", total=1)
            await client.follow(job_id, lambda done, total: bar.update(speaking, completed=done, total=total))
        return await client.fetch(job_id, output)
