"""`pressroom transcribe`, over the HTTP API."""

import asyncio
import os
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress, TaskID

from capabilities.transcription.kinds.transcripts import ENDINGS, MOST_SPEAKERS, Format
from pipeline.errors import InvalidRequest, PressroomError
from pipeline.settings import Settings
from pressroom.errors import PressroomError as ServiceError
from scripts.commands import SERVICE, under
from scripts.options import Data, ServiceUrl, find_service
from scripts.service import outcome_of_cancelling, said
from scripts.terminal import plain, progress_bar, tell
from workers.media.audio.ffmpeg import find_ffmpeg

if TYPE_CHECKING:
    from pressroom import AsyncPressroom
    from pressroom.documents.jobs import Job

ROUTE, LONG_ROUTE = "/tts/stt", "/transcriptions"
#: Larger recordings are converted before they are sent: Whisper hears 16 kHz mono alone.
MOST_AS_IT_IS = 25 * 2**20
COMPACT = ("-map", "0:a:0", "-ac", "1", "-ar", "16000", "-c:a", "libopus", "-b:a", "32k", "-f", "ogg", "fd:")
CONVERTING_LIMIT = timedelta(minutes=30)
#: Recordings that are sent at once.
AT_ONCE = 4
#: Longest wait for a cancellation, as a person waits for it after Ctrl-C.
CANCEL_SECONDS = 5.0


def transcribe(
    recordings: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Recordings in any usual format.")],
    form: Annotated[Format, typer.Option("--format", help="Format of the texts.")] = "text",
    language: Annotated[str, typer.Option(help="Language spoken, such as en; auto detects it.")] = "auto",
    prompt: Annotated[
        str | None, typer.Option(help="A hint of up to 1,000 characters: names and words as they are spelled.")
    ] = None,
    speakers: Annotated[
        int | None, typer.Option(min=0, max=MOST_SPEAKERS, help="Mark who speaks, of this many people; 0 counts them.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the texts. Default: beside each file.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing texts.")] = False,
    url: ServiceUrl = None,
    data: Data = None,
) -> None:
    """Transcribe recordings of up to four hours. If one fails, the others go on. Ctrl-C cancels the rest."""
    texts = {recording: (out or recording.parent) / (recording.stem + ENDINGS[form]) for recording in recordings}
    _check(texts, overwrite=overwrite)
    fields: dict[str, Any] = {"language": language, "response_format": form} | ({"prompt": prompt} if prompt else {})
    if speakers is not None:
        fields |= {"diarize": True} | ({"speakers": speakers} if speakers else {})
    failed = asyncio.run(_transcribe_all(*find_service(url, data), texts, fields))
    for recording, text in texts.items():
        if recording not in failed:
            typer.echo(f"{text} ({text.stat().st_size:,} bytes)")
    for recording, error in failed.items():
        tell(f"{recording}: {error.message}", style="red")
    if failed:
        raise typer.Exit(1)


def _check(texts: dict[Path, Path], *, overwrite: bool) -> None:
    """Refuse files that can't be read or written, before anything is paid for. Raises InvalidRequest."""
    for recording, text in texts.items():
        if not (recording.is_file() and os.access(recording, os.R_OK)):
            raise InvalidRequest(f"There is no file {recording}, or it can't be read.")
        text.parent.mkdir(parents=True, exist_ok=True)
        if text.exists() and (lost := next((one for one in texts if one.exists() and text.samefile(one)), None)):
            raise InvalidRequest(f"The text of {recording} would overwrite {lost}. Name another folder with --out.")
        if text.is_file() and not overwrite:
            raise InvalidRequest(f"{text} exists already. Use --overwrite, or name another folder with --out.")
        if text.is_dir() or not os.access(text.parent, os.W_OK | os.X_OK):
            raise InvalidRequest(f"{text} can't be written. Name another folder with --out.")
    if len(set(texts.values())) < len(texts):
        raise InvalidRequest(
            "Two of the files have the same name, so their texts would be one file. Transcribe them one by one."
        )


async def _transcribe_all(
    url: str, key: str, texts: dict[Path, Path], fields: dict[str, Any]
) -> dict[Path, PressroomError]:
    """Write each recording's text; return those that failed, with the reason."""
    from pressroom import AsyncPressroom

    failed: dict[Path, PressroomError] = {}
    room = asyncio.Semaphore(AT_ONCE)
    async with AsyncPressroom(key, url=url) as client:
        with progress_bar(unit=" s") as bar:

            async def work(recording: Path, text: Path, line: TaskID) -> None:
                async with room:
                    try:
                        await _transcribe(client, recording, text, fields, bar, line)
                    except ServiceError as error:
                        failed[recording] = PressroomError(said(error))
                    except OSError as error:  # a full disk, a file that is gone
                        failed[recording] = PressroomError(f"{error.strerror or error}.")

            lines = {recording: bar.add_task(recording.name, total=1) for recording in texts}
            await asyncio.gather(*(work(recording, text, lines[recording]) for recording, text in texts.items()))
    return failed


async def _transcribe(
    client: "AsyncPressroom", recording: Path, text: Path, fields: dict[str, Any], bar: Progress, line: TaskID
) -> None:
    if not _is_large(recording):
        job = await client.submit(ROUTE, fields, {"audio": recording})
    else:
        with tempfile.TemporaryFile(prefix="pressroom-") as made:
            compact = await asyncio.to_thread(_convert, recording, made)
            upload = await client.upload(made if compact else recording, name=recording.name)
        job = await client.submit(LONG_ROUTE, {**fields, "upload": upload})
    try:
        await client.wait(job.id, progress=lambda now: _show(bar, line, now))
        await client.result(job.id, to=text)
    except asyncio.CancelledError:  # Ctrl-C: else the job would go on and be paid for
        told = plain(f"{recording}: {await _cancel(client, job)}")
        bar.console.print(told, highlight=False, soft_wrap=True)
        raise


def _is_large(recording: Path) -> bool:
    return recording.stat().st_size > MOST_AS_IT_IS


def _convert(recording: Path, made: IO[bytes]) -> bool:
    """Write a recording as Ogg Opus; return whether that worked, or else the service says what is wrong with it."""
    with (
        recording.open("rb") as file,
        find_ffmpeg(Settings()).start(
            ["-protocol_whitelist", "fd", "-i", "fd:", *COMPACT], stdin=file, stdout=made, time_limit=CONVERTING_LIMIT
        ) as run,
    ):
        return run.wait() and 0 < made.tell() < recording.stat().st_size


def _show(bar: Progress, line: TaskID, job: "Job") -> None:
    bar.update(line, completed=job.progress.done + job.progress.failed, total=job.progress.total)


async def _cancel(client: "AsyncPressroom", job: "Job") -> str:
    """Cancel a job, and return a sentence about the outcome."""
    try:
        async with asyncio.timeout(CANCEL_SECONDS):
            return outcome_of_cancelling(await client.cancel(job.id))
    except (ServiceError, TimeoutError) as error:
        reason = said(error) if isinstance(error, ServiceError) else "The service does not answer."
        return f"The job {job.id} was not cancelled. {reason}"


register = under(SERVICE, transcribe)
