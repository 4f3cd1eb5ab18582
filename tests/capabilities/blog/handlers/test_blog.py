"""The blog handler: which engine does what, what becomes of what fails, and what is charged."""

import io
import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import IO, Any
from uuid import UUID, uuid4

import pytest
from payers import Payer, open_account
from PIL import Image, ImageDraw, ImageFont

from capabilities.alt_text.engines import Caption, CaptionRequest, Captions
from capabilities.blog.engines.metadata import Metadata, Post
from capabilities.blog.engines.pictures import STYLES, Brief, Painted
from capabilities.blog.handlers.blog import BlogHandler
from capabilities.blog.handlers.looks import POSTS, PostLooks, add_looks, recent_looks
from capabilities.blog.handlers.writing import check_metadata
from capabilities.blog.kinds.metadata import BlogMetadataRequest
from pipeline.database import Database
from pipeline.errors import NotReady, PressroomError, ServiceUnavailable
from pipeline.offers.offers import Offer
from pipeline.settings import Settings
from workers.engines import EngineBusy, Stopped, never
from workers.engines.resources import Resources
from workers.handler import Done

GOOD = Metadata(
    excerpt="A summary of the post in a sentence or two.",
    category="Home & Garden",
    tags=("tomatoes", "balcony", "pots", "sun", "water"),
    category_confidence=0.9,
)
EVERYTHING_BROKE = RuntimeError("CUDA out of memory")


def picture(colour: str = "red", kind: str = "PNG", size: tuple[int, int] = (1200, 630)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, kind)
    return file.getvalue()


@dataclass
class Writer:
    """Writes what it is told, or fails."""

    name: str
    writes: Metadata | Exception = GOOD
    asked: list[Post] = field(default_factory=list)
    gpu: str | None = None
    places: int = 1

    def write(self, post: Post, *, stop: Callable[[], bool]) -> Metadata:
        self.asked.append(post)
        if isinstance(self.writes, Exception):
            raise self.writes
        return self.writes


@dataclass
class Painter:
    """Makes some styles; `failing` are the places, counted over all, at which it has an error instead."""

    name: str
    can: Sequence[str] = STYLES
    failing: Sequence[int] = ()
    data: bytes = picture()
    error: Exception | None = None
    is_seen: bool = True
    asked: list[tuple[Brief, int]] = field(default_factory=list)
    gpu: str | None = None

    def styles(self) -> Sequence[str]:
        return self.can

    def paint(self, brief: Brief, *, count: int, stop: Callable[[], bool]) -> Sequence[Painted | PressroomError]:
        self.asked.append((brief, count))
        if self.error is not None:
            raise self.error
        style = brief.style if brief.style in self.can else "illustration"
        return [
            ServiceUnavailable("The model said no.")
            if place in self.failing
            # What it says of its type is not believed.
            else Painted(
                self.data,
                "text/html",
                style,
                f"Picture {place} by {self.name}",
                is_seen=self.is_seen,
                look=f"{brief.title}/{place}",
            )
            for place in range(count)
        ]


@dataclass
class Family:
    """Engines that are ready."""

    engines: Sequence[Any]
    watchers: list[Callable[[], None]] = field(default_factory=list)

    def watch(self, on_change: Callable[[], None]) -> None:
        self.watchers.append(on_change)

    def exchange(self, *engines: Any) -> None:
        self.engines = engines
        for on_change in self.watchers:
            on_change()

    def setup(self) -> None:
        if not self.engines:
            raise NotReady("diffusion: no model")

    def offers(self) -> Sequence[Offer]:
        return [Offer("some", engine.name, ready=True) for engine in self.engines]


@dataclass
class Item:
    """A task that keeps what it is given."""

    input: Any
    account_id: UUID = field(default_factory=uuid4)
    stops_at: int = 99
    checkpoint: Any = None
    kept: dict[str, tuple[bytes, timedelta | None]] = field(default_factory=dict)
    steps: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.input = BlogMetadataRequest.model_validate(self.input)

    def is_stopped(self) -> bool:
        return len(self.steps) >= self.stops_at

    def progress(self, done: float, total: float, checkpoint: Any = None) -> None:
        assert total == 4
        self.checkpoint = checkpoint or self.checkpoint
        self.steps.append(done)

    def save(self, checkpoint: Any) -> None:
        self.checkpoint = json.loads(json.dumps(checkpoint))

    def store(self, data: bytes | IO[bytes], *, suffix: str = "", keep_for: timedelta | None = None, **_: Any) -> str:
        key = f"2026-11-28/{uuid4()}/0/{uuid4()}{suffix}"
        assert isinstance(data, bytes)
        self.kept[key] = (data, keep_for)
        return key


