"""Languages: the words of each, and detection of a post's language."""

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import regex

from workers.engines.languages.identifying import SCRIPTS, identified

#: A word: letters, digits and their marks, joined by apostrophes and hyphens; C++ and C# keep their signs.
WORD = regex.compile(
    r"[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*(?:[’'\-‑·.][\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*)*(?:\+\+|\#)?"
)

#: Characters of a post from which its language is told.
SAMPLE = 4_000


def _read(name: str) -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text("utf-8"))


_KNOWN, _TRADITIONAL = _read("languages.toml"), _read("traditional.toml")
_PAIRS = "".join(_TRADITIONAL["pairs"].split())
_CHARACTERS = str.maketrans(_PAIRS[::2], _PAIRS[1::2])
_SIMPLE_CHARACTERS = str.maketrans(_PAIRS[1::2], _PAIRS[::2])

LATIN = SCRIPTS["Latin"]

_SCRIPT = regex.compile("|".join(rf"(?P<{name}>\p{{{name}}})" for name in SCRIPTS))

#: Name of the taxonomy's words in traditional characters.
TRADITIONAL_CHINESE = "zh-hant"

#: How language tags begin that ask for traditional characters.
TRADITIONAL_TAGS = ("zh-hant", "zh-tw", "zh-hk", "zh-mo")

#: Languages that write no space between words.
UNSPACED = frozenset({"zh", "ja", "th", "lo", "my", "km"})

#: Fields of a language in languages.toml beside its templates.
SETS = ("determiners", "subjects", "joints", "vague", "companions", "dangling", "openings", "connectors")

#: Languages that make one word of two.
COMPOUNDING = frozenset({"de", "nl", "sv", "da", "no"})


@dataclass(frozen=True, slots=True)
class Language:
    """The known words of a language; empty where none are."""

    code: str
    stop: frozenset[str]
    determiners: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()
    joints: frozenset[str] = frozenset()
    vague: frozenset[str] = frozenset()
    companions: frozenset[str] = frozenset()
    dangling: frozenset[str] = frozenset()
    openings: frozenset[str] = frozenset()
    connectors: frozenset[str] = frozenset()
    #: Templates of an excerpt that is made of a subject, and of a title.
    about: str = ""
    whole: str = ""
    #: The language of a taxonomy's words: zh-hant where a post is in traditional characters.
    taxonomy: str = ""

    def is_empty_word(self, word: str) -> bool:
        """Return whether a word in lower case is a stop word, or too general to tell what a text is about."""
        if word in self.stop or word in self.vague:
            return True
        # An English plural says no more than its singular; the other languages' words end in s by nature.
        return self.code == "en" and word.endswith("s") and (word[:-1] in self.stop or word[:-1] in self.vague)


def language_of(title: str, text: str, wanted: str) -> Language:
    """Return the language that a post is in: what was asked for, unless the post evidently is in another."""
    asked = wanted.lower().replace("_", "-")
    primary = asked.partition("-")[0]
    sample = f"{title}\n{text[:SAMPLE]}"
    code = evident_language(sample, primary)
    if code == "zh" and _is_traditional(sample, otherwise=asked.startswith(TRADITIONAL_TAGS)):
        return _traditional_chinese()
    return _language(code)


def traditional(text: str) -> str:
    """Return a text of the taxonomy or of the languages' words in traditional characters."""
    for word, written in _TRADITIONAL["words"].items():
        text = text.replace(word, written)
    return text.translate(_CHARACTERS)


def simplified(text: str) -> str:
    """Return a text of the same length in simplified characters."""
    return text.translate(_SIMPLE_CHARACTERS)


def _is_traditional(text: str, *, otherwise: bool) -> bool:
    """Return whether a Chinese text is in traditional characters; `otherwise`, where it has no character that tells."""
    theirs, ours = (sum(character in characters for character in text) for characters in (_PAIRS[::2], _PAIRS[1::2]))
    return otherwise if ours == theirs else ours > theirs


def evident_language(sample: str, wanted: str) -> str:
    """Return the language of a text by its script and words: what was asked for, unless it evidently is another."""
    scripts = Counter(found.lastgroup for found in _SCRIPT.finditer(sample))
    if not scripts:
        return wanted
    # A Japanese text has kana, if fewer than kanji.
    kana = scripts["Hiragana"] + scripts["Katakana"]
    most = scripts.most_common(1)[0][0] or "Latin"
    # A Latin name or two in a short title say nothing of it.
    if most == "Latin" and scripts["Han"] + kana + scripts["Hangul"] > scripts["Latin"] / 2:
        most = "Hangul" if scripts["Hangul"] > scripts["Han"] + kana else "Han"
    if most in ("Han", "Hiragana", "Katakana"):
        return "ja" if kana * 12 > scripts["Han"] else ("zh" if kana or wanted != "ja" else "ja")
    spoken = SCRIPTS[most]
    if most != "Latin":
        return identified(sample, spoken, wanted if wanted in spoken else spoken[0])
    return identified(sample, LATIN, wanted)


@lru_cache(maxsize=256)
def _stop_words(code: str) -> frozenset[str]:
    import stopwordsiso

    return frozenset(stopwordsiso.stopwords(code) if code in stopwordsiso.langs() else ())


@lru_cache(maxsize=256)
def _language(code: str) -> Language:
    known = _KNOWN.get(code, {})
    sets = {name: frozenset(known.get(name, "").split()) for name in SETS}
    # The library's stop words have nouns among them.
    stop = (_stop_words(code) - sets["companions"]) | sets["determiners"] | sets["subjects"] | sets["dangling"]
    return Language(code, stop, **sets, about=known.get("about", ""), whole=known.get("whole", ""), taxonomy=code)


@cache
def _traditional_chinese() -> Language:
    known = _language("zh")
    stop, vague = (words.union(map(traditional, words)) for words in (known.stop, known.vague))
    about, whole = traditional(known.about), traditional(known.whole)
    return replace(known, stop=stop, vague=vague, about=about, whole=whole, taxonomy=TRADITIONAL_CHINESE)


def set_up() -> None:
    """Read everything that is known of languages, once, before the first post."""
    for code in (*_KNOWN, *LATIN):
        _language(code)
    language_of("A first post", "", "en")
