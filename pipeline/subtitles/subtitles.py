"""Subtitles: segments short enough to be read at a glance, shown long enough for it, in at most two lines."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import accumulate, pairwise
from unicodedata import east_asian_width

from pipeline.subtitles.segments import Segment, Word, join_texts

#: Longest subtitle by the rules of broadcasters: in seconds, and in columns of each of its two lines.
LONGEST = 7.0
LINE = 42
#: Players skip a shorter subtitle, in seconds, so it is lengthened to this.
SHORTEST = 0.02

#: Characters that end a sentence, or a clause.
SENTENCE_ENDS = tuple(".?!…。？！")
CLAUSE_ENDS = tuple(",;:—、，；：")
#: Scores of a place to split at, in seconds of pause: behind a sentence, behind a clause, in the middle; and what is
#: taken off where a part would be too short to be read.
SENTENCE_WORTH, CLAUSE_WORTH, MIDDLE_WORTH = 2.0, 0.5, 1.0
FLASH_SECONDS, FLASH_COST = 1.0, 3.0
#: A subtitle too short to be read is joined to a neighbour that is at most so many seconds away.
NEAR = 0.7
#: Columns that people read in a second. A subtitle stays that long, unless the next one begins earlier.
READ_A_SECOND = 20
#: A shorter pause between two subtitles, in seconds, would flicker; the first one is then shown until the second.
FLICKER = 0.1
#: How many columns wider the lines may be if the first one ends with a sentence or a clause.
SIGN_WORTH = 10


def subtitles(segments: Iterable[Segment], *, language: str | None, latest: float) -> list[Segment]:
    """Return segments that can be read while they are heard, in order, none of them later than `latest` seconds.

    Those without words are not split."""
    found: list[Segment] = []
    for part in _in_order(segments):
        joined = _join(found[-1], part, language) if found else None
        if joined is None:
            found.append(part)
        else:
            found[-1] = joined
    begins = [*(part.start for part in found), latest]
    return [_shown(part, until) for part, until in zip(found, begins[1:], strict=True)]


def lines_of(text: str) -> str:
    """Return a subtitle's text, split into two lines if it is longer than one: lines of about the same length, or
    split where a clause ends."""
    # Up to each place, so that a text of any length is measured once.
    columns = list(accumulate(map(_columns, text), initial=0))
    if columns[-1] <= LINE:
        return text
    signs = (*SENTENCE_ENDS, *CLAUSE_ENDS)

    def cost(gap: tuple[int, int]) -> tuple[bool, int]:
        end, start = gap
        widest = max(columns[end], columns[-1] - columns[start])
        return widest > LINE, widest - SIGN_WORTH * text.endswith(signs, 0, end)

    spaces = [found.span() for found in re.finditer(r"\s+", text) if " " in found.group()]
    places = ((place, place) for place in range(1, len(text)) if text[place] not in signs)
    end, start = min(spaces or places, key=cost, default=(1, 1))
    return f"{text[:end].rstrip()}\n{text[start:].lstrip()}"


def _join(first: Segment, second: Segment, language: str | None) -> Segment | None:
    """Return two segments as one if one of them is too short to be read; None if they stay apart."""
    if first.speaker != second.speaker:
        return None
    if min(first.end - first.start, second.end - second.start) >= FLASH_SECONDS or second.start - first.end > NEAR:
        return None
    sure = [part.probability for part in (first, second) if part.probability is not None]
    joined = first.model_copy(
        update={
            "end": second.end,
            "text": join_texts([first, second], language),
            "words": None if first.words is None or second.words is None else first.words + second.words,
            "probability": min(sure, default=None),
        }
    )
    return None if _is_long(joined) else joined


def _in_order(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Yield parts of segments, none of which begins before the last one has ended."""
    ended = 0.0
    for segment in segments:
        for part in _parts(segment) if segment.text else ():
            start = max(part.start, ended)
            ended = round(max(part.end, start + SHORTEST), 3)
            yield part.model_copy(update={"start": start, "end": ended})