@dataclass
class Captioner:
    """Says in how many words of which language it saw each picture, or breaks."""

    name: str = "vlm"
    batch: int = 8
    breaks: Exception | None = None
    refuses: Sequence[int] = ()
    asked: list[CaptionRequest] = field(default_factory=list)
    gpu: str | None = None
    says: str = ""

    def languages(self) -> Sequence[str]:
        return ["en", "pt"]

    def caption(
        self, requests: Sequence[CaptionRequest], *, stop: Callable[[], bool] = never
    ) -> Sequence[Captions | PressroomError]:
        if self.breaks is not None:
            raise self.breaks
        self.asked += requests
        return [
            ServiceUnavailable("away")
            if number in self.refuses
            else {
                "seo": Caption(
                    self.says or f"A tomato, {request.picture.image.getpixel((0, 0))} field, in {request.language}.",
                    0.9,
                )
            }
            for number, request in enumerate(requests)
        ]


def handler_of(
    writers: Sequence[Any],
    painters: Sequence[Any],
    captioners: Sequence[Any] = (),
    *,
    resources: Resources | None = None,
    **settings: Any,
) -> BlogHandler:
    families = {"writers": Family(writers), "painters": Family(painters), "captioners": Family(captioners)}
    made = BlogHandler(resources or Resources(Settings(**settings)), **families)
    made.setup()
    return made


def carry_out(handler: BlogHandler, item: Item) -> Done:
    (outcome,) = handler.run([item])
    assert isinstance(outcome, Done)
    return outcome


def a_post(*, checkpoint: Any = None, **fields: Any) -> Item:
    return Item({"title": "Tomatoes on a balcony", **fields}, checkpoint=checkpoint)


def test_a_post_gets_texts_and_three_pictures_that_are_kept_for_a_week() -> None:
    item = a_post(content="<p>Water <b>them</b>.</p>", image_style="abstract", language="de")
    writer, painter = Writer("extractive"), Painter("drawn")

    done = carry_out(handler_of([writer], [painter]), item)

    assert done.engine == "extractive+drawn"
    assert done.credits == 3
    output = done.output.model_dump()
    assert (output["excerpt"], output["category"], output["tags"]) == (GOOD.excerpt, GOOD.category, list(GOOD.tags))
    assert output["warnings"] == []
    assert len(output["images"]) == 3
    ends = datetime.now(UTC) + timedelta(days=7)
    for number, image in enumerate(output["images"], start=1):
        data, keep_for = item.kept[image["artifact"]]
        assert data == painter.data
        assert keep_for == timedelta(days=7)
        assert image["artifact"].endswith(f"-cover-{number}.png")
        assert (image["content_type"], image["width"], image["height"]) == ("image/png", 1200, 630)
        assert abs(datetime.fromisoformat(image["expires_at"]) - ends) < timedelta(minutes=5)
        assert image["expires_at"].endswith(".000Z")
    # The content is text by the time that an engine sees it, and the pictures are made from what was written.
    assert "<" not in writer.asked[0].text
    assert "Water them." in writer.asked[0].text
    ((brief, count),) = painter.asked
    assert (brief.summary, brief.category, brief.tags, brief.style, brief.language, count) == (
        *(GOOD.excerpt, GOOD.category, GOOD.tags, "abstract", "de", 3),
    )
    assert item.steps[-1] == 4
    assert item.steps == sorted(item.steps)


def test_a_category_that_nobody_is_sure_of_decides_on_no_picture() -> None:
    painter = Painter("drawn")
    carry_out(handler_of([Writer("extractive", replace(GOOD, category_confidence=0.4))], [painter]), a_post())

    assert painter.asked[0][0].category == ""


