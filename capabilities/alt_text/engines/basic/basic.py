"""basic: descriptions without a captioning model: the author's notes, the text in the picture, its colours.

It names no object and reads no value off a chart."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from capabilities.alt_text.engines import Caption, CaptionRequest, Captions, Mode
from capabilities.alt_text.engines.basic.facts import Facts, find_facts
from capabilities.alt_text.engines.basic.texts import chosen, cut_at_word, without_labels
from capabilities.alt_text.engines.basic.wording import LANGUAGES, Wording, wording_of
from capabilities.alt_text.engines.text.cleaning import clean
from capabilities.alt_text.engines.text.shaping import LIMITS, fitted, shape
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.errors import PressroomError
from pipeline.settings import Settings
from workers.engines import Stopped, never
from workers.engines.ocr import Reader
from workers.media.images.notes import UNQUOTABLE
from workers.media.images.picture import Note

#: The confidence in each kind of note. Of 25 titles of unseen drawings 17 named
#: what is shown, and others a collection, so a text made of one is a draft.
CONFIDENCE = {"alt_text": 0.9, "caption": 0.8, "title": 0.45}
#: A note with an address or a list of values is about the file: “EPS converted from https://…”, “Size: 5 K Camera: …”.
#: So is a property of a screenshot: “Window class: marble”.
OF_FILE = re.compile(r"https?:|www\.|(?:\w: .*){3}|\A[^:]{1,30}: \S+\Z")
#: The same of a note in a language that was not asked for; and of a caption that shares no word with the file's title:
#: of four of unseen drawings two were about something else (“The color of thy mud is easy to change” for a mug).
FOREIGN_CONFIDENCE, DISAGREEING_CONFIDENCE = 0.5, 0.45


@dataclass(frozen=True, slots=True)
class AuthorNote:
    """A text that an author wrote about a picture, and the confidence in it (0..1); a title names it."""

    text: str
    confidence: float
    is_title: bool = False

    @property
    def is_draft(self) -> bool:
        return self.confidence < FOREIGN_CONFIDENCE


def statements_in(notes: Sequence[Note], language: str) -> tuple[list[AuthorNote], list[AuthorNote]]:
    """Return two lists: notes in a language, and notes in others or in one that can't be told. Their order stays.

    A note of the second list can be quoted, and is not text in the language that is wanted."""
    own: list[AuthorNote] = []
    foreign: list[AuthorNote] = []
    for note in notes:
        text = clean(note.text)
        if OF_FILE.search(note.text) or UNQUOTABLE.fullmatch(text) or sum(map(str.isalpha, text)) <= 2:
            continue
        confidence, is_title = CONFIDENCE.get(note.field, CONFIDENCE["title"]), note.field == "title"
        if note.field == "caption" and not _agrees(text, notes, note.language):
            confidence = DISAGREEING_CONFIDENCE
        if language_of(note, text) == language:
            own.append(AuthorNote(text, confidence, is_title))
        else:
            foreign.append(AuthorNote(text, min(confidence, FOREIGN_CONFIDENCE), is_title))
    return own, foreign


def _agrees(caption: str, notes: Sequence[Note], language: str | None) -> bool:
    """Return whether a title of the file has a word of a caption; true without a title of words: DSC_0123 is none."""
    titles = [note.text.casefold() for note in notes if note.field == "title" and note.language == language]
    if not any(re.search(r"[^\W\d_]{4}", title) and not re.search(r"\d{3}", title) for title in titles):
        return True
    words = set(re.findall(r"[^\W\d_]{3,}", caption.casefold())).difference(*_own_words().values())
    return any(word in title for word in words for title in titles)


def language_of(note: Note, text: str) -> str | None:
    """Return the language of a note (ISO 639-1) by its tag, or by its words; None: unknown."""
    tag = (note.language or "").lower().partition("-")[0]
    if tag and tag not in ("x", "und", "mul", "zxx"):
        return tag
    words = re.findall(r"[^\W\d_]+", text.lower())
    counts = {language: sum(word in own for word in words) for language, own in _own_words().items()}
    best = max(counts, key=lambda language: counts[language])
    others = max(count for language, count in counts.items() if language != best)
    return best if counts[best] > 2 * others else None


@cache
def _own_words() -> dict[str, set[str]]:
    """Return the commonest words of each language that no other language has."""
    common = {language: set(wording_of(language)["common"].split()) for language in LANGUAGES}
    known = Counter(word for words in common.values() for word in words)
    return {language: {word for word in words if known[word] == 1} for language, words in common.items()}


MOST_QUOTED: dict[Mode, int] = {"short": 3, "seo": 3, "long": 12}


def describe(facts: Facts, modes: Sequence[Mode], wording: Wording) -> dict[Mode, str]:
    """Return the text of each mode: what it reads, or else its colours."""
    texts: dict[Mode, str] = {}
    for mode in modes:
        said = [_quotation(facts, mode, wording) if facts.blocks else _appearance(facts, wording)]
        if mode != "short" and facts.is_animated:
            said.append(wording["animated"])
        texts[mode] = fitted(said, mode)
    return texts


def quote_author(facts: Facts, said: AuthorNote, modes: Sequence[Mode], wording: Wording) -> dict[Mode, str]:
    """Return an author's words, which need not be in the wanted language, as a quotation."""
    template, noun = wording["titled" if said.is_title else "authored"], wording[facts.noun]
    quoted: dict[Mode, str] = {}
    for mode in modes:
        room = LIMITS[mode] - len(template.format(noun=noun, quotes=wording.quoted([""]))) - 1
        quoted[mode] = fitted([template.format(noun=noun, quotes=wording.quoted([cut_at_word(said.text, room)]))], mode)
    return quoted


