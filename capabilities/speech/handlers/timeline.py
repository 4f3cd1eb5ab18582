"""Timeline: when the words and sentences of a text are heard, as JSON and as subtitles.

An engine tells the times of the words that it was given, which differ from those of the text: it gets "ten dollars" for
$10, and may split a word or join two. So both are laid along one line of characters, and a time is looked up for each
place on it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import accumulate
from typing import Any, NamedTuple

from capabilities.speech.engines.utterance import SpokenWord, Utterance
from capabilities.speech.handlers.rendering import SpokenLine
from capabilities.speech.kinds.fields import SpokenRequest
from capabilities.speech.kinds.timestamps import SpokenTimes
from capabilities.speech.normalization.reading import Span, joined
from capabilities.speech.normalization.sentences import sentences
from pipeline.subtitles.segments import Segment, Word
from pipeline.subtitles.subtitles import srt, subtitles, vtt
from workers.handler import Task
from workers.media.audio.pcm import audible

#: In a script without spaces each sign counts as a word: the best there is without a dictionary.
_SIGN = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
WORD = re.compile(rf"{_SIGN}[^\w\s]*|(?:(?!{_SIGN})\S)+")
#: How long punctuation lasts, in letters, where times are estimated.
LETTERS_OF_PAUSE = {**dict.fromkeys(".?!…。？！", 6.0), **dict.fromkeys(",;:—、，；：", 3.0)}


class Timeline:
    """Notes the times of a text while it is spoken, if they are `wanted`.

    `begins` is the music before the text in the finished sound."""

    def __init__(self, request: SpokenRequest, language: str, *, wanted: bool, begins: timedelta = timedelta()) -> None:
        self._request = request
        self._language = language
        self._wanted = wanted
        self._begins = begins.total_seconds()
        self._place = 0
        #: Words, each with its place in the text of the request.
        self._words: list[tuple[int, Word]] = []
        self._estimated = False

    def add(self, spoken: SpokenLine, begins: timedelta) -> None:
        """Note the next line, which begins at this time of the sound."""
        line, self._place = spoken.line, self._place + len(spoken.line.source)
        if spoken.utterance is None or not self._wanted:
            return
        self._estimated = self._estimated or spoken.utterance.words is None
        start, later = self._place - len(line.text.lstrip()), begins.total_seconds()
        text = line.text.strip()
        for heard in heard_words(spoken.spans, spoken.utterance):
            word = Word(start=later + heard.begins, end=later + heard.ends, word=text[heard.start : heard.end])
            self._words.append((start + heard.start, word))

    def keep(self, task: Task[Any], duration: timedelta) -> SpokenTimes | None:
        """Store the subtitles, and return the times; None if they are not wanted."""
        if not self._wanted:
            return None
        seconds = duration.total_seconds()
        found = [segment.moved(self._begins, latest=seconds) for segment in self.sentences()]
        shown = subtitles(found, language=self._language.partition("-")[0], latest=seconds)
        return SpokenTimes(
            sentences=found,
            estimated=self._estimated,
            srt=task.store(srt(shown).encode(), suffix=".srt"),
            vtt=task.store(vtt(shown).encode(), suffix=".vtt"),
        )

    def sentences(self) -> Iterator[Segment]:
        """Yield the sentences of the text in which a word was spoken."""
        number, end = 0, 0
        for passage in self._request.passages:
            end += len(passage.source) - len(passage.text)
            for sentence in sentences(passage.text, self._language):
                end += len(sentence)
                first = number
                while number < len(self._words) and self._words[number][0] < end:
                    number += 1
                if words := [word for _, word in self._words[first:number]]:
                    yield Segment(start=words[0].start, end=words[-1].end, text=sentence.strip(), words=words)


class HeardWord(NamedTuple):
    """A word, `text[start:end]`, and when it is heard, in seconds of the sound."""

    start: int
    end: int
    begins: float
    ends: float


def heard_words(spans: Sequence[Span], utterance: Utterance) -> Iterator[HeardWord]:
    """Yield the words of the spans' sources, in order. A word has a letter or a digit."""
    text = joined(spans)
    words = estimated_words(text, utterance) if utterance.words is None else _audible_words(text, utterance)
    curve, places = _Curve(text, words), _Places(spans)
    for found in WORD.finditer("".join(span.source for span in spans)):
        letters = [place for place, sign in enumerate(found[0], found.start()) if sign.isalnum()]
        if letters and curve:
            begins = curve.begins(places.spoken(letters[0]))
            yield HeardWord(*found.span(), begins, max(begins, curve.ends(places.spoken(letters[-1] + 1, end=True))))