def test_pictures_without_the_title_are_asked_for_by_the_request() -> None:
    painter = Painter("drawn")
    handler = handler_of([Writer("extractive")], [painter])
    carry_out(handler, a_post())
    carry_out(handler, a_post(image_title=False))

    assert [brief.with_title for brief, _ in painter.asked] == [True, False]


@pytest.mark.parametrize(("style", "warns"), [("realistic", False), ("photographic", True)])
def test_that_pictures_are_drawn_is_said_once_and_as_a_warning_only_to_who_asked(style: str, warns: bool) -> None:
    handler = handler_of([Writer("extractive")], [Painter("drawn", can=["illustration"])])

    output = carry_out(handler, a_post(image_style=style)).output

    assert output.image_note == (
        f"These are drawn pictures (illustration): no model that makes {style} ones is ready on this server."
    )
    assert bool(output.warnings) == warns
    assert carry_out(handler, a_post(image_style="illustration")).output.image_note is None


def test_the_next_post_of_an_account_knows_how_the_last_ones_look(database: Database, payer: Payer) -> None:
    painter = Painter("drawn")
    handler = handler_of([Writer("extractive")], [painter])
    handler.use(database)
    for title in ("One", "Two", "Two"):
        carry_out(handler, Item({"title": title}, account_id=payer.account_id))
    carry_out(handler, Item({"title": "Another blog's"}, account_id=open_account(database).account_id))

    recent = [brief.recent for brief, _ in painter.asked]
    one, two = ((*(f"{title}/{place}" for place in range(3)),) for title in ("One", "Two"))
    assert recent == [(), (one,), (one,), ()]
    carry_out(handler, Item({"title": "Three"}, account_id=payer.account_id))
    assert painter.asked[-1][0].recent == (two, one)


def test_a_record_of_looks_keeps_the_last_posts_alone(database: Database, payer: Payer) -> None:
    for number in range(POSTS + 3):
        database.run(add_looks(payer.account_id, PostLooks(f"post {number}", ("hero/blue/cup",))))

    kept = [one.post for one in database.run(recent_looks(payer.account_id))]

    assert kept == [f"post {number}" for number in range(POSTS + 2, 2, -1)]


def test_what_one_painter_can_t_make_is_asked_of_the_next() -> None:
    diffusion, drawn = Painter("diffusion", failing=[1]), Painter("drawn", can=["illustration"])

    done = carry_out(handler_of([Writer("llm")], [diffusion, drawn]), a_post(image_style="realistic"))

    assert done.engine == "llm+diffusion+drawn"
    assert done.credits == 3
    assert [image.style for image in done.output.images] == ["realistic", "realistic", "illustration"]
    assert [count for _, count in drawn.asked] == [1]
    (warning,) = done.output.warnings
    assert "realistic" in warning
    assert "illustration" in warning


def test_what_a_model_made_is_described_by_a_model_that_looks_at_it() -> None:
    vlm, diffusion = Captioner(refuses=[1]), Painter("diffusion", failing=[2], is_seen=False)
    painters = [diffusion, Painter("drawn")]

    done = carry_out(handler_of([Writer("llm")], painters, [vlm]), a_post(language="pt-BR"))

    said = [image.description for image in done.output.images]
    assert said == ["A tomato, (255, 0, 0) field, in pt.", "Picture 1 by diffusion", "Picture 0 by drawn"]
    assert done.engine == "llm+diffusion+drawn+vlm"
    assert (len(vlm.asked), {request.modes for request in vlm.asked}) == (2, {("seo",)})


@pytest.mark.parametrize(
    ("captioner", "language"),
    [(Captioner(breaks=EVERYTHING_BROKE), "en"), (Captioner(), "ja"), (Captioner("basic"), "en")],
    ids=["breaks", "language", "blind"],
)
def test_what_nobody_can_look_at_is_described_by_what_it_was_made_for(captioner: Captioner, language: str) -> None:
    handler = handler_of([Writer("llm")], [Painter("diffusion", is_seen=False)], [captioner])

    done = carry_out(handler, a_post(language=language))

    assert [image.description for image in done.output.images] == [f"Picture {n} by diffusion" for n in range(3)]
    assert (done.engine, done.credits, captioner.asked) == ("llm+diffusion", 3, [])


