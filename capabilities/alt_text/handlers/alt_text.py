"""Alt text: pictures are downloaded together, ahead of the model, and described together."""

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from capabilities.alt_text.engines import NO_HINTS, Captioner, CaptionRequest, Captions, Hints
from capabilities.alt_text.handlers.caption_cache import CaptionCache, Source
from capabilities.alt_text.handlers.downloads import Downloads
from capabilities.alt_text.handlers.pending_caption import PendingCaption
from capabilities.alt_text.kinds.fields import (
    MODES,
    PictureInput,
    PictureTexts,
    is_inline,
    modes_of,
    read_data_url,
    require_language,
)
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.downloads.images import ImageTooLarge
from pipeline.errors import PressroomError
from pipeline.kind import UPLOADED
from pipeline.log import get_logger
from pipeline.offers.languages import LanguageNotSupported
from pipeline.offers.offers import Offer
from pipeline.settings.fields import ModelSettings
from workers.engines import EngineBusy, EngineUnavailable, Stopped
from workers.engines.family import Family
from workers.engines.models import fingerprint
from workers.engines.resources import Resources
from workers.handler import Done, Handler, Outcome, Task
from workers.media.downloads.fetcher import Fetcher, open_fetcher
from workers.media.images.decoders import Decoders
from workers.media.images.picture import THUMBNAIL_SIDE, Picture, thumbnail

log = get_logger(__name__)

FAMILY = "captioning"
#: Pictures of a run whose engine takes them one by one; they are downloaded together.
FEW = 4
#: Longest side of a picture that waits for an engine, in pixels: more than any engine looks at. 24 pictures, as three
#: runs of eight have, take 500 MB at most, and three of 32 take 2 GB; in their own size 24 could take 4 GB.
WAITING_SIDE = 2_048


class AltTextHandler(Handler[PictureInput, PictureTexts]):
    """Runs in several slots: while one run uses the model, the others download and decode their pictures."""

    def __init__(
        self,
        resources: Resources,
        *,
        family: Family | None = None,
        fetcher: Fetcher | None = None,
        cache: CaptionCache | None = None,
    ) -> None:
        super().__init__(resources)
        self.batch = FEW
        self._settings = resources.settings.of(CaptioningSettings)
        self.slots = self._settings.slots
        self._family = family or resources.family(FAMILY)
        self._fetcher = fetcher
        self._cache = cache or CaptionCache.from_settings(resources.settings)
        self._decoders = resources.shared(_make_decoders)
        self._sources: dict[tuple[str, str | None], Source] = {}
        self._runs = 0
        self._counting = threading.Lock()

    def setup(self) -> None:
        """Set the engines up. Raises NotReady when none is ready."""
        self._family.setup()
        self._renew()
        self._downloads = Downloads(self._fetcher or self.resources.shared(_open_fetcher))

    def watch(self, on_change: Callable[[], None]) -> None:
        self._family.watch(self._renew)
        self._family.watch(on_change)

    def _renew(self) -> None:
        """Take batches of the size that the preferred engine of now wants."""
        if engines := self._family.engines:
            self.batch = FEW if engines[0].batch == 1 else engines[0].batch

    def _source(self, engine: Any) -> Source:
        """Return the cache key of an engine's text; each model has its own, and an engine may change its model."""
        own = getattr(self._settings, engine.name, None)
        model = getattr(engine, "model", None) or (own.model if isinstance(own, ModelSettings) else None)
        if (engine.name, model) not in self._sources:
            self._sources[engine.name, model] = Source(engine.name, fingerprint(model))
        return self._sources[engine.name, model]

    def offers(self) -> Sequence[Offer]:
        return self._family.offers()

    def run(self, tasks: Sequence[Task[PictureInput]]) -> Sequence[Outcome[PictureTexts]]:
        """Describe the pictures; one that can't be described fails alone."""
        engines = self._family.engines  # once: an operator may exchange some while pictures are downloaded
        if not engines:
            raise EngineBusy("No engine that describes pictures is ready at the moment.")
        with self._counted():
            pending = [self._pending(task, engines) for task in tasks]
            self._load(tasks, pending)
            for place, engine in enumerate(engines):
                loaded = [caption for caption in pending if caption.engine is engine and not caption.is_over]
                if loaded:
                    self._describe(engine, loaded, engines[place + 1 :])
            for caption in pending:
                # Within seconds a model will say what it shows.
                if caption.is_draft and self._family.is_loading:
                    caption.postpone()
            return [_with_thumbnail(task, caption) for task, caption in zip(tasks, pending, strict=True)]

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._counting:
            self._runs += 1
        try:
            yield
        finally:
            with self._counting:
                self._runs -= 1

    def _pending(self, task: Task[PictureInput], engines: Sequence[Captioner]) -> PendingCaption:
        wanted = task.input
        language, hints = wanted.language, wanted.hints or NO_HINTS
        engine = next((engine for engine in engines if language in engine.languages()), engines[0])
        modes, source = modes_of(wanted.mode), self._source(engine)
        caption = PendingCaption(modes, language, engine, source, task.is_stopped, task.tokens, hints)
        try:
            require_language(language, [code for engine in engines for code in engine.languages()])
        except LanguageNotSupported as error:
            caption.fail(error)
        return caption

    def _files(
        self, tasks: Sequence[Task[PictureInput]], pending: Sequence[PendingCaption]
    ) -> Iterator[tuple[bytes, list[PendingCaption]]]:
        """Yield the file of each picture, with the pending that want it: those that came along, then downloads."""
        wanted: dict[str, list[PendingCaption]] = {}
        for task, caption in zip(tasks, pending, strict=True):
            if caption.is_over:
                continue
            if not is_inline(task.input.image_url):
                wanted.setdefault(task.input.image_url, []).append(caption)
                continue
            try:
                yield self._brought(task), [caption]
            except PressroomError as error:
                caption.fail(error)
        yield from self._downloads.files(wanted, is_crowded=lambda: self._runs >= self.slots)

    def _brought(self, task: Task[PictureInput]) -> bytes:
        """Return the picture that a request brought. Raises ImageFailure, Gone, ServiceUnavailable."""
        if not task.input.image_url.startswith(UPLOADED):
            return read_data_url(task.input.image_url)
        most = self.resources.settings.fetch.max_bytes
        field = task.input.image_url.removeprefix(UPLOADED)
        with task.upload(field) as file:
            body = file.read(most + 1)
        if len(body) > most:
            raise ImageTooLarge(f"The file {field} has more than {most:,} bytes. Send a smaller one.")
        return body

    def _load(self, tasks: Sequence[Task[PictureInput]], pending: Sequence[PendingCaption]) -> None:
        """Give each caption its picture, by its URL; or its texts from the cache, or an error, or a later time."""
        pictures: dict[bytes, tuple[int, Future[Picture]]] = {}
        waiting: list[tuple[PendingCaption, Future[Picture]]] = []
        for body, sharing in self._files(tasks, pending):
            sha256 = hashlib.sha256(body).digest()
            for caption in sharing:
                caption.sha256 = sha256
            missing = self._recall(sharing)
            # One with texts in the cache is decoded for its thumbnail alone.
            side = WAITING_SIDE if missing else THUMBNAIL_SIDE
            if sha256 not in pictures or pictures[sha256][0] < side:
                pictures[sha256] = side, self._decoders.start(body, limits=self._settings, shrink_to=side)
            waiting += [(caption, pictures[sha256][1]) for caption in sharing]
        for caption, picture in waiting:
            try:
                caption.picture = picture.result()
            except PressroomError as error:
                if not caption.is_over:
                    caption.fail(error)

    def _recall(self, pending: Sequence[PendingCaption]) -> list[PendingCaption]:
        """Give pending the texts that are in the cache; return those that want more."""
        wanting = [caption for caption in pending if not caption.is_over]
        found = self._cache.find([key for caption in wanting for key in caption.missing_keys()])
        for caption in wanting:
            caption.recall(found)
        return [caption for caption in wanting if not caption.is_over]

    def _describe(self, engine: Captioner, pending: Sequence[PendingCaption], others: Sequence[Captioner]) -> None:
        """Describe pictures with an engine, under its lock; those that it fails on go to the next of the others."""
        lock = self.resources.lock_of(engine)
        # Stopped: nobody wants any of them any more; each caption's result says so.
        with suppress(Stopped), lock.unless(lambda: all(caption.is_stopped() for caption in pending)):
            # Another run may have described the same bytes while this one waited.
            groups = _same(self._recall(pending))
            if not groups:
                return
            for group, texts in zip(groups, _caption(engine, groups), strict=True):
                for caption in group:
                    other = next((other for other in others if caption.language in other.languages()), None)
                    if isinstance(texts, EngineUnavailable) and not isinstance(texts, EngineBusy) and other:
                        log.warning("engine failed to describe", engine=engine.name, reason=texts.message)
                        caption.hand_on(other, self._source(other))
                    else:
                        caption.take(texts)
            self._cache.keep({key: text for caption in pending for key, text in caption.kept().items()})
            log.info("pictures described", engine=engine.name, pictures=len(groups), items=len(pending))


