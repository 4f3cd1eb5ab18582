"""Cast: who speaks which part of a text, by `<voice name="Heart">` and `<lang xml:lang="fr">`, both of SSML."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pipeline.errors import InvalidRequest

#: Beside the two, `<break time="1s"/>` is read; other tags are text.
TAG = re.compile(
    r'<(?P<end>/)?(?P<tag>voice|lang)(?:[ \t]{1,3}(?:name|xml:lang|lang)="(?P<value>[^"<>\n]{1,100})")?[ \t]{0,3}>'
)
#: Most characters of a tag, and most tags that are open at once: each passage within them repeats them.
TAG_CHARACTERS, MAX_OPEN = 130, 10
BREAK = re.compile(r'<break[ \t]+time="(\d{1,5}(?:\.\d{1,3})?(?:ms|s))"[ \t]*/>')
QUOTATION = re.compile(r"[“„«][^“”„«»\n]{1,3000}[”“»]|\"[^\"\n]{1,3000}\"")
VERBS = (
    r"(?:said|says|asked|asks|replied|answered|cried|whispered|shouted|exclaimed|continued|added|returned|observed|called"
    r"|murmured|began|repeated|remarked|sagte|fragte|rief|antwortete|dit|demanda|répondit|dijo|preguntó|respondió)"
)


class MarkupInvalid(InvalidRequest):
    """A tag of a text has no value, or closes nothing."""

    code = "markup_invalid"
    field = "chapters"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text, spoken by one voice in one language; None: those of the book."""

    text: str
    voice: str | None = None
    language: str | None = None


def parts_of(text: str) -> list[Part]:
    """Return the parts of a text, in which the innermost tag counts. White space between two ends the first."""
    parts, opened, at = [], [Part("")], 0
    for tag in TAG.finditer(text):
        parts.append(Part(text[at : tag.start()], opened[-1].voice, opened[-1].language))
        at = tag.end()
        if tag["end"]:
            del opened[max(1, len(opened) - 1) :]
        elif tag["tag"] == "voice":
            opened.append(Part("", tag["value"]))
        else:
            opened.append(Part("", opened[-1].voice, tag["value"]))
    parts.append(Part(text[at:], opened[-1].voice, opened[-1].language))
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if last and (not part.text.strip() or (part.voice, part.language) == (last.voice, last.language)):
            found[-1] = replace(last, text=last.text + part.text)
        elif part.text.strip():
            found.append(part)
    return found


def plain(text: str) -> str:
    """Return a text without its tags."""
    return TAG.sub("", text)


def check_tags(text: str, chapter: int) -> None:
    """Refuse tags without a value, and those that aren't closed or close nothing. Raises MarkupInvalid."""
    opened: list[str] = []
    for found in TAG.finditer(text):
        if not found["end"] and not found["value"]:
            raise MarkupInvalid(
                f'{found[0]} in chapter {chapter} names nothing: write <voice name="Heart"> or <lang xml:lang="fr">.'
            )
        if not found["end"]:
            opened.append(found["tag"])
            if len(opened) > MAX_OPEN:
                raise MarkupInvalid(f"More than {MAX_OPEN} tags are open at once in chapter {chapter}. Close some.")
        elif not opened or opened.pop() != found["tag"]:
            raise MarkupInvalid(f"{found[0]} in chapter {chapter} closes no open tag. Remove it.")
    if opened:
        raise MarkupInvalid(f"<{opened[-1]}> in chapter {chapter} is not closed. Add </{opened[-1]}>.")


def carried(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the pieces of a text, each with all tags closed that it opens, and open at its start what was open."""
    opened: list[tuple[str, str]] = []
    for piece in pieces:
        before = "".join(tag for tag, _ in opened)
        for found in TAG.finditer(piece):
            if not found["end"]:
                opened.append((found[0], found["tag"]))
            elif opened:
                opened.pop()
        yield before + piece + "".join(f"</{name}>" for _, name in reversed(opened))


def written(text: str, cast: Mapping[str, str], *, has_dialogue: bool) -> str:
    """Return a text with pauses as marks and voices by name; with `has_dialogue`, what the cast says is tagged."""
    text = BREAK.sub(r"[pause \1]", text)
    if has_dialogue:
        text = "\n\n".join(_with_speaker(paragraph, cast) for paragraph in text.split("\n\n"))
    if not cast:
        return text
    return TAG.sub(lambda tag: _named(tag, cast), text)


def _named(tag: re.Match[str], cast: Mapping[str, str]) -> str:
    voice = cast.get(tag["value"] or "") if tag["tag"] == "voice" else None
    return f'<voice name="{voice}">' if voice else tag[0]


def _with_speaker(paragraph: str, cast: Mapping[str, str]) -> str:
    """Return a paragraph with its quotations tagged, if just one of the cast is said to speak them."""
    quotations = list(QUOTATION.finditer(paragraph))
    if not quotations or TAG.search(paragraph):
        return paragraph
    names = "|".join(re.escape(name) for name in sorted(cast, key=len, reverse=True))
    behind = re.compile(rf"\s{{0,3}},?\s{{0,3}}(?:{VERBS}\s{{1,3}}(?P<a>{names})|(?P<b>{names})\s{{1,3}}{VERBS})\b")
    before = re.compile(rf"(?P<a>{names})\s{{1,3}}{VERBS}[^.!?“”\"]{{0,60}}[,:]\s{{0,3}}$")
    speakers = set()
    for found in quotations:
        start = found.start()
        # No longer part is searched: the time would grow with the square of a paragraph's length.
        for said in (behind.match(paragraph, found.end()), before.search(paragraph, max(0, start - 200), start)):
            if said:
                speakers.add(next(filter(None, said.groups())))
    if len(speakers) != 1:
        return paragraph
    speaker = speakers.pop()
    return QUOTATION.sub(lambda found: f'<voice name="{speaker}">{found[0]}</voice>', paragraph)