def test_a_server_that_writes_has_as_many_posts_at_once_as_it_takes_also_if_it_came_later() -> None:
    writers = Family([Writer("extractive")])
    handler = BlogHandler(Resources(Settings()), writers=writers, painters=Family([]), captioners=Family([]))
    handler.setup()
    handler.watch(lambda: None)
    assert handler.slots == 1

    writers.exchange(Writer("house", places=8))
    assert handler.slots == 8
    writers.exchange()
    assert handler.slots == 1


def test_a_post_that_waits_for_its_pictures_keeps_its_texts() -> None:
    writer, painter = Writer("endpoint"), Painter("endpoint", error=EngineBusy("The server is busy."))
    handler, item = handler_of([writer], [painter]), a_post()
    with pytest.raises(EngineBusy):
        handler.run([item])
    painter.error = None

    assert carry_out(handler, item).output.excerpt == GOOD.excerpt
    assert len(writer.asked) == 1


def test_a_post_whose_pictures_another_process_has_to_make_keeps_its_texts() -> None:
    writer, item = Writer("endpoint"), a_post()
    carry_out(handler_of([writer], [Painter("endpoint")]), item)

    carry_out(handler_of([writer], [Painter("endpoint")]), a_post(checkpoint=item.checkpoint))
    assert len(writer.asked) == 1


@pytest.mark.parametrize("busy", ["llm", "diffusion"])
def test_nothing_is_written_or_painted_on_a_gpu_that_describes(busy: str) -> None:
    resources = Resources(Settings())
    writer, painter = Writer("llm"), Painter("diffusion")
    waits = writer if busy == "llm" else painter
    waits.gpu = "cuda:7"
    handler = handler_of([writer], [painter], resources=resources)
    done: list[Done] = []
    working = threading.Thread(target=lambda: done.append(carry_out(handler, a_post())))

    with resources.lock_of(Captioner(gpu="cuda:7")) as lock:
        working.start()
        until = time.monotonic() + 60
        while not lock._waiting and time.monotonic() < until:
            time.sleep(0.001)
        assert not waits.asked
    working.join(60)

    assert done[0].engine == "llm+diffusion"


def test_a_painter_that_can_truly_make_the_style_goes_first() -> None:
    drawn, diffusion = Painter("drawn", can=["illustration"]), Painter("diffusion")

    assert carry_out(handler_of([Writer("llm")], [drawn, diffusion]), a_post()).engine == "llm+diffusion"
    assert carry_out(handler_of([Writer("llm")], [drawn, diffusion]), a_post(image_style="illustration")).engine == (
        "llm+drawn"
    )


@pytest.mark.parametrize(("failing", "credits"), [([0], 2), ([0, 2], 1), ([0, 1, 2], 1)])
def test_a_missing_picture_is_not_charged_and_the_text_is(failing: list[int], credits: int) -> None:
    done = carry_out(
        handler_of([Writer("extractive")], [Painter("drawn", failing=failing)]), a_post(image_style="abstract")
    )

    assert done.credits == credits
    assert len(done.output.images) == 3 - len(failing)
    (warning,) = done.output.warnings
    assert warning.startswith(f"{len(failing)} of 3 pictures could not be made; {3 - credits} of 3 credits")
    assert done.engine == ("extractive+drawn" if len(failing) < 3 else "extractive")


def test_without_any_painter_the_texts_come_alone() -> None:
    done = carry_out(handler_of([Writer("extractive")], []), a_post())

    assert (done.output.images, done.credits, done.engine) == ([], 1, "extractive")


@pytest.mark.parametrize("broken", [EVERYTHING_BROKE, ServiceUnavailable("away")])
def test_a_painter_that_breaks_leaves_its_pictures_to_the_next(broken: Exception) -> None:
    painters = [Painter("diffusion", error=broken), Painter("drawn", can=["illustration"])]

    done = carry_out(handler_of([Writer("extractive")], painters), a_post(image_style="illustration"))

    assert (done.engine, len(done.output.images), done.credits) == ("extractive+drawn", 3, 3)


@pytest.mark.parametrize("data", [b"", b"<svg/>", b"GIF89a", picture()[:20]])
def test_what_is_no_picture_is_a_missing_picture(data: bytes) -> None:
    done = carry_out(handler_of([Writer("extractive")], [Painter("drawn", data=data)]), a_post())

    assert (done.output.images, done.credits) == ([], 1)


