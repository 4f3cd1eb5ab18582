"""Words: a text as the words and breaks that its categories, sentences and tags are told by."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import regex

from workers.engines.metadata.languages import UNSPACED, WORD, Language

_HOST = r"(?<![\w.-])(?:[\w-]{1,63}\.){1,6}"

#: Addresses, which are no words; bounded, or a long text without spaces takes time by the square of its length.
ADDRESSES = regex.compile(
    # With a scheme, or something that a browser would take for one.
    r"(?<![a-z0-9+.-])(?:[a-z][a-z0-9+.-]{1,15}://|(?:javascript|vbscript|data|mailto|tel|file):(?=\S)|www\.)\S*"
    r"|(?<![\w.%+-])[\w.%+-]{1,64}@[\w-]{1,63}\.\w[\w.-]{0,80}"
    # A host with a path, whatever it ends in; and one without that ends in what only hosts end in. What sentences and
    # names end in as well (`water.It`, ASP.NET) is one in lower case alone.
    rf"|{_HOST}(?:[a-z]{{2,24}}(?::[0-9]{{1,5}})?/\S*|(?:com|org|xyz|info|biz|shop|app|top|online|site|club|icu|ru|cn|br|uk)\b"
    rf"|(?-i:net|io|ai|co|de|fr|es|it|eu|us|nl|pl|jp|kr|in|me|tv|gl|ly|link|live|click|dev|store|blog|news|page|pro|world|life"
    rf"|today|space|website|tech|example|test|onion)\b)",
    regex.IGNORECASE,
)

#: Addresses in disguise, which a reader would put together: `example(dot)com`, `example . com`, `hxxp`; no dotcom.
DISGUISED = regex.compile(
    r"[\[({]\s?(?:dot|at|\.|@)\s?[\])}]|\bdot\s(?:com|net|org|io|ru|cn|info|xyz|co)\b|\bhxxps?\b"
    r"|\w\s\.\s?(?:com|net|org|io|ru|cn|info|xyz)\b",
    regex.IGNORECASE,
)

_PIECE = regex.compile(rf"(?P<word>{WORD.pattern})|(?P<line>\n)|(?P<sign>[^\s\w])")

#: Ends of a sentence: what follows it starts with a capital letter in any case.
_SENTENCE_SIGNS = frozenset('.!?…:\n"“”«»„•—–-*¿¡؟।')

#: What French, Italian and Catalan write before a word that starts with a vowel.
_ELIDED = regex.compile(
    r"(?i)(l|d|j|qu|n|s|c|m|t|un|dell|all|dall|nell|sull|quest|quell|lorsqu|jusqu|puisqu|com|dov|cos)[’'](?=\w)"
)

#: From the word's start on: looking back from each apostrophe takes time by the square of a long word's length.
_TURKISH_ENDS = regex.compile(r"^(\p{Lu}.+?)[’'].*$")
_ENGLISH_ENDS = regex.compile(r"[’'](?:s|t|re|ve|ll|d|m)$", regex.IGNORECASE)

#: What a script without spaces writes its names with: the runs between what only joins them.
_JAPANESE = regex.compile(
    # Names that are made of verbs, such as 爪切り, are followed by a particle.
    r"[\p{Han}々]{2,4}[りみきしえけい](?=[のをがはにでとも、。])|[\p{Katakana}ー]{2,}[\p{Han}々]{0,6}|[\p{Han}々]{2,}(?:[\p{Katakana}ー]{2,}|(?![ぁ-んー])|(?=[のはがをにでともやへかなしさす]))|[A-Za-z][\w+#.-]*"
)
_CHINESE = regex.compile(r"\p{Han}+|[A-Za-z][\w+#.-]*")
_THAI = regex.compile(r"[\p{L}\p{M}\p{N}]+")

_ENDINGS = regex.compile(r"(?<=.{3})(?:en|er|ern|em|io|e|n|a|o|i|ы|и|а|я|у|ов|ам|ах|ами|ях|ями|ой|ом|е)$")

#: A plural's ending comes off first: loans are loan, and no loan is a loa of theirs.
_PLURAL = regex.compile(r"(?<=.{3})(?<!s)s$")

#: The Spanish plural of what ends in -ón: colchones are colchón, estaciones estación.
_SPANISH_PLURAL = regex.compile(r"(?<=.(?:i|ch|z)on)es$")


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it stands in a text, and whether it begins a sentence."""

    written: str
    lower: str
    is_first: bool

    @property
    def is_capital(self) -> bool:
        """Return whether it starts with a capital letter."""
        return self.written[:1].isupper()


def lowered(text: str, code: str) -> str:
    """Return a text in lower case; in Turkish the small letter of İ is i, and that of I is ı."""
    return (text.replace("İ", "i").replace("I", "ı") if code in ("tr", "az") else text).lower()


def words_of(text: str, language: Language) -> Iterator[Word | None]:
    """Yield the words of a text in order; None stands for what parts them: signs and ends of lines."""
    text = ADDRESSES.sub(" \n ", text)
    if language.code in UNSPACED:
        yield from _unspaced(text, language.code)
        return
    if language.code in ("fr", "it", "ca"):
        text = _ELIDED.sub(r"\1 ", text)
    is_first = True
    for found in _PIECE.finditer(text):
        piece = found.group()
        if found.lastgroup != "word":
            is_first = is_first or piece in _SENTENCE_SIGNS
            yield None
            continue
        written = _without_ending(piece, language.code) if "'" in piece or "’" in piece else piece
        yield Word(written, lowered(written, language.code).replace("’", "'"), is_first)
        is_first = False


def _without_ending(word: str, code: str) -> str:
    """Return a word without what an apostrophe joins to its end: Anna's, İstanbul'da."""
    match code:
        case "en":
            return str(_ENGLISH_ENDS.sub("", word))
        case "tr":
            return str(_TURKISH_ENDS.sub(r"\1", word))
    return word


def _unspaced(text: str, code: str) -> Iterator[Word | None]:
    pattern = {"ja": _JAPANESE, "zh": _CHINESE}.get(code, _THAI)
    for found in pattern.finditer(text):
        yield Word(found.group(), found.group().lower(), False)
        yield None


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return a word without accents and the ending of its number or case, so that forms of one word are told as one."""
    bare = "".join(c for c in unicodedata.normalize("NFD", word.casefold()) if not unicodedata.combining(c))
    if bare.endswith("ies") and len(bare) > 4:
        bare = bare[:-3] + "y"
    bare = str(_ENDINGS.sub("", _PLURAL.sub("", _SPANISH_PLURAL.sub("", bare))))
    return bare[:-1] + "i" if bare.endswith("y") and len(bare) > 3 else bare
