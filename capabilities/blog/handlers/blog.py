"""Blog: a post's texts by one engine, then its pictures, each by the first engine that can make it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from capabilities.alt_text.settings import CaptioningSettings
from capabilities.blog.engines.metadata import Post
from capabilities.blog.engines.metadata.plain import read_post
from capabilities.blog.engines.pictures import Brief, Painter, Recent
from capabilities.blog.handlers.covers import Cover, Covers, checked_covers, paint_covers
from capabilities.blog.handlers.looking import PictureCheck, describe_unseen, make_reader
from capabilities.blog.handlers.looks import LooksRecord
from capabilities.blog.handlers.writing import Written, write_metadata
from capabilities.blog.kinds.metadata import (
    CREDITS,
    PICTURES,
    BlogMetadata,
    BlogMetadataOutput,
    BlogMetadataRequest,
    StoredPicture,
)
from capabilities.blog.settings import PicturesRetention
from pipeline.database import Database
from pipeline.errors import NotReady
from pipeline.log import get_logger
from pipeline.offers.languages import base_language
from pipeline.offers.offers import Offer
from pipeline.timestamps import timestamp
from workers.engines import EngineBusy, Stopped
from workers.engines.family import Family
from workers.engines.languages.languages import TRADITIONAL_CHINESE, language_of
from workers.engines.resources import Resources
from workers.handler import Done, Handler, Outcome, Task
from workers.media.marks.marking import BY_RULES, TRAINED, Made

log = get_logger(__name__)

#: Least confidence at which a category decides what a picture shows (docs/blog.md).
SURE = 0.65

#: The language of a post that is evidently in no other.
DEFAULT_LANGUAGE = "en"

#: Texts as a checkpoint has them.
WRITTEN = TypeAdapter(Written)


class BlogHandler(Handler[BlogMetadataRequest, BlogMetadataOutput]):
    """Takes one post at a time."""

    #: A post's pictures keep a model or a core busy for long; alt texts of the same process go on beside them.
    slots = 1
    runs_apart = True

    def __init__(
        self,
        resources: Resources,
        *,
        writers: Family | None = None,
        painters: Family | None = None,
        captioners: Family | None = None,
    ) -> None:
        super().__init__(resources)
        settings = resources.settings
        self._lock_of = resources.lock_of
        self._keep_for = timedelta(days=settings.of(PicturesRetention).picture_days)
        self._writers = writers or resources.family("metadata")
        self._painters = painters or resources.family("pictures")
        self._captioning = settings.of(CaptioningSettings)
        # Alt texts of the same process set it up; until then nothing can look at pictures.
        self._captioners = captioners or resources.family("captioning")
        self._looks = LooksRecord()
        self._reader = resources.shared(make_reader)

    def use(self, database: Database) -> None:
        self._looks = LooksRecord(database)

    def setup(self) -> None:
        """Set the engines up. Raises NotReady when none can write; without one that draws, posts get texts alone."""
        self._writers.setup()
        self._renew()
        try:
            self._painters.setup()
        except NotReady as error:
            log.warning("no pictures engine is ready, posts get texts alone", needs=error.message)

    def _renew(self) -> None:
        """Take as many posts at once as the preferred writer of now: a server of somebody else's takes several."""
        self.slots = max([getattr(engine, "places", 1) for engine in self._writers.engines[:1]], default=1)

    def offers(self) -> Sequence[Offer]:
        return [*self._writers.offers(), *self._painters.offers()]

    def watch(self, on_change: Callable[[], None]) -> None:
        self._writers.watch(self._renew)
        self._writers.watch(on_change)
        self._painters.watch(on_change)

    def carry_out(self, task: Task[BlogMetadataRequest]) -> Outcome[BlogMetadataOutput]:
        request = task.input
        post = read_post(request.title, request.content, request.language or DEFAULT_LANGUAGE)
        if request.language is None:
            post = replace(post, language=_detected(post))
        if earlier := (task.checkpoint or {}).get("written"):
            written = WRITTEN.validate_python(earlier)
        else:
            written = write_metadata(self._writers.engines, post, lock_of=self._lock_of, stop=task.is_stopped)
        # A heartbeat writes the texts, which may be paid for, should another process have to paint.
        kept = {"written": WRITTEN.dump_python(written, mode="json")}
        _go_on(task, 1, kept)
        recent = self._looks.of_others(task.account_id, request.title)
        try:
            covers = self._covers(_brief(post, written, request, recent), task.is_stopped)
        except EngineBusy:
            task.save(kept)  # the post waits for pictures, perhaps before the next heartbeat
            raise
        expires_at = (datetime.now(UTC) + self._keep_for).replace(microsecond=0)
        images = []
        for number, cover in enumerate(covers.made, start=1):
            _go_on(task, number)
            images.append(self._keep(task, cover, number, expires_at))
        task.progress(1 + PICTURES, 1 + PICTURES)
        self._looks.add(task.account_id, request.title, [cover.painted.look for cover in covers.made])
        missing = PICTURES - len(images)
        warnings = [*written.warnings, *covers.warnings, *_missing_warning(missing)]
        output = BlogMetadataOutput(
            images=images,
            excerpt=written.metadata.excerpt,
            category=written.metadata.category,
            category_confidence=written.metadata.category_confidence,
            tags=list(written.metadata.tags),
            language=post.language,
            warnings=list(dict.fromkeys(warnings)),
            image_note=covers.note,
            generated_at=timestamp(datetime.now(UTC)),
        )
        models = dict.fromkeys([*written.models, *(name for cover in covers.made for name in cover.models)])
        engines = _engines(written, covers.made)
        return Done(output, engine=engines, credits=_earned(missing), models=tuple(models))

    def _covers(self, brief: Brief, stop: Callable[[], bool]) -> Covers:
        check = PictureCheck(brief, self._reader.read, self._captioning.max_pixels, self._captioning.max_side)

        def paint(painters: Sequence[Painter], brief: Brief, count: int) -> Covers:
            covers = paint_covers(painters, brief, count=count, lock_of=self._lock_of, stop=stop)
            seen = describe_unseen(
                covers.made,
                self._captioners.engines,
                base_language(brief.language),
                limits=self._captioning,
                lock_of=self._lock_of,
                stop=stop,
            )
            return replace(covers, made=seen)

        return checked_covers(self._painters.engines, brief, PICTURES, paint, check.fault_of)

    def _keep(self, task: Task[BlogMetadataRequest], cover: Cover, number: int, expires_at: datetime) -> StoredPicture:
        suffix = f"-cover-{number}{cover.measures.suffix}"
        origin = BlogMetadata.origin(cover.engine) or "synthetic"
        source = TRAINED if origin == "synthetic" else BY_RULES
        made = Made(cover.engine, origin, source, next(iter(cover.models), None))
        return StoredPicture(
            artifact=task.store(cover.painted.data, suffix=suffix, keep_for=self._keep_for, made=made),
            origin=origin,
            style=cover.painted.style,
            description=cover.painted.description,
            content_type=cover.measures.content_type,
            width=cover.measures.width,
            height=cover.measures.height,
            expires_at=timestamp(expires_at),
        )


