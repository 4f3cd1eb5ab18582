"""Pending caption: the texts that one item asks for, or the reason why it gets none."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from capabilities.alt_text.engines import NO_HINTS, Captioner, Hints
from capabilities.alt_text.handlers.caption_cache import Source
from capabilities.alt_text.kinds.fields import Caption, Mode, PictureTexts
from pipeline.errors import PressroomError
from workers.engines.model_choice import models_of
from workers.engines.tokens import Tokens
from workers.handler import Done, Failed, Outcome, Release
from workers.media.images.picture import Picture
from workers.models.advice import what_writes

#: How long an item with a slow download is put back: by then the download has gone on.
LATER = timedelta(seconds=2)
#: Begins the advice with a draft.
UNKNOWN = "No engine here could describe this picture, so the text is a draft, free of charge."


@dataclass(eq=False, slots=True)
class PendingCaption:
    """`is_stopped` says whether nobody wants the texts any more; `sha256` and `picture` are set once it is loaded."""

    modes: tuple[Mode, ...]
    language: str
    engine: Captioner
    source: Source
    is_stopped: Callable[[], bool]
    tokens: Tokens
    hints: Hints = NO_HINTS
    sha256: bytes = b""
    picture: Picture | None = None
    _texts: dict[Mode, Caption] = field(default_factory=dict)
    _error: PressroomError | None = None
    _is_postponed: bool = False

    @property
    def is_over(self) -> bool:
        return self._error is not None or not self.missing or self._is_postponed or self.is_stopped()

    @property
    def missing(self) -> tuple[Mode, ...]:
        return tuple(mode for mode in self.modes if mode not in self._texts)

    @property
    def is_draft(self) -> bool:
        """True if its texts are there, and none of them says what the picture shows."""
        return not self.missing and all(self._texts[mode].draft for mode in self.modes)

    def missing_keys(self) -> list[str]:
        return [self._key(mode) for mode in self.missing]

    def kept(self) -> dict[str, Caption]:
        return {self._key(mode): caption for mode, caption in self._texts.items()}

    def recall(self, found: Mapping[str, Caption]) -> None:
        self._texts |= {mode: found[key] for mode in self.missing if (key := self._key(mode)) in found}

    def take(self, texts: Mapping[Mode, Caption] | PressroomError) -> None:
        if isinstance(texts, PressroomError):
            self.fail(texts)
        else:
            self._texts |= {mode: texts[mode] for mode in self.missing if mode in texts}

    def hand_on(self, engine: Captioner, source: Source) -> None:
        self.engine, self.source = engine, source

    def fail(self, error: PressroomError) -> None:
        self._error = error

    def postpone(self) -> None:
        """Put the item back: its download keeps other pictures waiting, or a better engine is being loaded."""
        self._is_postponed = True

    def result(self) -> Outcome[PictureTexts]:
        if self._error is not None:
            return Failed(self._error)
        if self.missing and self.is_stopped():
            return Release()
        if self._is_postponed:
            return Release(LATER)
        said = [(mode, self._texts[mode]) for mode in self.modes]
        texts = {mode: replace(caption, confidence=round(caption.confidence, 4)) for mode, caption in said}
        advice = f"{UNKNOWN} {what_writes('captioning', self.language, 'vision')}" if self.is_draft else None
        output = PictureTexts(texts=texts, language=self.language, engine=self.engine.name, advice=advice)
        # Nobody would keep a draft, and an ornament has no text.
        is_free = self.is_draft or all(caption.decorative for caption in texts.values())
        return Done(output, self.engine.name, 0 if is_free else None, models_of(self.engine))

    def _key(self, mode: Mode) -> str:
        return self.source.key(sha256=self.sha256, mode=mode, language=self.language, hints=self.hints)
