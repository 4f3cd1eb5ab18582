"""Timeline: when the words and sentences of a text are heard, as JSON and as subtitles."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from capabilities.speech.handlers.rendering import SpokenLine
from capabilities.speech.handlers.word_times import heard_words
from capabilities.speech.kinds.fields import SpokenRequest
from capabilities.speech.kinds.timestamps import SpokenTimes
from capabilities.speech.normalization.sentence_ends import sentences
from pipeline.subtitles.formats import srt, vtt
from pipeline.subtitles.segments import Segment, Word
from pipeline.subtitles.subtitles import subtitles
from workers.handler import Task


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
        found = [segment.moved(self._begins, latest=seconds) for segment in self._sentences()]
        shown = subtitles(found, language=self._language.partition("-")[0], latest=seconds)
        return SpokenTimes(
            sentences=found,
            estimated=self._estimated,
            srt=task.store(srt(shown).encode(), suffix=".srt"),
            vtt=task.store(vtt(shown).encode(), suffix=".vtt"),
        )

    def _sentences(self) -> Iterator[Segment]:
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
