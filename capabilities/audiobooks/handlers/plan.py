"""Plan: the handler of POST /audiobooks/plan."""

import json

from capabilities.audiobooks.kinds.audiobook import MAX_TITLE
from capabilities.audiobooks.kinds.plan import PlannedChapter, PlanRequest, ReadManuscript
from capabilities.audiobooks.manuscripts.reading import read_manuscript
from capabilities.speech.handlers.speech import EngineChooser
from capabilities.speech.kinds.writing import check_readable
from capabilities.speech.voices.voices import DEFAULT_LANGUAGE
from pipeline.errors import InvalidRequest
from workers.engines.resources import Resources
from workers.handler import Done, Handler, Outcome, Task

#: Characters of a chapter that its language is told from, and of its opening.
SAMPLE, OPENING = 4_000, 140


class PlanHandler(Handler[PlanRequest, ReadManuscript]):
    """Reads one manuscript at a time, beside the texts that its process speaks."""

    runs_apart = True

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self._chooser = resources.shared(EngineChooser)

    def setup(self) -> None:
        """Set the engines up, whose voices a plan names. Raises NotReady."""
        self._chooser.setup()

    def carry_out(self, task: Task[PlanRequest]) -> Outcome[ReadManuscript]:
        """Read a manuscript, and tell which of its chapters no voice here reads."""
        with task.upload("manuscript") as file:
            found = read_manuscript(file, task.input.name)
        stated = task.input.language or found.language
        chapters = tuple(
            PlannedChapter(
                title=chapter.title,
                characters=len(chapter.text),
                language=(language := stated or _language(chapter.text)),
                opening=chapter.text[:OPENING],
                warning=self._warning(chapter.text, language),
            )
            for chapter in found.chapters
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
            )
        )

    def _warning(self, text: str, language: str) -> str | None:
        voices = self._chooser.voices
        try:
            voice = voices.pick(voice_name=None, language=language, characters=len(text))
            check_readable(text[:SAMPLE], voice, voices)
        except InvalidRequest as refused:
            return refused.message
        return f"{voice.display_name} is the best voice here for it." if voice.quality == "robotic" else None


def _language(text: str) -> str:
    from workers.engines.languages.languages import evident_language  # it takes a fifth of a second

    return evident_language(text[:SAMPLE], DEFAULT_LANGUAGE)
