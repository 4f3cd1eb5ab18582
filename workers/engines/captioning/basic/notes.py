"""Notes: which of the texts that a file's author wrote into it says what is in the picture, and in which language."""

import re
from collections.abc import Sequence

from workers.engines.captioning.text.cleaning import clean
from workers.media.images.picture import Note

#: What cameras and programs write by themselves.
MACHINE_MADE = re.compile(
    r"(?:olympus|minolta|sony|konica|samsung|kodak|nikon|canon|panasonic|fuji\w*|casio|pentax)\b.{0,30}"
    r"|(?:img|dsc|dscn|dscf|pict?|p|dji|gopr|pxl|mvimg|screen ?shot|captura|bildschirmfoto|untitled"
    r"|sans titre|sin título|unbenannt|sem título|senza titolo|image|photo|foto|picture|default|test|null|none"
    r"|n/a)[\W_]*[\d\W_]*"
    r"|created (?:with|by|using) .{0,40}|.{0,60}\.(?:jpe?g|png|gif|webp|avif|heic|tiff?|bmp|psd|svg|ai|indd)"
    r"|adobe .{0,40}|(?:©|\(c\)|copyright).{0,200}|[\W\d_]*",
    re.IGNORECASE,
)
#: The commonest words of each language that the templates know, none of which another of them has.
TELLTALES = {
    "en": "the and with of is at by for from an",
    "es": "el los las con y una del por en su",
    "fr": "le les des et avec une dans sur du aux",
    "de": "der die das und mit ein eine im auf von",
    "pt": "os do da com uma em no na ao um e o",
    "it": "il gli di con e una nel della sul che",
}
#: Words that tell one language from all others: shared ones tell nothing.
_OWN = {
    language: {
        word
        for word in words.split()
        if not any(word in others.split() for other, others in TELLTALES.items() if other != language)
    }
    for language, words in TELLTALES.items()
}


def told_in(notes: Sequence[Note], language: str) -> list[tuple[str, Note]]:
    """Return the texts that people wrote in a language, or in one that is not told, the most believable first."""
    return [(text, note) for text, note in _written(notes) if language_of(note, text) in (language, None)]


def told_elsewhere(notes: Sequence[Note], language: str) -> list[tuple[str, Note]]:
    """Return the texts that people wrote in other languages."""
    return [(text, note) for text, note in _written(notes) if language_of(note, text) not in (language, None)]


def language_of(note: Note, text: str) -> str | None:
    """Return the language of a note as ISO 639-1: as it is tagged, or as at least two of its words tell."""
    tag = (note.language or "").lower().partition("-")[0]
    if tag and tag not in ("x", "und", "mul", "zxx"):
        return tag
    words = re.findall(r"[^\W\d_]+", text.lower())
    counts = {language: sum(word in own for word in words) for language, own in _OWN.items()}
    best = max(counts, key=lambda language: counts[language])
    others = max(count for language, count in counts.items() if language != best)
    return best if counts[best] >= 2 and counts[best] > 2 * others else None


def _written(notes: Sequence[Note]) -> list[tuple[str, Note]]:
    written = [(clean(note.text), note) for note in notes]
    return [
        (text, note) for text, note in written if not MACHINE_MADE.fullmatch(text) and sum(map(str.isalpha, text)) > 2
    ]
