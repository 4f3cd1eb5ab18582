"""Words: a text as words and the breaks between them, and how common each is, by the lists of wordfreq."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import regex

from capabilities.blog.engines.metadata.unwanted import ADDRESSES
from workers.engines.languages.identifying import SCRIPTS
from workers.engines.languages.languages import UNSPACED, WORD, Language, simplified

_PIECE = regex.compile(rf"(?P<word>{WORD.pattern})|(?P<line>\n)|(?P<sign>[^\s\w])")

_HANDLES = regex.compile(r"\S{0,60}@\S{0,60}")

#: Signs before a word that has a capital in any case.
_SENTENCE_SIGNS = frozenset('.!?…:\n"“”«»„•—–-*¿¡؟।')

#: French, Italian and Catalan words with an apostrophe.
_ELIDED = regex.compile(
    r"(?i)(l|d|j|qu|n|s|c|m|t|un|dell|all|dall|nell|sull|quest|quell|lorsqu|jusqu|puisqu|com|dov|cos)[’'](?=\w)"
)

#: Anchored at the word's start: looking back from each apostrophe takes quadratic time.
_TURKISH_ENDS = regex.compile(r"^(\p{Lu}.+?)[’'].*$")
_ENGLISH_ENDS = regex.compile(r"[’'](?:s|t|re|ve|ll|d|m)$", regex.IGNORECASE)

_LATIN_WORD = regex.compile(r"[a-z]+")
#: A Latin name among Japanese or Chinese characters has a capital, near its start: kana are letters too, and a look
#: through all of them from each takes quadratic time.
_LATIN_NAME = r"(?=[A-Z]|[a-z]\w{0,40}[A-Z])[A-Za-z][\w+#.-]*"
#: Languages of other scripts, in which five Latin words are a quotation.
NOT_LATIN = frozenset(code for script, codes in SCRIPTS.items() for code in codes if script != "Latin")
_LATIN_TEXT = regex.compile(r"(?:[A-Za-z][\w'’.,;-]{0,40}+[ \n]+){4,}+[A-Za-z][\w'’-]{0,40}+")
#: A noun ends before a sign, Katakana or a particle; before other Hiragana, characters begin a verb or an adjective.
_NOUN_END = r"(?:(?![ぁ-んー])|(?=[のはがをにでともやへか]))"
_JAPANESE = regex.compile(
    # Names that are made of verbs, such as 爪切り, are followed by a particle.
    r"[\p{Han}々]{2,4}[りみきしえけい](?=[のをがはにでとも、。])"
    rf"|[\p{{Katakana}}ー]{{2,}}+(?:・[\p{{Katakana}}ー]++)*+(?:[\p{{Han}}々]{{1,6}}+{_NOUN_END})?"
    rf"|(?<![0-9０-９])[\p{{Han}}々]{{2,}}+(?:[\p{{Katakana}}ー]{{2,}}+|{_NOUN_END})|{_LATIN_NAME}"
)
_CHINESE = regex.compile(rf"\p{{Han}}+|{_LATIN_NAME}")
_THAI = regex.compile(r"[\p{L}\p{M}\p{N}]+")

#: Stop words of one character that names have as well: 小猫, 大学.
_IN_NAMES = frozenset("小大中本人地日年月")

#: Most characters of a Chinese word, and the frequencies of a cue, of a character that is no word, and of other pieces.
LONGEST_WORD, CUE_FREQUENCY, STRANGE, NEVER = 6, 1e-4, 1e-8, 1e-99
#: Commonness of the rarest listed word, one in a million, and of a word in no list.
LEAST, UNLISTED = 3.0, 2.0


@dataclass(frozen=True, slots=True)
class PostWord:
    """A word as written, and whether it begins a sentence."""

    written: str
    lower: str
    is_first: bool

    @property
    def is_capital(self) -> bool:
        return self.written[:1].isupper()


def lowered(text: str, code: str) -> str:
    """Return a text in lower case; in Turkish İ becomes i, and I becomes ı."""
    return (text.replace("İ", "i").replace("I", "ı") if code in ("tr", "az") else text).lower()


def words_of(text: str, language: Language) -> Iterator[PostWord | None]:
    """Yield the words of a text, and None for signs and ends of lines."""
    text = _HANDLES.sub(" \n ", ADDRESSES.sub(" \n ", text))
    if language.code in NOT_LATIN:
        text = _LATIN_TEXT.sub(" ", text)
    if language.code in UNSPACED:
        yield from _unspaced(text, language.code)
        return
    if language.code in ("fr", "it", "ca"):
        text = _ELIDED.sub(r"\1 ", text)
    is_first = True
    for found in _PIECE.finditer(text):
        piece = found.group()
        if found.lastgroup != "word" or (language.code in NOT_LATIN and _LATIN_WORD.fullmatch(piece)):
            is_first = is_first or piece in _SENTENCE_SIGNS
            yield None
            continue
        written = _without_ending(piece, language.code) if "'" in piece or "’" in piece else piece
        yield PostWord(written, lowered(written, language.code).replace("’", "'"), is_first)
        is_first = False


def _without_ending(word: str, code: str) -> str:
    """Return a word without its ending behind an apostrophe: Anna's, İstanbul'da."""
    match code:
        case "en":
            return str(_ENGLISH_ENDS.sub("", word))
        case "tr":
            return str(_TURKISH_ENDS.sub(r"\1", word))
    return word


def _unspaced(text: str, code: str) -> Iterator[PostWord | None]:
    pattern = {"ja": _JAPANESE, "zh": _CHINESE}.get(code, _THAI)
    for found in pattern.finditer(text):
        yield PostWord(found.group(), found.group().lower(), False)
        yield None


def segmented(runs: Iterable[PostWord | None], language: Language, cues: Iterable[str]) -> Iterator[PostWord | None]:
    """Yield the words of Chinese runs, with None behind each run; characters that are not words are one name."""
    known = frequencies("zh") | dict.fromkeys(cues, CUE_FREQUENCY)
    joining = language.stop - _IN_NAMES
    for run in runs:
        if run and run.lower.isascii():
            yield from (run, None)
            continue
        strange = ""
        for word in [*(_likeliest(run.lower, known) if run else ()), ""]:
            if len(word) == 1 and word not in joining:
                strange += word
                continue
            yield from (PostWord(whole, whole, False) for whole in (strange, word) if whole)
            strange = ""
        yield None


def _likeliest(run: str, known: Mapping[str, float]) -> list[str]:
    """Return the words that a run most likely consists of, by their frequencies."""
    plain = simplified(run)
    #: By end: the likelihood of the best words up to there, and the start of the last one.
    best = [(0.0, 0)]
    for end in range(1, len(run) + 1):
        starts = range(max(end - LONGEST_WORD, 0), end)
        shares = ((start, known.get(plain[start:end], STRANGE if start == end - 1 else NEVER)) for start in starts)
        best.append(max((best[start][0] + math.log(share), start) for start, share in shares))
    words: list[str] = []
    end = len(run)
    while end:
        words.append(run[best[end][1] : end])
        end = best[end][1]
    return words[::-1]


def commonness(word: str, code: str) -> float:
    """Return how often a word in lower case occurs per billion words, as a logarithm to base 10."""
    frequency = frequencies(code).get(simplified(word) if code == "zh" else word)
    return math.log10(frequency * 1e9) if frequency else UNLISTED


@cache
def frequencies(code: str) -> dict[str, float]:
    """Return the share of each listed word of a language (40 languages; 20 ms and 4 MB each); empty for others."""
    # Here, since it takes a quarter of a second.
    from wordfreq import available_languages, get_frequency_dict

    return get_frequency_dict(code, "small") if code in available_languages("small") else {}
