"""Alt text: pictures are downloaded together, ahead of the model, and described together."""

import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress

from pipeline.engine_settings import ModelSettings
from pipeline.errors import PressroomError
from pipeline.kinds.alt_text.fields import PictureInput, PictureTexts, modes_of, require_language
from pipeline.log import get_logger
from pipeline.offers import Offer
from workers.engines import Stopped
from workers.engines.captioning import Captioner, Captions, Wish
from workers.engines.family import Family
from workers.engines.models import fingerprint
from workers.handler import Handler, Outcome, Task
from workers.handlers.alt_text.caption_cache import CaptionCache, Source
from workers.handlers.alt_text.loading import Loader
from workers.handlers.alt_text.portrait import Portrait
from workers.media.downloads.fetcher import Fetcher, open_fetcher
from workers.media.images.decoders import Decoders
from workers.resources import Resources

log = get_logger(__name__)

FAMILY = "captioning"
#: Pictures of a run whose engine takes them one by one: their downloads still go on together.
FEW = 4


class AltTextHandler(Handler[PictureInput, PictureTexts]):
    """Takes some pictures at a time into each slot: while one run is in the model, the others load theirs."""

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
        self._settings = resources.settings.captioning
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
        engines = self._family.engines
        self._sources = {engine.name: self._source(engine) for engine in engines}
        self.batch = FEW if engines[0].batch == 1 else engines[0].batch
        fetcher = self._fetcher or self.resources.shared(_open_fetcher)
        self._loader = Loader(fetcher, self._cache, self._decoders, self._settings)

    def offers(self) -> Sequence[Offer]:
        """Return the engines with the languages that they write."""
        return self._family.offers()

    def run(self, tasks: Sequence[Task[PictureInput]]) -> Sequence[Outcome[PictureTexts]]:
        """Describe the pictures; what befalls one of them is its own affair."""
        self._count(1)
        try:
            return self._run(tasks)
        finally:
            self._count(-1)

    def _run(self, tasks: Sequence[Task[PictureInput]]) -> Sequence[Outcome[PictureTexts]]:
        portraits = [self._begin(task) for task in tasks]
        self._loader.load([portrait for portrait in portraits if not portrait.is_over], is_crowded=self._is_full)
        for engine in self._family.engines:
            loaded = [portrait for portrait in portraits if portrait.engine is engine and not portrait.is_over]
            if loaded:
                self._describe(engine, loaded)
        return [portrait.result() for portrait in portraits]

    def _count(self, more: int) -> None:
        with self._counting:
            self._runs += more

    def _is_full(self) -> bool:
        """Return whether every slot is taken: whoever comes next waits for one of these runs."""
        return self._runs >= self.slots

    def _begin(self, task: Task[PictureInput]) -> Portrait:
        """Return a task's portrait, with the first engine that writes its language."""
        language, modes = task.input.language, modes_of(task.input.mode)
        engines = self._family.engines
        for engine in engines:
            if language in engine.languages():
                return Portrait(task, modes, language, engine, self._sources[engine.name])
        portrait = Portrait(task, modes, language, engines[0], self._sources[engines[0].name])
        try:
            require_language(language, [code for engine in engines for code in engine.languages()])
        except PressroomError as error:
            portrait.fail(error)
        return portrait

    def _source(self, engine: Captioner) -> Source:
        configured = getattr(self._settings, engine.name, None)
        return Source(engine.name, fingerprint(configured.model) if isinstance(configured, ModelSettings) else None)

    def _describe(self, engine: Captioner, portraits: Sequence[Portrait]) -> None:
        """Have an engine describe pictures, while no other run uses it, and give each its texts."""
        lock = self.resources.lock_of(engine)
        # Stopped: nobody wants any of them, and each portrait finds that out by itself.
        with suppress(Stopped), lock.unless(lambda: all(portrait.is_stopped for portrait in portraits)):
            # Another run may have described the same bytes while this one waited.
            self._loader.recall(portraits)
            groups = _same(portrait for portrait in portraits if not portrait.is_over)
            if not groups:
                return
            for group, texts in zip(groups, _caption(engine, groups), strict=True):
                for portrait in group:
                    portrait.take(texts)
            self._loader.keep(portraits)
            log.info("pictures described", engine=engine.name, pictures=len(groups), items=len(portraits))


def _open_fetcher(resources: Resources) -> Fetcher:
    return open_fetcher(resources.settings.fetch)


def _make_decoders(resources: Resources) -> Decoders:
    return Decoders()


def _same(portraits: Iterable[Portrait]) -> list[list[Portrait]]:
    """Return portraits in groups of the same bytes in the same language: the model sees each once."""
    groups: dict[tuple[bytes, str], list[Portrait]] = {}
    for portrait in portraits:
        groups.setdefault((portrait.sha256, portrait.language), []).append(portrait)
    return list(groups.values())


def _caption(engine: Captioner, groups: Sequence[Sequence[Portrait]]) -> Sequence[Captions | PressroomError]:
    """Return what an engine says of each group; should it refuse them all, each is shown to it alone."""
    wishes = [_wish(group) for group in groups]
    try:
        return engine.caption(wishes, stop=lambda: all(portrait.is_stopped for group in groups for portrait in group))
    except PressroomError as error:
        if len(wishes) == 1:
            return [error]
        return [_caption(engine, [group])[0] for group in groups]


def _wish(group: Sequence[Portrait]) -> Wish:
    picture = next(portrait.picture for portrait in group if portrait.picture is not None)
    wanted = {mode for portrait in group for mode in portrait.missing}
    return Wish(picture, tuple(mode for mode in modes_of("all") if mode in wanted), group[0].language)
