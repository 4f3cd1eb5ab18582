"""Portrait: one task on its way from a URL to the texts that describe its picture."""

from collections.abc import Mapping
from datetime import timedelta

from pipeline.errors import PressroomError
from pipeline.kinds.alt_text.fields import PictureInput, PictureTexts, Text
from workers.engines.captioning import Caption, Captioner, Mode
from workers.handler import Done, Failed, Outcome, Release, Task
from workers.handlers.alt_text.caption_cache import Source, caption_key
from workers.media.images.picture import Picture

#: A slow download has got on by then.
LATER = timedelta(seconds=2)


class Portrait:
    """What is asked of one picture, and what is known of it so far."""

    def __init__(
        self, task: Task[PictureInput], modes: tuple[Mode, ...], language: str, engine: Captioner, source: Source
    ) -> None:
        self.task = task
        self.url = task.input.image_url
        self.modes = modes
        self.language = language
        self.engine = engine
        self.sha256 = b""
        self.picture: Picture | None = None
        self._source = source
        self._texts: dict[Mode, Caption] = {}
        self._error: PressroomError | None = None
        self._is_postponed = False

    @property
    def is_stopped(self) -> bool:
        """Whether whatever is done now is in vain."""
        return self.task.is_stopped()

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be done."""
        return self._error is not None or not self.missing or self._is_postponed or self.is_stopped

    @property
    def missing(self) -> tuple[Mode, ...]:
        """The texts that it does not have yet."""
        return tuple(mode for mode in self.modes if mode not in self._texts)

    def keys(self) -> dict[str, Mode]:
        """Return what its missing texts are kept under, once its bytes are known."""
        return {self._key(mode): mode for mode in self.missing}

    def kept(self) -> dict[str, Caption]:
        """Return its texts as they are kept."""
        return {self._key(mode): caption for mode, caption in self._texts.items()}

    def take(self, texts: Mapping[Mode, Caption] | PressroomError) -> None:
        """Take the missing texts from those that there are, or the reason why there are none."""
        if isinstance(texts, PressroomError):
            self.fail(texts)
            return
        self._texts |= {mode: texts[mode] for mode in self.missing if mode in texts}

    def fail(self, error: PressroomError) -> None:
        """There will be no text, and this is why."""
        self._error = error

    def postpone(self) -> None:
        """Its picture keeps others waiting: again a little later."""
        self._is_postponed = True

    def result(self) -> Outcome[PictureTexts]:
        """Return what became of the task."""
        if self._error is not None:
            return Failed(self._error)
        if self.missing and self.is_stopped:
            return Release()
        if self._is_postponed:
            return Release(LATER)
        texts = {mode: Text(text=said.text, confidence=round(said.confidence, 4)) for mode, said in self._all()}
        output = PictureTexts(texts=texts, language=self.language, engine=self.engine.name)
        return Done(output, engine=self.engine.name)

    def _all(self) -> list[tuple[Mode, Caption]]:
        return [(mode, self._texts[mode]) for mode in self.modes]

    def _key(self, mode: Mode) -> str:
        return caption_key(self._source, sha256=self.sha256, mode=mode, language=self.language)