def _shown(part: Segment, until: float) -> Segment:
    """Return a part that is shown long enough to be read, but not past `until`, when the next one begins."""
    needed = max(FLASH_SECONDS, _columns(part.text) / READ_A_SECOND)
    end = min(max(part.end, part.start + min(needed, LONGEST)), max(part.end, until))
    if 0 < until - end < FLICKER and until - part.start <= LONGEST:
        end = until
    return part.model_copy(update={"end": round(end, 3)})


def _parts(segment: Segment) -> Iterator[Segment]:
    words = segment.words or []
    places = places_of(segment.text, words)
    if places is None or len(words) < 2 or not _is_long(segment):
        yield segment
        return
    cut = _best_cut(words, places, len(segment.text))
    first, second = segment.text[: places[cut]].strip(), segment.text[places[cut] :].strip()
    for text, part, start, end in (
        (first, words[:cut], segment.start, max(segment.start, words[cut - 1].end)),
        (second, words[cut:], words[cut].start, segment.end),
    ):
        yield from _parts(segment.model_copy(update={"text": text, "words": part, "start": start, "end": end}))


def _is_long(segment: Segment) -> bool:
    # Two lines and the space between them; what is wider need not be split to be known as too long.
    if _columns(segment.text) > 2 * LINE + 1:
        return True
    widest = max(_columns(line) for line in lines_of(segment.text).split("\n"))
    return widest > LINE or segment.end - segment.start > LONGEST


def places_of(text: str, words: Sequence[Word]) -> list[int] | None:
    """Return where in a text each of its words begins; None when it is not made of them."""
    places, at = [], 0
    for word in words:
        place = text.find(word.word, at)
        if place < 0:
            return None
        places.append(place)
        at = place + len(word.word)
    return places


def _best_cut(words: Sequence[Word], places: Sequence[int], length: int) -> int:
    """Return the number of the word that the second part begins with."""
    pauses = [later.start - earlier.end for earlier, later in pairwise(words)]

    def worth(cut: int) -> float:
        sign = _worth_of_end(words[cut - 1].word)
        shorter = min(words[cut - 1].end - words[0].start, words[-1].end - words[cut].start)
        flash = FLASH_COST if shorter < FLASH_SECONDS else 0.0
        return pauses[cut - 1] + sign - flash - MIDDLE_WORTH * abs(2 * places[cut] / length - 1)

    return max(range(1, len(words)), key=worth)


def _worth_of_end(word: str) -> float:
    if word.endswith(SENTENCE_ENDS):
        return SENTENCE_WORTH
    return CLAUSE_WORTH if word.endswith(CLAUSE_ENDS) else 0.0


def _columns(text: str) -> int:
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def srt(cues: Sequence[Segment]) -> str:
    return "".join(
        # An arrow in a text would pass for a line of times.
        f"{number}\n{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}\n{lines_of(text.replace('-->', '→'))}\n\n"
        for number, (cue, text) in enumerate(_told(cues), start=1)
    )


def vtt(cues: Sequence[Segment]) -> str:
    shown = (
        f"\n{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{escape(lines_of(text), quote=False)}\n"
        for cue, text in _told(cues)
    )
    return "WEBVTT\n" + "".join(shown)


def _told(cues: Iterable[Segment]) -> Iterator[tuple[Segment, str]]:
    """Yield cues with their texts, which begin with the speaker where that is another one than before."""
    before: str | None = None
    for cue in cues:
        yield cue, cue.text if cue.speaker in (None, before) else f"{cue.speaker}: {cue.text}"
        before = cue.speaker


def _clock(seconds: float, separator: str) -> str:
    milliseconds = round(seconds * 1_000)
    minutes, milliseconds = divmod(milliseconds, 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{milliseconds // 1_000:02}{separator}{milliseconds % 1_000:03}"
