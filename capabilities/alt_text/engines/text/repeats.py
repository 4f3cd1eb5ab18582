"""Repeats: phrases that a small model repeats, reduced to one."""

import re

#: Longest phrase, in words, that is looked for.
LONGEST = 40
#: So many words in a row, if repeated, are a loop. With 5, "a man in a red shirt and a man in a red hat" would be cut.
TELLTALE = 6

#: "A dog and a dog" says no more than "a dog".
CONJUNCTIONS = {"and", "y", "et", "und", "e"}

STUTTER = re.compile(r"([^\W\d_]{2,6}?)\1{3,}|([^\W\d_])\2{3,}")
#: Also marks: "- - - -", "! ? ! ?".
LONE_MARKS = re.compile(r"(?:(?<=\s)|\A)(?:[^\w\s&+–—-]\s+){2,}")


def without_repeats(text: str) -> str:
    """Return a text in which no phrase is repeated right after itself, cut where it begins to loop."""
    text = STUTTER.sub(lambda found: found[1] or found[2], text)
    words = LONE_MARKS.sub("", text).split(" ")
    while (fewer := _shortened(words)) != words:
        words = fewer
    return " ".join(words)


def _shortened(words: list[str]) -> list[str]:
    said = [_bare(word) for word in words]
    for length in range(min(LONGEST, len(words) // 2), 0, -1):
        for start in range(len(words) - 2 * length + 1):
            middle, end = start + length, start + 2 * length
            if said[start:middle] == said[middle:end] and _is_repeat(words[start:end], length):
                # The last word of the second, with the punctuation before what follows.
                return [*words[: middle - 1], words[end - 1], *words[end:]]
            if length > 1 and said[start:middle] == said[middle + 1 : end + 1] and said[middle] in CONJUNCTIONS:
                return [*words[: middle - 1], words[end], *words[end + 1 :]]
    return _unlooped(words, said)


def _is_repeat(words: list[str], length: int) -> bool:
    """Return whether a doubled phrase is a fault, and not a name (Bora Bora) or a number (10 10)."""
    if not any(character.isalpha() for word in words[:length] for character in word):
        # Doubled punctuation is a fault; equal numbers are not.
        return not any(character.isalnum() for word in words[:length] for character in word)
    return length > 1 or not (words[0][0].isupper() and words[1][0].isupper())


def _unlooped(words: list[str], said: list[str]) -> list[str]:
    first_at: dict[tuple[str, ...], int] = {}
    for start in range(len(words) - TELLTALE + 1):
        phrase = tuple(said[start : start + TELLTALE])
        if phrase in first_at:
            return words[:start]
        first_at[phrase] = start
    return words


def _bare(word: str) -> str:
    return re.sub(r"\W+", "", word).casefold() or word
