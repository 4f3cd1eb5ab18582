"""Recordings: downloads a recording behind a user's URL into a file, guarded, with flat memory."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import IO

from pipeline.downloads.targets import shown
from pipeline.downloads.web import Opened, Unfetched, Web
from pipeline.errors import InvalidRequest
from pipeline.settings.fields import FetchSettings
from workers.engines import Stopped

USER_AGENT = "Pressroom/0.1 (recording fetcher)"
ACCEPT = "audio/*,video/*,application/octet-stream;q=0.9,*/*;q=0.5"
#: Longest download: 2 GiB at 5 Mbit/s.
LIMIT = timedelta(hours=1)
#: Statuses after which to try again, beside those from 500.
PASSING = frozenset((408, 425, 429))


class RecordingUrlFailed(InvalidRequest):
    """The URL gives no recording. `is_passing`: the same request may succeed a little later."""

    code = "recording_url_failed"
    field = "url"

    def __init__(self, message: str, *, code: str | None = None, is_passing: bool = False) -> None:
        super().__init__(message, code=code)
        self.is_passing = is_passing


def download_recording(
    url: str, file: IO[bytes], settings: FetchSettings, *, max_bytes: int, stop: Callable[[], bool]
) -> None:
    """Write the recording behind a URL to a file. Raises RecordingUrlFailed, Stopped."""
    try:
        asyncio.run(_download(url, file, settings, max_bytes, stop))
    except Unfetched as error:
        raise RecordingUrlFailed(
            error.message, code=f"recording_url_{error.code}", is_passing=error.code == "unreachable"
        ) from error
    except TimeoutError:
        minutes = LIMIT / timedelta(minutes=1)
        raise RecordingUrlFailed(f"{shown(url)} took longer than the {minutes:g} minutes of a download.") from None


async def _download(
    url: str, file: IO[bytes], settings: FetchSettings, max_bytes: int, stop: Callable[[], bool]
) -> None:
    async with (
        asyncio.timeout(LIMIT.total_seconds()),
        Web(settings, user_agent=USER_AGENT, per_host=settings.downloads_per_host, accept=ACCEPT) as web,
        web.open(url) as answer,
    ):
        _check(answer, max_bytes)
        size = 0
        async for chunk in answer.chunks(pace=settings):
            size += len(chunk)
            if size > max_bytes:
                raise _too_large(answer, max_bytes)
            file.write(chunk)
            if stop():
                raise Stopped


def _check(answer: Opened, max_bytes: int) -> None:
    """Refuse an answer that is not a recording, before its body is read. Raises RecordingUrlFailed."""
    name = shown(answer.url)
    if answer.status != 200:
        is_passing = answer.status in PASSING or answer.status >= 500
        raise RecordingUrlFailed(f"{name} answers with HTTP {answer.status}.", is_passing=is_passing)
    content_type = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if content_type.startswith("text/") or content_type.endswith(("html", "html+xml", "xml", "json")):
        raise RecordingUrlFailed(
            f"{name} is {content_type}, not a recording. Send the URL of the sound itself: of a podcast, the enclosure"
            " in its feed.",
            code="recording_url_no_audio",
        )
    if int(answer.headers.get("Content-Length") or 0) > max_bytes:
        raise _too_large(answer, max_bytes)


def _too_large(answer: Opened, max_bytes: int) -> RecordingUrlFailed:
    return RecordingUrlFailed(
        f"{shown(answer.url)} has more than the {max_bytes:,} bytes that are downloaded. Send a more compressed one.",
        code="recording_url_too_large",
    )