def _quotation(facts: Facts, mode: Mode, wording: Wording) -> str:
    """Return the phrase that quotes the beginning of a document, or the most conspicuous texts."""
    template, noun = wording["begins" if facts.noun == "document" else "reads"], wording[facts.noun]
    blocks = facts.blocks[:2] if facts.noun == "document" else facts.blocks
    if mode != "long":
        blocks = without_labels(blocks)
    room = LIMITS[mode] - len(template.format(noun=noun, quotes=wording["conjunction"])) - 1
    texts = chosen(blocks, room, MOST_QUOTED[mode], wording.marks)
    return template.format(noun=noun, quotes=wording.quoted(texts))


def _appearance(facts: Facts, wording: Wording) -> str:
    """Return the phrase for a picture without text: its colours and its ground."""
    if facts.is_empty:
        return wording["empty"]
    if facts.is_plain:
        return wording["plain"].format(colours=wording.painted(facts.colours, None))
    if facts.noun == "grey":
        return wording["grey"]
    return wording["coloured"].format(noun=wording[facts.noun], colours=wording.painted(facts.colours, facts.paper))


#: The confidence that a plain area, an empty picture or a divider is an ornament.
ORNAMENT_CONFIDENCE = 0.7


class Basic:
    """The fallback, which is always ready."""

    name = "basic"
    #: Larger batches would not be faster.
    batch = 1

    def __init__(self, reader: Reader | None = None) -> None:
        self._reader = reader or Reader()

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(Reader(settings.of(CaptioningSettings).threads))

    def readiness(self) -> str | None:
        """Return None: it needs nothing."""
        return None

    def setup(self) -> None:
        """Do nothing: the OCR models are loaded with the first picture."""

    def offer(self) -> Mapping[str, Any]:
        return {"languages": list(self.languages())}

    def languages(self) -> Sequence[str]:
        return LANGUAGES

    def caption(
        self, requests: Sequence[CaptionRequest], *, stop: Callable[[], bool] = never
    ) -> Sequence[Captions | PressroomError]:
        """Return the texts of each picture, or why it has none, in order. Raises Stopped between two pictures."""
        results: list[Captions | PressroomError] = []
        for request in requests:
            if stop():
                raise Stopped
            try:
                results.append(self._captions(request))
            except PressroomError as error:
                results.append(error)
        return results

    def _captions(self, request: CaptionRequest) -> Captions:
        own, foreign = statements_in(request.picture.notes, request.language)
        if own and "long" not in request.modes:
            # Without OCR, which takes half a second.
            return {mode: _authored(own, mode) for mode in request.modes}
        around = _words_in(request.hints.page_title, request.hints.context, *request.hints.keywords)
        facts = find_facts(request.picture, self._reader, around)
        wording = wording_of(request.language)
        if request.hints.allow_decorative and facts.is_ornament and not (own or foreign):
            return dict.fromkeys(request.modes, Caption("", ORNAMENT_CONFIDENCE, decorative=True))
        description = describe(facts, request.modes, wording)
        if own:
            return {mode: _authored(own, mode, text) for mode, text in description.items()}
        if foreign and not facts.has_subject:
            quoted = quote_author(facts, foreign[0], request.modes, wording)
            return {mode: Caption(text, foreign[0].confidence, foreign[0].is_draft) for mode, text in quoted.items()}
        is_draft = not facts.has_subject
        return {mode: Caption(text, facts.confidence, is_draft) for mode, text in description.items()}


def _words_in(*texts: str) -> frozenset[str]:
    """Return the words of texts in small letters, without the shortest, which are everywhere."""
    return frozenset(word for text in texts for word in re.findall(r"[^\W_]{4,}", text.casefold()))


def _authored(statements: Sequence[AuthorNote], mode: Mode, described: str = "") -> Caption:
    """Return the first note, or for a long text all notes that repeat nothing, and then the description."""
    texts = [statement.text for statement in statements] if mode == "long" else [statements[0].text]
    said = ""
    for text in (*texts, described if mode == "long" else ""):
        if text and text.casefold().rstrip(".") not in said.casefold():
            said = shape(f"{said} {shape(text, mode, is_generated=False)}", mode, is_generated=False)
    return Caption(said, statements[0].confidence, statements[0].is_draft)