def estimated_words(text: str, utterance: Utterance) -> list[SpokenWord]:
    """Return the words of a text, estimated as if all letters took equally long."""
    places = [found.span() for found in re.finditer(r"\w+", text)]
    if not places:
        return []
    weights = [1.0 if sign.isalnum() else LETTERS_OF_PAUSE.get(sign, 0.3) for sign in text]
    reached = list(accumulate(weights, initial=0.0))
    first, last = reached[places[0][0]], reached[places[-1][1]]
    heard, silent = (sample / utterance.sound.sample_rate for sample in audible(utterance.sound))

    def at(place: int) -> float:
        return heard + (reached[place] - first) / max(last - first, 1.0) * (silent - heard)

    return [SpokenWord(start, end, at(start), at(end)) for start, end in places]


def _audible_words(text: str, utterance: Utterance) -> list[SpokenWord]:
    """Return the words of an utterance, the first from the start of its sound and the last to the end.

    A neural voice is heard before the first and after the last word that its model tells: a fifth of a second each, at
    half speed."""
    words = [word for word in utterance.words or () if any(map(str.isalnum, text[word.start : word.end]))]
    if words:
        begins, ends = (sample / utterance.sound.sample_rate for sample in audible(utterance.sound))
        words[0] = replace(words[0], begins=min(begins, words[0].ends))
        words[-1] = replace(words[-1], ends=max(ends, words[-1].begins))
    return words


class _Places:
    """Maps places in the written text to the spoken one; in proportion within a span that was changed."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._written = list(accumulate((len(span.source) for span in spans), initial=0))
        self._spoken = list(accumulate((len(span.spoken) for span in spans), initial=0))

    def spoken(self, place: int, *, end: bool = False) -> float:
        """Return the place of a character in the spoken text, or of the `end` of the one before it."""
        number = (bisect_left(self._written, place) if end else bisect_right(self._written, place)) - 1
        number = min(max(number, 0), len(self._spans) - 1)
        span, into = self._spans[number], place - self._written[number]
        share = len(span.spoken) / len(span.source) if span.source else 0.0
        return self._spoken[number] + into * share


class _Curve:
    """Time over the places of the spoken text. It rises, since words are heard in order."""

    def __init__(self, text: str, words: Sequence[SpokenWord]) -> None:
        self._places: list[int] = []
        self._times: list[float] = []
        distinct = _distinct(words)
        ends = [min(word.start, len(text)) for word in distinct[1:]] + [len(text)]
        start = 0
        for word, end in zip(distinct, ends, strict=False):
            letters = [place for place in range(start, end) if text[place].isalnum()]
            if letters:
                self._add(letters[0], word.begins)
                self._add(letters[-1] + 1, word.ends)
            start = end

    def __bool__(self) -> bool:
        return bool(self._places)

    def begins(self, place: float) -> float:
        """Return when the character at a place begins."""
        return self._at(place, bisect_right(self._places, place))

    def ends(self, place: float) -> float:
        """Return when the character before a place ends."""
        return self._at(place, bisect_left(self._places, place))

    def _add(self, place: int, time: float) -> None:
        self._places.append(place)
        self._times.append(max(time, self._times[-1] if self._times else 0.0))

    def _at(self, place: float, number: int) -> float:
        """Return the time at a place, which lies before the known place of that number."""
        if number < len(self._places) and self._places[number] == place:
            return self._times[number]
        if not 0 < number < len(self._places):
            return self._times[min(number, len(self._places) - 1)]
        before, after = self._places[number - 1], self._places[number]
        share = (place - before) / (after - before)
        return self._times[number - 1] + share * (self._times[number] - self._times[number - 1])


def _distinct(words: Sequence[SpokenWord]) -> list[SpokenWord]:
    """Return the words with distinct starts. An engine that spells a word out reports it again."""
    distinct: list[SpokenWord] = []
    for word in words:
        if distinct and word.start <= distinct[-1].start:
            distinct[-1] = replace(distinct[-1], ends=max(distinct[-1].ends, word.ends))
        else:
            distinct.append(word)
    return distinct
