"""Downloads: the files of a run; those of slow servers go on in the background when their run has ended."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait

from capabilities.alt_text.handlers.pending_caption import PendingCaption
from pipeline.errors import PressroomError
from workers.engines import never
from workers.media.downloads.fetcher import Fetched, Fetcher

#: Downloads in the background, at most, of files of up to 20 MB. A run waits for a download that finds no room there.
MOST_LEFT = 16
#: How long one is kept for the next run of its URL, in seconds: that may be in another process.
KEPT_SECONDS = 60.0
#: How often a run that waits for a download looks whether its picture is still wanted.
LOOK_SECONDS = 0.5
#: How long a run that has some of its pictures waits for the next one: the users of the others wait as well.
GRACE_SECONDS = 2.0


class Downloads:
    """Starts downloads, and keeps those that go on without a run. Safe for many threads. `clock` gives seconds."""

    def __init__(self, fetcher: Fetcher, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetcher = fetcher
        self._clock = clock
        #: In the order in which they were left; two runs may have left one of the same URL.
        self._left: list[tuple[str, Future[Fetched], float]] = []
        self._guard = threading.Lock()
        self._timer: threading.Timer | None = None

    def files(
        self, wanted: Mapping[str, list[PendingCaption]], *, is_crowded: Callable[[], bool] = never
    ) -> Iterator[tuple[bytes, list[PendingCaption]]]:
        """Yield the file of each URL with the pending that want it, in the order in which downloads end.

        In the order of the URLs, the other files would wait in memory for the slowest server. A caption without a
        file has an error, or is postponed: a download that keeps others waiting goes on in the background.
        `is_crowded`: items of other runs wait for this one to end."""
        underway = {self.start(url): (url, same) for url, same in wanted.items()}
        count, quiet_since = len(underway), time.monotonic()
        try:
            while underway:
                ended = list(wait(underway, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED).done)
                while ended:
                    download = ended.pop()
                    _, same = underway.pop(download)
                    try:
                        yield download.result().body, same
                    except PressroomError as error:
                        for caption in same:
                            caption.fail(error)
                    quiet_since = time.monotonic()
                for download in [one for one, (_, same) in underway.items() if all(each.is_stopped() for each in same)]:
                    del underway[download]
                    download.cancel()
                if time.monotonic() - quiet_since < GRACE_SECONDS or not (len(underway) < count or is_crowded()):
                    continue
                for download, (url, same) in list(underway.items()):
                    if self.leave(url, download):
                        del underway[download]
                        for caption in same:
                            caption.postpone()
        finally:
            for download in underway:
                download.cancel()

    def start(self, url: str) -> Future[Fetched]:
        """Return the download of a URL: one from the background, or a new one."""
        with self._guard:
            self._drop_old()
            place = next((place for place, (left, _, _) in enumerate(self._left) if left == url), None)
            if place is not None:
                return self._left.pop(place)[1]
        return self._fetcher.start(url)

    def leave(self, url: str, download: Future[Fetched]) -> bool:
        """Let a download go on in the background, for the next run of its URL. Returns False when there is no room."""
        with self._guard:
            self._drop_old()
            if len(self._left) >= MOST_LEFT:
                return False
            self._left.append((url, download, self._clock()))
            self._look_later()
            return True

    def _look_later(self) -> None:
        """Start a timer that drops old downloads, because no run may ask for one again."""
        if self._timer is None:
            self._timer = threading.Timer(KEPT_SECONDS, self._look)
            self._timer.daemon = True
            self._timer.start()

    def _look(self) -> None:
        with self._guard:
            self._timer = None
            self._drop_old()
            if self._left:
                self._look_later()

    def _drop_old(self) -> None:
        while self._left and self._clock() - self._left[0][2] >= KEPT_SECONDS:
            self._left.pop(0)[1].cancel()
