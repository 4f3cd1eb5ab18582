"""Loading: pictures are downloaded and decoded, several at a time, unless their texts are in the cache."""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait

from pipeline.engine_settings import CaptioningSettings
from pipeline.errors import PressroomError
from workers.engines import never
from workers.handlers.alt_text.caption_cache import CaptionCache
from workers.handlers.alt_text.downloads import Downloads
from workers.handlers.alt_text.portrait import Portrait
from workers.media.downloads.fetcher import Fetched, Fetcher
from workers.media.images.decoders import Decoders
from workers.media.images.picture import Picture

#: Longest side of a picture that waits for an engine, in pixels: more than any engine looks at. 24 pictures, as three
#: runs of eight have, take 400 MB at most, and three of 32 take 1.6 GB; in their own size 24 could take 4 GB.
WAITING_SIDE = 2_048
#: How often a run looks, while it waits for a download, whether the picture is still wanted.
LOOK_SECONDS = 0.5
#: A run that has its other pictures waits so long for the next one: the users of the others wait as well.
GRACE_SECONDS = 2.0

Underway = dict[Future[Fetched], list[Portrait]]


class Loader:
    """Gives portraits their pictures. Safe for many threads."""

    def __init__(self, fetcher: Fetcher, cache: CaptionCache, decoders: Decoders, limits: CaptioningSettings) -> None:
        self._downloads = Downloads(fetcher)
        self._cache = cache
        self._decoders = decoders
        self._limits = limits

    def load(self, portraits: Sequence[Portrait], *, is_crowded: Callable[[], bool] = never) -> None:
        """Download and decode pictures. A portrait has a picture then, or its texts from the cache, or an error.

        Those of servers that keep others waiting are postponed, and their downloads go on meanwhile. `is_crowded`:
        there are others who wait, although none in this run."""
        pictures: dict[bytes, Future[Picture]] = {}
        waiting: list[tuple[Portrait, Future[Picture]]] = []
        for body, sharing in self._bodies(portraits, is_crowded):
            sha256 = hashlib.sha256(body).digest()
            for portrait in sharing:
                portrait.sha256 = sha256
            self.recall(sharing)
            wanting = [portrait for portrait in sharing if not portrait.is_over]
            if wanting and sha256 not in pictures:
                pictures[sha256] = self._decoders.start(body, limits=self._limits, shrink_to=WAITING_SIDE)
            waiting += [(portrait, pictures[sha256]) for portrait in wanting]
        for portrait, picture in waiting:
            try:
                portrait.picture = picture.result()
            except PressroomError as error:
                portrait.fail(error)

    def recall(self, portraits: Sequence[Portrait]) -> None:
        """Give portraits whose bytes are known the texts that are in the cache."""
        wanted = [(portrait, portrait.keys()) for portrait in portraits if not portrait.is_over]
        found = self._cache.find(list({key: None for _, keys in wanted for key in keys}))
        for portrait, keys in wanted:
            portrait.take({mode: found[key] for key, mode in keys.items() if key in found})

    def keep(self, portraits: Sequence[Portrait]) -> None:
        """Put the texts of portraits into the cache."""
        self._cache.keep({key: text for portrait in portraits for key, text in portrait.kept().items()})

    def _bodies(
        self, portraits: Sequence[Portrait], is_crowded: Callable[[], bool]
    ) -> Iterator[tuple[bytes, list[Portrait]]]:
        """Yield each file with the portraits of its URL, in the order in which downloads end; a URL is fetched once.

        In the order of the URLs, the other files would wait in memory for the slowest server."""
        underway = self._started(portraits)
        count, quiet_since = len(underway), time.monotonic()
        try:
            while underway:
                ended = list(wait(underway, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED).done)
                while ended:
                    download = ended.pop()
                    same = underway.pop(download)
                    try:
                        yield download.result().body, same
                    except PressroomError as error:
                        for portrait in same:
                            portrait.fail(error)
                    quiet_since = time.monotonic()
                _drop_unwanted(underway)
                if time.monotonic() - quiet_since >= GRACE_SECONDS and (len(underway) < count or is_crowded()):
                    self._postpone(underway)
        finally:
            for download in underway:
                download.cancel()

    def _started(self, portraits: Sequence[Portrait]) -> Underway:
        sharing: dict[str, list[Portrait]] = {}
        for portrait in portraits:
            sharing.setdefault(portrait.url, []).append(portrait)
        return {self._downloads.start(url): same for url, same in sharing.items()}

    def _postpone(self, underway: Underway) -> None:
        """Leave downloads that hold others up to the background, as long as there is room for them there."""
        for download, same in list(underway.items()):
            if self._downloads.leave(same[0].url, download):
                del underway[download]
                for portrait in same:
                    portrait.postpone()


def _drop_unwanted(underway: Underway) -> None:
    for unwanted in [one for one, same in underway.items() if all(each.is_stopped for each in same)]:
        del underway[unwanted]
        unwanted.cancel()
