"""Client of the edge service, which returns a text's MP3 complete and in time, or raises an error with the reason."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import aiohttp
import edge_tts.communicate
import edge_tts.voices
from edge_tts.exceptions import EdgeTTSException, NoAudioReceived

from capabilities.speech.settings import EdgeSettings
from pipeline.downloads.failures import read_retry_after
from workers.engines import EngineUnavailable, Stopped

#: Seconds between two calls of `stop` while somebody waits.
STOP_CHECK_SECONDS = 0.1
#: `limit_seconds` is the limit for so many characters.
LIMIT_CHARACTERS = 1_000
#: Bytes of a second: the library asks for 48 kbit/s, constant.
BYTES_PER_SECOND = 6_000

TICKS_PER_SECOND = 10_000_000
#: The longest Retry-After that is believed.
LONGEST_WAIT = timedelta(hours=1)
#: How much shorter the audio may be than the service's own times of sentences.
SLACK = timedelta(seconds=1)

T = TypeVar("T")
Sink = Callable[[bytes], None]


class EdgeFailed(EngineUnavailable):
    """The service failed. `passing`: the next try may succeed. `local`: another voice may succeed."""

    def __init__(
        self, reason: str, *, passing: bool = False, local: bool = False, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(f"The speech service {reason}. Try again, or leave the voice out.", retry_after=retry_after)
        self.reason = f"the speech service {reason}"
        self.passing = passing
        self.local = local


class EdgeClient:
    """Calls the service by the library edge-tts, and adds the time-outs and checks that the library lacks.

    The library keeps its addresses in module variables, so all clients of a process use those of the newest."""

    def __init__(self, settings: EdgeSettings) -> None:
        self._settings = settings
        self._connections = threading.BoundedSemaphore(settings.connections)
        if settings.url:
            setattr(edge_tts.communicate, "WSS_URL", _with_query(settings.url))  # noqa: B010  it is not exported
        if settings.voices_url:
            setattr(edge_tts.voices, "VOICE_LIST", _with_query(settings.voices_url))  # noqa: B010

    def voices(self) -> list[Any]:
        """Return the service's list of voices. Raises EdgeFailed."""
        limit = self._settings.connect_seconds + self._settings.stall_seconds
        return asyncio.run(_translated(asyncio.wait_for(edge_tts.voices.list_voices(), limit)))

    def speak(self, text: str, *, voice: str, rate: int, sink: Sink, stop: Callable[[], bool]) -> int:
        """Call `sink` with a text's MP3, piece by piece, and return its size; `rate` is in percent from normal.

        Waits for a free connection. Raises EdgeFailed, Stopped, and what the sink raises."""
        while not self._connections.acquire(timeout=STOP_CHECK_SECONDS):
            if stop():
                raise Stopped
        try:
            return asyncio.run(_translated(self._spoken(text, voice, rate, sink, stop)))
        finally:
            self._connections.release()

    async def _spoken(self, text: str, voice: str, rate: int, sink: Sink, stop: Callable[[], bool]) -> int:
        # receive_timeout does not end a connection that stalls; `_watch` does.
        asked = edge_tts.Communicate(
            text, voice, rate=f"{rate:+d}%", connect_timeout=self._settings.connect_seconds, receive_timeout=3_600
        )
        limit = time.monotonic() + self._settings.limit_seconds * -(-len(text) // LIMIT_CHARACTERS)
        progress = _Progress(late=time.monotonic() + self._settings.connect_seconds + self._settings.stall_seconds)
        receiving = asyncio.ensure_future(self._receive(asked, progress, sink))
        try:
            await _watch(receiving, progress, limit, stop)
        finally:
            # Twice: the first ends the wait for a message, the second the wait for the connection to close.
            for _ in range(2):
                receiving.cancel()
                await asyncio.wait({receiving}, timeout=STOP_CHECK_SECONDS)
        receiving.result()
        # The library sets this count once the service says that the text is complete. It does not mind a connection
        # that closes earlier.
        if asked.state.get("cumulative_audio_bytes") != progress.received:
            raise EdgeFailed("broke off in the middle of a text", passing=True)
        if progress.received / BYTES_PER_SECOND < progress.sentences_end - SLACK.total_seconds():
            raise EdgeFailed("sent less sound than it said", passing=True)
        return progress.received

    async def _receive(self, asked: edge_tts.Communicate, progress: "_Progress", sink: Sink) -> None:
        async with contextlib.aclosing(asked.stream()) as messages:
            async for message in messages:
                progress.late = time.monotonic() + self._settings.stall_seconds
                if message["type"] == "audio":
                    progress.received += len(message["data"])
                    sink(message["data"])
                else:
                    progress.sentences_end = (message["offset"] + message["duration"]) / TICKS_PER_SECOND


@dataclass(slots=True)
class _Progress:
    """The bytes received of a text, the second at which its last sentence ends, and when it counts as stalled."""

    late: float
    received: int = 0
    sentences_end: float = 0.0


async def _watch(
    receiving: "asyncio.Future[None]", progress: _Progress, limit: float, stop: Callable[[], bool]
) -> None:
    """Wait until the text is received. Raises EdgeFailed if it is late, Stopped."""
    while not (await asyncio.wait({receiving}, timeout=STOP_CHECK_SECONDS))[0]:
        if stop():
            raise Stopped
        if time.monotonic() >= limit:
            raise EdgeFailed("is too slow")
        if time.monotonic() >= progress.late:
            raise EdgeFailed("stopped answering", passing=True)


async def _translated(work: Awaitable[T]) -> T:
    """Await the work, and translate the library's errors into EdgeFailed."""
    try:
        return await work
    except aiohttp.ClientResponseError as error:
        raise _refusal(error) from error
    except NoAudioReceived as error:
        raise EdgeFailed("sent no sound", passing=True, local=True) from error
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise EdgeFailed(f"can't be reached ({type(error).__name__})", passing=True) from error
    # An answer that does not follow the protocol.
    except (EdgeTTSException, ValueError, LookupError, TypeError) as error:
        raise EdgeFailed(f"answered something else than speech ({type(error).__name__})", passing=True) from error


def _refusal(error: aiohttp.ClientResponseError) -> EdgeFailed:
    """Return the error for a status. After a 403 the library has set its clock and tried once more."""
    wait = error.headers.get("Retry-After", "") if error.headers else ""
    asked = read_retry_after(wait)
    retry_after = None if asked is None else min(asked, LONGEST_WAIT)
    return EdgeFailed(f"refused (HTTP {error.status})", passing=error.status >= 500, retry_after=retry_after)


def _with_query(url: str) -> str:
    """Return an address to which the library can append `&Name=value`."""
    return url if "?" in url else f"{url}?"