@pytest.mark.parametrize(
    ("kind", "content_type", "suffix"), [("JPEG", "image/jpeg", ".jpg"), ("WEBP", "image/webp", ".webp")]
)
def test_a_picture_is_what_its_bytes_say(kind: str, content_type: str, suffix: str) -> None:
    painter = Painter("diffusion", data=picture(kind=kind, size=(64, 32)))

    image = carry_out(handler_of([Writer("extractive")], [painter]), a_post()).output.images[0].model_dump()

    assert (image["content_type"], image["width"], image["height"]) == (content_type, 64, 32)
    assert image["artifact"].endswith(suffix)


@pytest.mark.parametrize("broken", [EVERYTHING_BROKE, ServiceUnavailable("away"), GOOD.__class__("short", "x", ())])
def test_a_writer_that_fails_or_breaks_its_promise_is_replaced_with_a_warning(broken: Any) -> None:
    done = carry_out(handler_of([Writer("llm", broken), Writer("extractive")], [Painter("drawn")]), a_post())

    assert done.engine == "extractive+drawn"
    assert done.credits == 3
    (warning,) = done.output.warnings
    assert "llm" in warning


def test_when_nothing_can_write_nothing_is_painted_and_the_last_reason_is_given() -> None:
    painter = Painter("drawn")
    handler = handler_of([Writer("llm", EVERYTHING_BROKE), Writer("extractive", ServiceUnavailable("away"))], [painter])

    with pytest.raises(ServiceUnavailable):
        handler.run([a_post()])
    assert painter.asked == []


@pytest.mark.parametrize("stops_at", [1, 2, 3])
def test_a_cancelled_post_stops_between_its_parts(stops_at: int) -> None:
    with pytest.raises(Stopped):
        handler_of([Writer("extractive")], [Painter("drawn")]).run([Item({"title": "x"}, stops_at=stops_at)])


def test_an_engine_that_is_stopped_is_not_replaced() -> None:
    writers = [Writer("llm", Stopped()), Writer("extractive")]
    with pytest.raises(Stopped):
        handler_of(writers, [Painter("drawn")]).run([a_post()])
    assert writers[1].asked == []
    painters = [Painter("diffusion", error=Stopped()), Painter("drawn")]
    with pytest.raises(Stopped):
        handler_of([Writer("extractive")], painters).run([a_post()])
    assert painters[1].asked == []


def test_it_offers_both_families_and_needs_only_one_that_writes() -> None:
    offers = handler_of([Writer("extractive")], [Painter("drawn")]).offers()
    assert {offer.engine for offer in offers} == {"extractive", "drawn"}
    with pytest.raises(NotReady):
        handler_of([], [Painter("drawn")])


@pytest.mark.parametrize(
    "changes",
    [
        *(
            {"excerpt": "x" * 19},
            {"excerpt": "x" * 201},
            {"excerpt": "two lines of\ntext and more"},
            {"excerpt": "x\u2028" * 15},
        ),
        *({"category": " "}, {"tags": GOOD.tags[:4]}, {"tags": (*GOOD.tags, "a1", "b1", "c1", "d1")}),
        *({"tags": (*GOOD.tags, "sun")}, {"tags": (*GOOD.tags, "Sun Hat")}, {"tags": (*GOOD.tags, "x" * 41)}),
        {"tags": (*GOOD.tags, "x")},
    ],
)
def test_metadata_that_breaks_a_promise_is_noticed(changes: dict[str, Any]) -> None:
    fields = {"excerpt": GOOD.excerpt, "category": GOOD.category, "tags": GOOD.tags, **changes}
    check_metadata(GOOD)
    with pytest.raises(PressroomError, match="The engine wrote"):
        check_metadata(Metadata(**fields))


