"""Rendering: the engine and voice of a text, which speak the lines of its script."""

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta

from capabilities.speech.engines import FALLBACK, NothingToSpeak, Synthesizer
from capabilities.speech.engines.utterance import Utterance
from capabilities.speech.handlers.script import ScriptLine
from capabilities.speech.kinds.lexicon import Replacements
from capabilities.speech.kinds.pauses import NONE
from capabilities.speech.normalization.reading import Span, joined, read, spoken_form
from capabilities.speech.voices.voices import Voice
from workers.engines import Stopped
from workers.media.marks.marking import BY_RULES, TRAINED, Made

#: A text as it is read, and its sound; None if it has no word.
Uttered = tuple[Sequence[Span], Utterance | None]


def source_of(*engines: str) -> str:
    """Return the digital source type of the sound of engines."""
    return BY_RULES if set(engines) == {FALLBACK} else TRAINED


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A line, the silence before it and its sound; `utterance` is None if it has no word."""

    line: ScriptLine
    silence: timedelta
    utterance: Utterance | None
    #: The line as it is read, without the white space at its ends.
    spans: Sequence[Span] = ()


@dataclass(frozen=True, slots=True)
class SpeechRenderer:
    """The engine and voice of one text, with speed and pitch."""

    engine: Synthesizer
    voice: Voice
    speed: float
    pitch: float
    lexicon: Replacements = field(default_factory=Replacements)
    #: The language that was asked for; None for the voice's first.
    asked: str | None = None
    #: For the client: which voice would suit the request better.
    warning: str | None = None

    @property
    def language(self) -> str:
        """The tag of the language that the text is read in: one of the voice's."""
        return self.voice.code_for(self.asked) if self.asked else self.voice.language_codes[0]

    @property
    def made(self) -> Made:
        """The mark for its sound."""
        return Made(self.engine.name, source=source_of(self.engine.name), model=self.engine.model_of(self.voice.id))

    def perform(self, script: Sequence[ScriptLine], *, stop: Callable[[], bool]) -> Iterator[SpokenLine]:
        """Yield the spoken lines of a script in order, as many at once as the engine can.

        Raises NothingToSpeak if no line has a word, Stopped, and what the engine raises."""
        utterances = self._utter_ahead(script, stop)
        has_begun, held = False, NONE
        with closing(utterances):
            for line, (spans, utterance) in zip(script, utterances, strict=True):
                is_spoken = utterance is not None
                silence = held + line.silence(is_spoken=is_spoken, has_begun=has_begun)
                has_begun = has_begun or is_spoken
                # Silence before the first word is held back, so that a text without a word is refused and not begun.
                held, silence = (NONE, silence) if has_begun else (silence, NONE)
                yield SpokenLine(line, silence, utterance, spans)
        if not has_begun:
            raise NothingToSpeak

    def _utter_ahead(self, script: Sequence[ScriptLine], stop: Callable[[], bool]) -> Generator[Uttered, None, None]:
        ahead = self.engine.parallel
        if ahead == 1:
            yield from (self._utter(line, stop) for line in script)
            return
        has_left = False
        waiting: list[Future[Uttered]] = []
        with ThreadPoolExecutor(ahead, "speak") as pool:
            try:
                for number, line in enumerate(script):
                    waiting.append(pool.submit(self._utter, line, lambda: has_left or stop()))
                    # The first line alone: a client may be waiting for it, and others would delay it.
                    if number == 0 or len(waiting) > ahead:
                        yield waiting.pop(0).result()
                while waiting:
                    yield waiting.pop(0).result()
            finally:
                has_left = True
                pool.shutdown(cancel_futures=True)

    def _utter(self, line: ScriptLine, stop: Callable[[], bool]) -> Uttered:
        if stop():
            raise Stopped
        spans = self._read(line.text.strip())
        text = joined(spans)
        if not text.strip():
            return spans, None
        try:
            utterance = self.engine.utter(text, voice=self.voice.id, speed=self.speed, pitch=self.pitch, stop=stop)
        except NothingToSpeak:
            return spans, None
        # Makes the pause as long as the text asks.
        if line.starts_at_pause or line.ends_at_pause:
            utterance = utterance.trimmed(start=line.starts_at_pause, end=line.ends_at_pause)
        return spans, utterance

    def _read(self, written: str) -> list[Span]:
        """Return how a text is read, by the lexicon first and the language's rules for the rest."""
        spans: list[Span] = []
        for piece, replacement in self.lexicon.pieces(written):
            if replacement is None:
                spans += read(piece, self.language)
            else:
                spans.append(Span(piece, spoken_form(replacement, self.language)))
        return spans
