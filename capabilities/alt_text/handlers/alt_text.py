"""Alt text: pictures are downloaded together, ahead of the model, and described together."""

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any

from capabilities.alt_text.engines import NO_HINTS, Captioner, CaptionRequest, Captions, Hints
from capabilities.alt_text.handlers.caption_cache import CaptionCache, Source
from capabilities.alt_text.handlers.downloads import Downloads
from capabilities.alt_text.handlers.pending_caption import PendingCaption
from capabilities.alt_text.kinds.fields import MODES, PictureInput, PictureTexts, modes_of, require_language
from capabilities.alt_text.kinds.inline import IMAGE_FIELD, UPLOAD, is_inline, read_data_url
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.downloads.images import ImageTooLarge
from pipeline.errors import PressroomError
from pipeline.log import get_logger
from pipeline.offers.languages import LanguageNotSupported
from pipeline.offers.offers import Offer
from pipeline.settings.fields import ModelSettings
from workers.engines import EngineBusy, EngineUnavailable, Stopped
from workers.engines.family import Family
from workers.engines.models import fingerprint
from workers.engines.resources import Resources
from workers.handler import Handler, Outcome, Task
from workers.media.downloads.fetcher import Fetcher, open_fetcher
from workers.media.images.decoders import Decoders
from workers.media.images.picture import Picture

log = get_logger(__name__)

