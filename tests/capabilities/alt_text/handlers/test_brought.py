"""Pictures that came with their request, and hints, in the handler."""

import base64
import io
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any

from test_alt_text import RED, Painter, Task, Web, handler_of, png, texts
from test_drafts import DAY, Redis

from capabilities.alt_text.handlers.caption_cache import CaptionCache
from capabilities.alt_text.kinds.fields import Hints, PictureInput
from workers.handler import Failed


class Brought(Task):
    """An item whose picture came as a file."""

    def __init__(self, file: bytes = b"", url: str = "upload:image", hints: Hints | None = None) -> None:
        super().__init__(url)
        self.input = PictureInput(image_url=url, mode="short", language="en", hints=hints)
        self.file = file

    def upload(self, field: str) -> AbstractContextManager[IO[bytes]]:
        assert field == "image"
        return nullcontext(io.BytesIO(self.file))


def file_of(colour: str) -> bytes:
    return png(colour)


def test_a_picture_that_came_along_is_described_and_nothing_is_downloaded() -> None:
    web = Web()
    data = "data:image/png;base64," + base64.b64encode(file_of("red")).decode()

    outcomes = handler_of(web, Painter()).run([Brought(file_of("red")), Brought(url=data)])

    assert [texts(outcome) for outcome in outcomes] == [{"short": f"short en {RED}."}] * 2
    assert not web.started


def test_one_that_is_too_large_or_no_base64_fails_alone() -> None:
    handler = handler_of(Web(), Painter())
    limit = handler.resources.settings.fetch.max_bytes

    large, broken, good = handler.run(
        [Brought(b"x" * (limit + 1)), Brought(url="data:image/png;base64,%%%"), Brought(file_of("red"))]
    )

    assert isinstance(large, Failed)
    assert large.error.code == "image_too_large"
    assert isinstance(broken, Failed)
    assert broken.error.code == "image_url_invalid"
    assert texts(good)


def test_hints_reach_the_engine_and_have_texts_of_their_own_in_the_cache() -> None:
    engine = Painter()
    handler = handler_of(Web(), engine, cache=CaptionCache(Redis(), keep_for=DAY))
    hints: Sequence[Any] = (None, Hints(), Hints(keywords=("oak",)), Hints(keywords=("oak",)), Hints(context="oak"))

    for one in hints:
        handler.run([Brought(file_of("red"), hints=one)])

    assert [seen[0].hints for seen in engine.seen] == [Hints(), Hints(keywords=("oak",)), Hints(context="oak")]


def test_a_picture_with_a_text_in_the_cache_is_seen_in_its_own_size_for_another_text() -> None:
    engine, file = Painter(), png("red", (800, 600))
    handler = handler_of(Web(), engine, cache=CaptionCache(Redis(), keep_for=DAY))

    handler.run([Brought(file)])
    handler.run([Brought(file), Brought(file, hints=Hints(page_title="Oak"))])

    assert [seen[0].picture.image.size for seen in engine.seen] == [(800, 600)] * 2


def test_the_same_picture_with_other_hints_in_one_run_is_another_wish() -> None:
    engine = Painter()

    handler_of(Web(), engine).run([Brought(file_of("red")), Brought(file_of("red"), hints=Hints(page_title="Oak"))])

    assert len(engine.seen[0]) == 2
