"""A worker process for hostile files: the handlers as a pool process runs them, their models alone replaced.

It reads a line of JSON a file, `[which handler, path]`, and answers with a line: what became of it, the seconds of
processor time that it took, and the most memory that any ffmpeg took so far."""

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

from given_task import GivenTask

from capabilities.alt_text.engines import Caption, CaptionRequest
from capabilities.alt_text.engines.basic.basic import Basic
from capabilities.alt_text.handlers.alt_text import AltTextHandler
from capabilities.alt_text.handlers.caption_cache import CaptionCache
from capabilities.alt_text.kinds.fields import PictureInput
from capabilities.speech.handlers.music import AddMusicHandler
from capabilities.speech.kinds.music import AddMusicRequest
from capabilities.transcription.engines import SAMPLE_RATE, Recognition
from capabilities.transcription.handlers.transcription import TranscriptionHandler
from capabilities.transcription.kinds.transcription import RecordingInput
from pipeline import log
from pipeline.errors import PressroomError
from pipeline.settings import Settings
from pipeline.subtitles.segments import Segment
from workers.engines import malloc, never
from workers.engines.resources import Resources
from workers.handler import Done, Failed, Handler


class Uploaded(GivenTask):
    """An item that came with a file."""

    def __init__(self, given: Any, path: Path) -> None:
        super().__init__(given, price=5)
        self._path = path

    def upload(self, _: str) -> IO[bytes]:
        return self._path.open("rb")

    def save(self, checkpoint: Any, **_: Any) -> None:
        self.checkpoint = checkpoint

    def raise_hold(self, credits: int) -> None:
        self.price = credits


class Looker:
    """An engine that touches every pixel, and has the author's notes for its text."""

    name, batch = "looker", 1

    def languages(self) -> Sequence[str]:
        return ("en",)

    def caption(
        self, requests: Sequence[CaptionRequest], *, stop: Callable[[], bool] = never
    ) -> list[dict[str, Caption]]:
        return [dict.fromkeys(request.modes, Caption(_described(request), 0.5)) for request in requests]


class Listener:
    """An engine that hears one word in whatever it is given."""

    name, model, warning = "listener", "small", None
    translates = is_remote = tells_changes = False

    def languages(self) -> Sequence[str]:
        return ("en",)

    def as_it_is(self) -> "Listener":
        return self

    @contextmanager
    def listen(self, samples: Any, **_: Any) -> Iterator[Recognition]:
        word = Segment(start=0, end=len(samples) / SAMPLE_RATE, text=f" {int(abs(samples).max(initial=0))}")
        yield Recognition("en", None, iter([word]))


def _described(request: CaptionRequest) -> str:
    picture = request.picture
    picture.image.resize((224, 224)).getcolors(224 * 224)
    return f"{picture.format} {picture.image.size} {[note.text for note in picture.notes]}"


def _family(engine: object) -> Any:
    return SimpleNamespace(
        engines=(engine,),
        is_loading=False,
        setup=lambda: None,
        offers=lambda: (),
        look=lambda: None,
        watch=lambda _: None,
    )


def _handlers() -> dict[str, Callable[[Path], tuple[Handler[Any, Any], Uploaded]]]:
    """Return, for each word that a line begins with, what makes the handler and the item of a file."""
    resources = Resources(Settings())
    looks, reads = (
        AltTextHandler(resources, family=_family(engine), cache=CaptionCache(None, keep_for=timedelta(0)))
        for engine in (Looker(), Basic())
    )
    hears, mixes = TranscriptionHandler(resources, family=_family(Listener())), AddMusicHandler(resources)
    for handler in (looks, reads, hears, mixes):
        handler.setup()
    picture = PictureInput(image_url="upload:image", mode="short", language="en")
    recording = RecordingInput(language="en", response_format="verbose_json")
    return {
        "image": lambda path: (looks, Uploaded(picture, path)),
        "read image": lambda path: (reads, Uploaded(picture, path)),
        "sound": lambda path: (hears, Uploaded(recording, path)),
        "music": lambda path: (mixes, Uploaded(AddMusicRequest(), path)),
    }


def _outcome(handler: Handler[Any, Any], task: Uploaded) -> str:
    """Return "result", or a code, or what nobody foresaw: as the runner's last fence tells them apart."""
    try:
        (outcome,) = handler.run([task])
    except PressroomError as error:
        return error.code
    except Exception as error:  # noqa: BLE001 - the last fence, as the runner's: nobody may foresee nothing
        return f"unforeseen: {type(error).__name__}: {error}"[:300]
    match outcome:
        case Done():
            return "result"
        case Failed(error=error):
            return error.code if isinstance(error, PressroomError) else f"unforeseen: {error!r}"[:300]
    return f"unforeseen: {outcome!r}"[:300]


def _processor_seconds() -> float:
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    malloc.use_one_arena()
    log.configure(Settings())
    handlers = _handlers()
    print(json.dumps(["ready", time.time()]), flush=True)
    for line in sys.stdin:
        what, path = json.loads(line)
        began = _processor_seconds()
        outcome = _outcome(*handlers[what](Path(path)))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1_024
        print(json.dumps([outcome, _processor_seconds() - began, peak]), flush=True)


if __name__ == "__main__":
    main()