def _with_thumbnail(task: Task[PictureInput], caption: PendingCaption) -> Outcome[PictureTexts]:
    outcome = caption.result()
    if not isinstance(outcome, Done) or caption.picture is None:
        return outcome
    try:
        key = task.store(thumbnail(caption.picture), suffix=".jpg")
    except PressroomError as error:
        log.warning("thumbnail not stored", job_id=str(task.job_id), error=error.message)
        return outcome
    return replace(outcome, output=outcome.output.model_copy(update={"thumbnail": key}))


def _open_fetcher(resources: Resources) -> Fetcher:
    return open_fetcher(resources.settings.fetch)


def _make_decoders(resources: Resources) -> Decoders:
    return Decoders()


def _same(pending: Iterable[PendingCaption]) -> list[list[PendingCaption]]:
    """Return pending in groups of the same file, language and hints: the model sees each once."""
    groups: dict[tuple[bytes, str, Hints], list[PendingCaption]] = {}
    for caption in pending:
        groups.setdefault((caption.sha256, caption.language, caption.hints), []).append(caption)
    return list(groups.values())


def _caption(engine: Captioner, groups: Sequence[Sequence[PendingCaption]]) -> Sequence[Captions | PressroomError]:
    """Return an engine's texts for the picture of each group; if it refuses them together, one by one."""
    requests = []
    for group in groups:
        picture = next(caption.picture for caption in group if caption.picture is not None)
        wanted = {mode for caption in group for mode in caption.missing}
        modes = tuple(mode for mode in MODES if mode in wanted)
        requests.append(CaptionRequest(picture, modes, group[0].language, group[0].hints, group[0].tokens))
    try:
        return engine.caption(requests, stop=lambda: all(caption.is_stopped() for group in groups for caption in group))
    except PressroomError as error:
        if len(requests) == 1:
            return [error]
        return [_caption(engine, [group])[0] for group in groups]