def _detected(post: Post) -> str:
    found = language_of(post.title, post.text, DEFAULT_LANGUAGE)
    return "zh-Hant" if found.taxonomy == TRADITIONAL_CHINESE else found.code


def _brief(post: Post, written: Written, request: BlogMetadataRequest, recent: Recent) -> Brief:
    metadata = written.metadata
    return Brief(
        title=post.title,
        summary=metadata.excerpt,
        category=metadata.category if metadata.category_confidence >= SURE else "",
        tags=metadata.tags,
        style=request.image_style,
        language=post.language,
        with_title=request.image_title,
        recent=recent,
    )


def _engines(written: Written, covers: Sequence[Cover]) -> str:
    """Return the engines that wrote, painted and described: llama+diffusion+vlm."""
    describers = (cover.describer for cover in covers if cover.describer is not None)
    return "+".join(dict.fromkeys([written.engine, *(cover.engine for cover in covers), *describers]))


def _earned(missing: int) -> int:
    """Return the credits of a post: a missing picture costs nothing, but the text costs one."""
    return CREDITS - min(missing, CREDITS - 1)


def _missing_warning(missing: int) -> list[str]:
    if not missing:
        return []
    released = CREDITS - _earned(missing)
    return [f"{missing} of {PICTURES} pictures could not be made; {released} of {CREDITS} credits were not charged."]


def _go_on(task: Task[BlogMetadataRequest], done: int, checkpoint: Mapping[str, Any] | None = None) -> None:
    """Report the number of finished parts. Raises Stopped when the job was stopped."""
    task.progress(done, 1 + PICTURES, checkpoint=checkpoint)
    if task.is_stopped():
        raise Stopped