def test_a_picture_that_shows_nothing_of_the_subject_is_made_again_and_then_drawn() -> None:
    vlm, diffusion, drawn = Captioner(says="Two men in suits."), Painter("diffusion", is_seen=False), Painter("drawn")

    done = carry_out(handler_of([Writer("llm")], [diffusion, drawn], [vlm]), a_post())

    assert [brief.attempt for brief, _ in diffusion.asked] == [0, 1]
    assert [count for _, count in drawn.asked] == [3]
    assert (done.engine, done.credits) == ("llm+drawn", 3)
    assert done.output.warnings[0] == (
        "Of 3 generated pictures each shows nothing of the subject, also when made again; "
        "they were replaced by drawn ones."
    )


def test_only_the_pictures_with_a_fault_are_made_again() -> None:
    class Improving(Captioner):
        def caption(
            self, requests: Sequence[CaptionRequest], *, stop: Callable[[], bool] = never
        ) -> Sequence[Captions | PressroomError]:
            self.says = "Ripe tomatoes on a vine." if self.asked else "Two men in suits."
            return super().caption(requests, stop=stop)

    diffusion, drawn = Painter("diffusion", failing=[2], is_seen=False), Painter("drawn")

    done = carry_out(handler_of([Writer("llm")], [diffusion, drawn], [Improving()]), a_post(image_style="realistic"))

    assert [image.description for image in done.output.images] == [
        *("Picture 0 by drawn", "Ripe tomatoes on a vine.", "Ripe tomatoes on a vine.")
    ]
    assert done.output.warnings == []


def test_pictures_that_came_are_not_painted_again_because_one_more_has_to_wait() -> None:
    class Tired(Painter):
        def paint(self, brief: Brief, *, count: int, stop: Callable[[], bool]) -> Sequence[Painted | PressroomError]:
            self.error = EngineBusy("The server takes three a minute.") if self.asked else None
            return super().paint(brief, count=count, stop=stop)

    other, drawn = Painter("other", error=EngineBusy("This one is busy, too.")), Painter("drawn", failing=[2])
    tired = Tired("endpoint", failing=[2], is_seen=False)
    handler = handler_of([Writer("llm")], [tired, other, drawn], [Captioner(says="Two men in suits.")])

    done = carry_out(handler, a_post(image_style="realistic"))

    assert [image.description for image in done.output.images] == [f"Picture {n} by drawn" for n in (0, 0, 1)]
    assert [count for _, count in tired.asked] == [3, 2]


@pytest.mark.parametrize("title", ["On letting go", "Brief History"])
def test_of_a_subject_that_is_no_thing_nobody_says_that_it_is_missing(title: str) -> None:
    diffusion = Painter("diffusion", is_seen=False)
    handler = handler_of([Writer("llm")], [diffusion, Painter("drawn")], [Captioner(says="A path in fog.")])

    assert carry_out(handler, a_post(title=title)).engine == "llm+diffusion+vlm"
    assert len(diffusion.asked) == 1


@pytest.mark.parametrize(
    ("text", "is_gibberish"), [("Tomatoes on a balcony", False), ("Opne", False), ("Tmoaots balcnoy wtaer", True)]
)
def test_letters_that_say_nothing_are_found_by_the_ocr(text: str, is_gibberish: bool) -> None:
    sign = Image.new("RGB", (900, 500), "white")
    ImageDraw.Draw(sign).text((60, 200), text, "black", ImageFont.load_default(64))
    file = io.BytesIO()
    sign.save(file, "PNG")
    diffusion = Painter("diffusion", data=file.getvalue(), is_seen=False)

    done = carry_out(handler_of([Writer("llm")], [diffusion, Painter("drawn")]), a_post())

    assert ("has letters that say nothing" in " ".join(done.output.warnings)) == is_gibberish
    assert done.engine == ("llm+drawn" if is_gibberish else "llm+diffusion")


@pytest.mark.parametrize(
    ("title", "language", "told"),
    [
        ("Kürbissuppe mit Kokosmilch und Ingwer", None, "de"),
        ("如何寫好一份履歷", None, "zh-Hant"),
        ("Otis", None, "en"),
        ("Kürbissuppe mit Kokosmilch und Ingwer", "en-GB", "en-GB"),
    ],
)
def test_the_language_is_detected_where_none_is_given(title: str, language: str | None, told: str) -> None:
    painter = Painter("drawn")
    done = carry_out(handler_of([Writer("extractive")], [painter]), Item({"title": title, "language": language}))
    assert done.output.language == told
    assert painter.asked[0][0].language == told