FAMILY = "captioning"
#: Pictures of a run whose engine takes them one by one; they are downloaded together.
FEW = 4
#: Longest side of a picture that waits for an engine, in pixels: more than any engine looks at. 24 pictures, as three
#: runs of eight have, take 400 MB at most, and three of 32 take 1.6 GB; in their own size 24 could take 4 GB.
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
        decoders: Decoders | None = None,
    ) -> None:
        super().__init__(resources)
        self.batch = FEW
        self._settings = resources.settings.of(CaptioningSettings)
        self.slots = self._settings.slots
        self._family = family or resources.family(FAMILY)
        self._fetcher = fetcher
        self._cache = cache or CaptionCache.from_settings(resources.settings)
        self._decoders = decoders or resources.shared(_make_decoders)
        self._sources: dict[str, Source] = {}
        self._runs = 0
        self._counting = threading.Lock()

    def setup(self) -> None:
        """Set the engines up. Raises NotReady when none is ready."""
        self._family.setup()
        self._renew()
        self._downloads = Downloads(self._fetcher or self.resources.shared(_open_fetcher))

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change` when the engines have changed."""
        self._family.watch(self._renew)
        self._family.watch(on_change)

    def _renew(self) -> None:
        """Take batches of the size that the preferred engine of now wants."""
        if engines := self._family.engines:
            self.batch = FEW if engines[0].batch == 1 else engines[0].batch

    def _source(self, engine: Any) -> Source:
        """Return what a text of an engine is kept under: another model's text is another."""
        if engine.name not in self._sources:
            own = getattr(self._settings, engine.name, None)
            model = getattr(engine, "model", None) or (own.model if isinstance(own, ModelSettings) else None)
            self._sources[engine.name] = Source(engine.name, fingerprint(model))
        return self._sources[engine.name]

    def offers(self) -> Sequence[Offer]:
        """Return the engines with the languages that they write."""
        return self._family.offers()

    def run(self, tasks: Sequence[Task[PictureInput]]) -> Sequence[Outcome[PictureTexts]]:
        """Describe the pictures; one that can't be described fails alone."""
        with self._counted():
            portraits = [self._portrait(task.input, task.is_stopped) for task in tasks]
            self._load(tasks, portraits)
            engines = self._family.engines
            for place, engine in enumerate(engines):
                loaded = [portrait for portrait in portraits if portrait.engine is engine and not portrait.is_over]
                if loaded:
                    self._describe(engine, loaded, engines[place + 1 :])
            for portrait in portraits:
                # Within seconds a model will say what it shows.
                if portrait.is_draft and self._family.is_loading:
                    portrait.postpone()
            return [portrait.result() for portrait in portraits]

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._counting:
            self._runs += 1
        try:
            yield
        finally:
            with self._counting:
                self._runs -= 1

    def _portrait(self, wanted: PictureInput, is_stopped: Callable[[], bool]) -> PendingCaption:
        """Return a portrait for the first engine that writes its language."""
        language, hints = wanted.language, wanted.hints or NO_HINTS
        engines = self._family.engines
        engine = next((engine for engine in engines if language in engine.languages()), engines[0])
        portrait = PendingCaption(modes_of(wanted.mode), language, engine, self._source(engine), is_stopped, hints)
        try:
            require_language(language, [code for engine in engines for code in engine.languages()])
        except LanguageNotSupported as error:
            portrait.fail(error)
        return portrait

    def _files(
        self, tasks: Sequence[Task[PictureInput]], portraits: Sequence[PendingCaption]
    ) -> Iterator[tuple[bytes, list[PendingCaption]]]:
        """Yield the file of each picture, with the portraits that want it: those that came along, then downloads."""
        wanted: dict[str, list[PendingCaption]] = {}
        for task, portrait in zip(tasks, portraits, strict=True):
            if portrait.is_over:
                continue
            if not is_inline(task.input.image_url):
                wanted.setdefault(task.input.image_url, []).append(portrait)
                continue
            try:
                yield self._brought(task), [portrait]
            except PressroomError as error:
                portrait.fail(error)
        yield from self._downloads.files(wanted, is_crowded=lambda: self._runs >= self.slots)

    def _brought(self, task: Task[PictureInput]) -> bytes:
        """Return the picture that a request brought. Raises ImageFailure, Gone, ServiceUnavailable."""
        if task.input.image_url != UPLOAD:
            return read_data_url(task.input.image_url)
        most = self.resources.settings.fetch.max_bytes
        with task.upload(IMAGE_FIELD) as file:
            body = file.read(most + 1)
        if len(body) > most:
            raise ImageTooLarge(f"The file image has more than {most:,} bytes. Send a smaller one.")
        return body

    def _load(self, tasks: Sequence[Task[PictureInput]], portraits: Sequence[PendingCaption]) -> None:
        """Give each portrait its picture, by its URL; or its texts from the cache, or an error, or a later time."""
        pictures: dict[bytes, Future[Picture]] = {}
        waiting: list[tuple[PendingCaption, Future[Picture]]] = []
        for body, sharing in self._files(tasks, portraits):
            sha256 = hashlib.sha256(body).digest()
            for portrait in sharing:
                portrait.sha256 = sha256
            missing = self._recall(sharing)
            if missing and sha256 not in pictures:
                pictures[sha256] = self._decoders.start(body, limits=self._settings, shrink_to=WAITING_SIDE)
            waiting += [(portrait, pictures[sha256]) for portrait in missing]
        for portrait, picture in waiting:
            try:
                portrait.picture = picture.result()
            except PressroomError as error:
                portrait.fail(error)

    def _recall(self, portraits: Sequence[PendingCaption]) -> list[PendingCaption]:
        """Give portraits the texts that are in the cache; return those that want more."""
        wanting = [portrait for portrait in portraits if not portrait.is_over]
        found = self._cache.find([key for portrait in wanting for key in portrait.missing_keys()])
        for portrait in wanting:
            portrait.recall(found)
        return [portrait for portrait in wanting if not portrait.is_over]

    def _describe(self, engine: Captioner, portraits: Sequence[PendingCaption], others: Sequence[Captioner]) -> None:
        """Describe pictures with an engine, under its lock; those that it fails on go to the next of the others."""
        lock = self.resources.lock_of(engine)
        # Stopped: nobody wants any of them any more; each portrait's result says so.
        with suppress(Stopped), lock.unless(lambda: all(portrait.is_stopped() for portrait in portraits)):
            # Another run may have described the same bytes while this one waited.
            groups = _same(self._recall(portraits))
            if not groups:
                return
            for group, texts in zip(groups, _caption(engine, groups), strict=True):
                for portrait in group:
                    other = next((other for other in others if portrait.language in other.languages()), None)
                    if isinstance(texts, EngineUnavailable) and not isinstance(texts, EngineBusy) and other:
                        log.warning("engine failed to describe", engine=engine.name, reason=texts.message)
                        portrait.hand_on(other, self._source(other))
                    else:
                        portrait.take(texts)
            self._cache.keep({key: text for portrait in portraits for key, text in portrait.kept().items()})
            log.info("pictures described", engine=engine.name, pictures=len(groups), items=len(portraits))


def _open_fetcher(resources: Resources) -> Fetcher:
    return open_fetcher(resources.settings.fetch)


def _make_decoders(resources: Resources) -> Decoders:
    return Decoders()


def _same(portraits: Iterable[PendingCaption]) -> list[list[PendingCaption]]:
    """Return portraits in groups of the same file, language and hints: the model sees each once."""
    groups: dict[tuple[bytes, str, Hints], list[PendingCaption]] = {}
    for portrait in portraits:
        groups.setdefault((portrait.sha256, portrait.language, portrait.hints), []).append(portrait)
    return list(groups.values())


def _caption(engine: Captioner, groups: Sequence[Sequence[PendingCaption]]) -> Sequence[Captions | PressroomError]:
    """Return what an engine writes about the picture of each group; if it refuses them together, one by one."""
    wishes = []
    for group in groups:
        picture = next(portrait.picture for portrait in group if portrait.picture is not None)
        wanted = {mode for portrait in group for mode in portrait.missing}
        modes = tuple(mode for mode in MODES if mode in wanted)
        wishes.append(CaptionRequest(picture, modes, group[0].language, group[0].hints))
    try:
        return engine.caption(wishes, stop=lambda: all(portrait.is_stopped() for group in groups for portrait in group))
    except PressroomError as error:
        if len(wishes) == 1:
            return [error]
        return [_caption(engine, [group])[0] for group in groups]
