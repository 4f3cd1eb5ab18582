"""Plan: the handler of POST /audiobooks/plan."""

import json
import re
from os import SEEK_END

from capabilities.audiobooks.handlers.articles import fetch_manuscript
from capabilities.audiobooks.handlers.covers import jpeg_cover
from capabilities.audiobooks.kinds.audiobook import MAX_TITLE
from capabilities.audiobooks.kinds.cast import check_tags, parts_of, plain
from capabilities.audiobooks.kinds.plan import MAX_FILE_BYTES, PlannedChapter, PlanRequest, ReadManuscript
from capabilities.audiobooks.manuscripts.manuscript import Manuscript, ManuscriptTooLong
from capabilities.audiobooks.manuscripts.reading import read_manuscript
from capabilities.speech.handlers.speech import EngineChooser
from capabilities.speech.kinds.writing import check_readable
from capabilities.speech.voices.voices import DEFAULT_LANGUAGE, lookup
from pipeline.downloads.images import ImageTooLarge, ImageUndecodable
from pipeline.errors import InvalidRequest
from pipeline.kind import UPLOADED
from workers.engines.resources import Resources
from workers.handler import Done, Handler, Outcome, Task

#: Characters of a chapter that its language is told from, and of its opening.
SAMPLE, OPENING = 4_000, 140
LANG_TAG = re.compile(r"</?lang\b[^<>]*>")


class PlanHandler(Handler[PlanRequest, ReadManuscript]):
    """Reads one manuscript at a time, even while its process speaks texts."""

    runs_apart = True

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self._chooser = resources.shared(EngineChooser)

    def setup(self) -> None:
        """Set the engines up, whose voices a plan names. Raises NotReady."""
        self._chooser.setup()

    def carry_out(self, task: Task[PlanRequest]) -> Outcome[ReadManuscript]:
        """Read a manuscript, and tell which of its chapters no voice here reads."""
        found = self._read(task)
        stated = task.input.language or found.language
        for chapter in found.chapters:
            chapter.paragraphs = [self._without_unspoken(paragraph) for paragraph in chapter.paragraphs]
        chapters = tuple(
            PlannedChapter(
                title=chapter.title,
                characters=len(plain(chapter.text)),
                language=(language := stated or _language(chapter.text)),
                opening=plain(chapter.text[:OPENING]),
                warning=self._warning(number, chapter.text, language),
            )
            for number, chapter in enumerate(found.chapters, start=1)
        )
        texts = json.dumps([{"title": one.title, "text": one.text} for one in found.chapters], ensure_ascii=False)
        artifact = task.store(texts.encode(), suffix=".json")
        return Done(
            ReadManuscript(
                title=found.title[:MAX_TITLE],
                author=found.author[:MAX_TITLE],
                chapters=chapters,
                left_out=dict(found.left_out),
                artifact=artifact,
                cover=_kept(task, found.cover),
            )
        )

    def _read(self, task: Task[PlanRequest]) -> Manuscript:
        """Return the manuscript of a file, an upload or an address. Raises InvalidRequest, Gone."""
        given, reads = task.input, frozenset(task.input.read)
        if given.upload is None and given.url is not None and not given.url.startswith(UPLOADED):
            return fetch_manuscript(given.url, self.settings, reads)
        with task.upload("manuscript") if given.upload is None else task.resumable_upload() as file:
            size = file.seek(0, SEEK_END)
            if size > MAX_FILE_BYTES:
                raise ManuscriptTooLong(
                    f"The manuscript has {size:,} bytes; the limit is {MAX_FILE_BYTES:,}. Leave out its pictures."
                )
            file.seek(0)
            return read_manuscript(file, given.name, reads)

    def _without_unspoken(self, paragraph: str) -> str:
        """Return a paragraph without the tag of a language that no voice speaks: the book's voice reads it."""
        tagged = next((part.language for part in parts_of(paragraph) if part.language), None)
        if tagged is None or any(voice.speaks(tag) for tag in lookup(tagged) for voice in self._chooser.voices.ready):
            return paragraph
        return LANG_TAG.sub("", paragraph)

    def _warning(self, number: int, text: str, language: str) -> str | None:
        voices = self._chooser.voices
        try:
            check_tags(text, number)
            text = "\n".join(part.text for part in parts_of(text) if part.language is None)
            voice = voices.pick(voice_name=None, language=language, characters=len(text))
            check_readable(text[:SAMPLE], voice, voices)
        except InvalidRequest as refused:
            return refused.message
        return f"{voice.display_name} is the best voice here for it." if voice.quality == "robotic" else None


def _kept(task: Task[PlanRequest], cover: bytes | None) -> str | None:
    if cover is None:
        return None
    try:
        return task.store(jpeg_cover(cover), suffix=".jpg")
    except (ImageTooLarge, ImageUndecodable):
        return None  # a book reads well without its cover


def _language(text: str) -> str:
    from workers.engines.languages.languages import evident_language  # it takes a fifth of a second

    return evident_language(text[:SAMPLE], DEFAULT_LANGUAGE)
