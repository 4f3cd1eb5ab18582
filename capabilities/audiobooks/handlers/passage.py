"""Passage: the handler of POST /audiobooks, which speaks one passage at a time."""

import json
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta

from capabilities.audiobooks.kinds.audiobook import PassageInput, SpokenPassage
from capabilities.audiobooks.kinds.cast import plain
from capabilities.speech.engines import NothingToSpeak
from capabilities.speech.handlers.batch import CHUNK_CHARACTERS
from capabilities.speech.handlers.rendering import SpeechRenderer
from capabilities.speech.handlers.script import write_script
from capabilities.speech.handlers.speech import SpeakingHandler, append_all
from capabilities.speech.handlers.timeline import Timeline
from pipeline.errors import Gone
from pipeline.subtitles.segments import Segment
from workers.engines import malloc
from workers.engines.resources import Resources
from workers.handler import Done, Outcome, Task
from workers.media.audio.flac import resampled, write_flac
from workers.media.audio.levelling import Levelled
from workers.media.audio.loudness import MeasuredTrack
from workers.media.audio.track import Track
from workers.media.marks.marking import TRAINED

#: Lossless: passages are joined and encoded once more.
SUFFIX = ".flac"
#: Passages of a process at once, which is what its end costs. A network speaks two lines at once: with four passages, a
#: book took as long, and 30 MiB more.
PASSAGES = 2
#: Silence between two voices of a paragraph.
TURN_GAP = timedelta(milliseconds=250)


@dataclass(frozen=True, slots=True)
class SpokenPart:
    """A part of a passage: its levelled sound, its sentences, and who spoke it."""

    sound: Levelled
    sentences: list[Segment]
    speaking: SpeechRenderer


class PassageHandler(SpeakingHandler[PassageInput, SpokenPassage]):
    """Speaks a passage into a FLAC file, or takes it from an earlier audiobook."""

    runs_apart = True

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self.slots = PASSAGES

    def carry_out(self, task: Task[PassageInput]) -> Outcome[SpokenPassage]:
        """Copy the passage's earlier sound, or speak its parts, each by its voice."""
        given = task.input
        if given.sound is not None:
            return _copied(task, given.sound)
        with ExitStack() as opened:
            # glibc keeps what networks free, in a process that is never idle.
            opened.callback(malloc.trim)
            texts = given.parts(self.chooser.voices)
            parts: list[SpokenPart] = []
            for number, text in enumerate(texts, start=1):
                parts.append(self.with_voice(text, lambda speaking: self._speak(task, text, speaking, opened)))  # noqa: B023
                task.progress(number / len(texts), 1)
            return self._joined(task, texts, parts)

    def _speak(
        self, task: Task[PassageInput], text: PassageInput, speaking: SpeechRenderer, opened: ExitStack
    ) -> SpokenPart:
        script = write_script(text, limit=CHUNK_CHARACTERS, language=speaking.language)
        timeline = Timeline(text, speaking.language, wanted=True)
        track = MeasuredTrack(speaking.voice.natural_sample_rate_hertz)
        opened.enter_context(track)
        try:
            for _ in append_all(track, speaking, script, timeline, task.is_stopped):
                pass
        except NothingToSpeak:  # such as a line of asterisks, which is a pause
            track.append_silence(max(text.paragraph_gap, *(line.marks for line in script)))
        sentences = [sentence.model_copy(update={"words": None}) for sentence in timeline.sentences()]
        return SpokenPart(Levelled(track, track.measured()), sentences, speaking)

    def _joined(
        self, task: Task[PassageInput], texts: list[PassageInput], parts: list[SpokenPart]
    ) -> Outcome[SpokenPassage]:
        """Join the parts with their silences, and store them with the times of their sentences."""
        first = parts[0].speaking
        rate = first.voice.natural_sample_rate_hertz
        sentences: list[Segment] = []
        with Track(rate) as whole, tempfile.TemporaryFile(prefix="pressroom-") as file:
            for number, (text, part) in enumerate(zip(texts, parts, strict=True)):
                if number:
                    is_paragraph = texts[number - 1].text[-2:].isspace() or text.text[:2].isspace()
                    whole.append_silence(text.paragraph_gap if is_paragraph else TURN_GAP)
                begins = whole.duration.total_seconds()
                _append(whole, part.sound)
                ends = whole.duration.total_seconds()
                sentences += [sentence.moved(begins, latest=ends) for sentence in part.sentences]
            write_flac(whole, file)
            file.seek(0)
            trained = (part.speaking.made for part in parts if part.speaking.made.source == TRAINED)
            artifact = task.store(file, suffix=SUFFIX, made=next(trained, first.made))
            seconds = whole.duration.total_seconds()
        script = {"text": plain(task.input.text), "sentences": [[one.start, one.end, one.text] for one in sentences]}
        spoken = SpokenPassage(
            artifact=artifact,
            duration_seconds=seconds,
            voice=first.voice.id,
            engines=tuple(dict.fromkeys(part.speaking.voice.engine for part in parts)),
            warning=" ".join(dict.fromkeys(filter(None, (part.speaking.warning for part in parts)))) or None,
            language=first.language,
            script=task.store(json.dumps(script, ensure_ascii=False).encode(), suffix=".json"),
            **_cover(task, task.input.cover),
        )
        models = dict.fromkeys(model for part in parts for model in part.speaking.made.models)
        return Done(spoken, engine=first.voice.engine, models=tuple(models))


def _append(whole: Track, sound: Levelled) -> None:
    for block in resampled(sound.blocks(), sound.sample_rate, whole.sample_rate):
        whole.append(block)


def _copied(task: Task[PassageInput], sound: SpokenPassage) -> Outcome[SpokenPassage]:
    """Return an earlier sound, in files of this job's own: the earlier job may be deleted."""
    own = {
        "artifact": task.store(task.stored(sound.artifact), suffix=SUFFIX),
        **_cover(task, task.input.cover or sound.cover),
    }
    if sound.script:
        own["script"] = task.store(task.stored(sound.script), suffix=".json")
    return Done(sound.model_copy(update=own), engine=next(iter(sound.engines), None), credits=0)


def _cover(task: Task[PassageInput], cover: str | None) -> dict[str, str]:
    if cover is None:
        return {}
    try:
        return {"cover": task.store(task.stored(cover), suffix=".jpg")}
    except Gone:  # its plan has expired; a book reads well without its cover
        return {}
