"""Timeline: when the words and sentences of a text are heard, as JSON and as subtitles.

An engine tells the times of the words that it was given, which differ from those of the text: it gets "ten dollars" for
$10, and may split a word or join two. So both are laid along one line of characters, and a time is looked up for each
place on it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
#: Length of punctuation in letters, for estimated times.
LETTERS_OF_PAUSE = {**dict.fromkeys(".?!…。？！", 6.0), **dict.fromkeys(",;:—、，；：", 3.0)}
#: A word's ends are looked up so far inside it, as places may be the end of one word and the start of the next.
INSIDE = 1e-6


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


def heard_words(spans: Sequence[Span], utterance: Utterance) -> Iterator[SpokenWord]:
    """Yield the words of the spans' sources, in order, each with its place there. A word has a letter or a digit."""
    text = joined(spans)
    words = estimated_words(text, utterance) if utterance.words is None else _audible_words(text, utterance)
    places, times = _curve(text, words)
    found = []
    for word in WORD.finditer("".join(span.source for span in spans)):
        if letters := [place for place, sign in enumerate(word[0], word.start()) if sign.isalnum()]:
            found.append((*word.span(), letters[0] + INSIDE, letters[-1] + 1 - INSIDE))
    if not places or not found:
        return
    written = list(accumulate((len(span.source) for span in spans), initial=0))
    spoken = list(accumulate((len(span.spoken) for span in spans), initial=0))
    heard = np.interp(np.interp([word[2:] for word in found], written, spoken), places, times)
    for (start, end, *_), (begins, ends) in zip(found, heard.tolist(), strict=True):
        yield SpokenWord(start, end, begins, max(begins, ends))


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


def _curve(text: str, words: Sequence[SpokenWord]) -> tuple[list[int], NDArray[np.float64]]:
    """Return places in a spoken text, and when each is heard. Both rise, since words are heard in order."""
    distinct, start = _distinct(words), 0
    places: list[int] = []
    times: list[float] = []
    ends = [min(word.start, len(text)) for word in distinct[1:]] + [len(text)]
    for word, end in zip(distinct, ends, strict=False):
        if letters := [place for place in range(start, end) if text[place].isalnum()]:
            places += letters[0], letters[-1] + 1
            times += word.begins, word.ends
        start = end
    return places, np.maximum.accumulate(times)


def _distinct(words: Sequence[SpokenWord]) -> list[SpokenWord]:
    """Return the words with distinct starts. An engine that spells a word out reports it again."""
    distinct: list[SpokenWord] = []
    for word in words:
        if distinct and word.start <= distinct[-1].start:
            distinct[-1] = replace(distinct[-1], ends=max(distinct[-1].ends, word.ends))
        else:
            distinct.append(word)
    return distinct
