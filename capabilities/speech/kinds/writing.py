"""Writing: which writing systems a voice reads, so that no nonsense is spoken and charged."""

import tomllib
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from capabilities.speech.voices.offered_voices import OfferedVoices
from capabilities.speech.voices.voices import Voice
from pipeline.errors import InvalidRequest
from pipeline.offers.languages import base_language

#: The largest share of letters foreign to the voice: names and single words.
MOST_FOREIGN = 0.3
#: The largest share of letters that belong to the voice's own language, but that it can't read, such as kanji.
MOST_UNREAD = 0.1
#: A text with fewer vowel signs per letter is written without vowels. Fully vocalised texts have about 0.7.
LEAST_VOWELS = 0.3
#: The vowel signs of Arabic and Hebrew.
VOWELS = frozenset(map(chr, [*range(0x64B, 0x653), 0x670, *range(0x5B0, 0x5BD), 0x5C1, 0x5C2]))
#: First words of Unicode names that differ from the name of the writing system.
NAMES = {"CJK": "CHINESE"}
WIDTHS = {"FULLWIDTH", "HALFWIDTH"}

ONLINE = "or turn on the voices of edge, which send texts to Microsoft: PRESSROOM_SYNTHESIS__ONLINE=true"


class LanguageNotReadable(InvalidRequest):
    """The text is written in a way that the voice can't read."""

    code = "language_not_supported"


def check_readable(text: str, voice: Voice, voices: OfferedVoices) -> None:
    """Refuse a text if the voice can't read most of its letters. Raises LanguageNotReadable, which names a remedy.

    Engines that writing.toml doesn't list check this themselves."""
    if text.isascii() or voice.engine not in _table()["engines"]:
        return
    found = _systems(text)
    letters = sum(found.values())
    unread = unread_systems(text, voice)
    foreign = {name: count for name, count in found.items() if name in unread or name not in _read_by(voice)}
    most = max(foreign, key=lambda name: foreign[name], default="")
    limit = MOST_UNREAD if most in unread else MOST_FOREIGN
    if sum(foreign.values()) <= limit * letters:
        return
    share = round(100 * sum(foreign.values()) / letters)
    raise LanguageNotReadable(
        f"The voice {voice.id} ({voice.language_codes[0]}) can't read {most} letters, which are {share} % of the text; "
        f"the limit is {100 * limit:.0f} %. {_remedy(text, _language(found, voice), voices)}",
        field="language",
        writing_system=most,
    )


def left_out(text: str, voice: Voice) -> str | None:
    """Return a warning of the letters of a text that a voice leaves out; None if it leaves out none."""
    read = _table()["leaves_out_all_but"].get(voice.engine)
    if read is None or text.isascii():
        return None
    names = [name for name in _systems(text) if name not in read]
    return f"{voice.id} can't read {' and '.join(names)} letters and leaves them out." if names else None


def unread_systems(text: str, voice: Voice) -> frozenset[str]:
    """Return the writing systems of the voice's own language that it can't read, given how the text is written."""
    if voice.engine not in _table()["unread"]["engines"]:
        return frozenset()
    return _unread(base_language(voice.language_codes[0]), has_vowels=_has_vowels(text))


def _unread(language: str, *, has_vowels: bool) -> frozenset[str]:
    """Return the writing systems of a language that engines which use espeak's phonemes can't read."""
    unread = _table()["unread"]
    always, without_vowels = unread["always"].get(language, ()), unread["without_vowels"].get(language, ())
    return frozenset(always if has_vowels else [*always, *without_vowels])


def _read_by(voice: Voice) -> frozenset[str]:
    table = _table()
    own = (table["languages"].get(base_language(code), ()) for code in voice.language_codes)
    return frozenset({"Latin", *table["engines"][voice.engine], *(name for names in own for name in names)})


def _systems(text: str) -> Counter[str]:
    """Return the number of letters of each writing system in a text."""
    found: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if character.isalpha() and (name := _system(character)):
            found[name] += count
    return found


@cache
def _system(character: str) -> str:
    """Return the writing system of a letter; "" for one without, such as ー, µ and mathematical π."""
    name = _first_word(character)
    if name in _known():
        return name
    # 𝐇 is an H in bold; µ is a micro, though it is made of a Greek letter.
    plain = unicodedata.normalize("NFKC", character)
    if plain != character:
        return "Latin" if _first_word(plain[0]) == "Latin" else ""
    return "" if unicodedata.category(character) == "Lm" else name


def _first_word(character: str) -> str:
    words = unicodedata.name(character, "").split()
    if len(words) > 1 and words[0] in WIDTHS:
        words = words[1:]
    return NAMES.get(words[0], words[0]).title() if words else ""


def _has_vowels(text: str) -> bool:
    letters = sum(character.isalpha() and not character.isascii() for character in text)
    return sum(character in VOWELS for character in text) >= LEAST_VOWELS * letters


def _language(found: Counter[str], voice: Voice) -> str | None:
    """Return the likeliest language of a text, by its writing systems alone; None if no voice writes so."""
    languages: Mapping[str, list[str]] = _table()["languages"]
    own = base_language(voice.language_codes[0])
    most = next(name for name, _ in found.most_common() if name != "Latin")
    if most in languages.get(own, ()):
        return own
    if found["Hiragana"] or found["Katakana"]:
        return "ja"
    return next((language for language, names in languages.items() if most in names), None)


def _remedy(text: str, language: str | None, voices: OfferedVoices) -> str:
    """Return the way out: a voice that is here, a model that brings one, or the voices of edge."""
    if language is None:
        return "No voice here reads them; send the text in another writing system."
    speakers = [voice for voice in voices.ready if voice.speaks(language)]
    readers = [voice for voice in speakers if not unread_systems(text, voice)]
    if readers and readers[0] is speakers[0]:
        return f"Send the text's language, such as language={language}."
    if readers:
        return f"Name a voice that reads it, such as voice_name={readers[0].id}."
    model = voices.fetchable_for(language)
    if model and (
        model.engine not in _table()["unread"]["engines"] or not _unread(language, has_vowels=_has_vowels(text))
    ):
        return model.remedy
    return f"No voice here reads {language} as it is written. The operator can add a model that does, {ONLINE}."


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("writing.toml").read_text("utf-8"))


@cache
def _known() -> frozenset[str]:
    return frozenset({"Latin", *(name for names in _table()["languages"].values() for name in names)})
