"""Language: how one language writes and says numbers, units and months, and the rules that use it."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from pipeline.offers.languages import base_language

FOLDER = Path(__file__).with_name("languages")
#: Digits of the longest number that is said as a number.
MOST_DIGITS = 15
#: Numbers in words that a process caches; texts have too many for all of them.
MOST_CACHED = 4_096
#: White space between groups of three digits, as French writes them.
GROUP_SPACE = " \u00a0\u202f"
CAPITAL = r"[^\W\d_a-zà-ÿа-яё]"
#: Behind the full stop that ends both an abbreviation and a sentence.
SENTENCE_END = re.compile(rf"\s*\Z|\s+{CAPITAL}")
TEXT_END = re.compile(r"\s*\Z")
#: Numbers that take each plural form of CLDR. Others take that of 2, or in Russian that of a fraction.
SAMPLES = {"one": "1", "few": "2", "many": "5"}


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern of text that is not read as it is written.

    `say` returns the words for a match, or None to leave it alone. Patterns read no character twice without a bound, so
    that no text makes them slow."""

    pattern: re.Pattern[str]
    say: Callable[[re.Match[str], "SpokenLanguage"], str | None]


class SpokenLanguage:
    """One language, with the tables of its file; `region` may change how numbers are said, as in fr-CH."""

    def __init__(self, code: str, region: str) -> None:
        self.code = code
        self.region = region
        self.data: Mapping[str, Any] = language_data(code)
        self._numbers: Mapping[str, Any] = self.data["numbers"]

    @cached_property
    def number(self) -> str:
        """The pattern of a number as the language writes it; it reads no character twice."""
        decimal, thousands = re.escape(self._numbers["decimal"]), re.escape(self._numbers["thousands"])
        grouped = rf"\d{{1,3}}(?:{thousands}\d{{3}}){{1,4}}(?:{decimal}\d{{1,6}})?"
        spaced = rf"\d{{1,3}}(?:[{GROUP_SPACE}]\d{{3}}){{1,4}}(?:{decimal}\d{{1,6}})?(?![{GROUP_SPACE}]?\d)"
        # Outside English a decimal point is common too: 3.5 km.
        plain = rf"\d{{1,{MOST_DIGITS}}}(?:[.{decimal}]\d{{1,6}})?"
        return rf"(?<![\w.,])(?:{grouped}|{spaced}|{plain})(?!\d|[.,]\d)"

    def value(self, written: str) -> Decimal:
        """Return the value of a match of `number`."""
        decimal, thousands = self._numbers["decimal"], self._numbers["thousands"]
        written = re.sub(f"[{GROUP_SPACE}]", "", written)
        if re.fullmatch(rf"\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+(?:\D\d+)?", written):
            written = written.replace(thousands, "")
        return Decimal(written.replace(decimal, "."))

    def words(self, value: Decimal | int, *, gender: str = "") -> str:
        """Return a number in words; `gender` (masculine, feminine) is that of the noun after it, if any."""
        written = format(Decimal(value).copy_abs(), "f")
        whole, _, fraction = written.partition(".")
        said = self._said(whole)
        if self._numbers.get("inflected"):
            said = self._said(written.rstrip("0").rstrip(".") if fraction else whole, gender=gender[:1] or "m")
        elif fraction.strip("0"):
            said = f"{said} {self._numbers['point']} {self._fraction(fraction)}"
        elif gender:
            for written, changed in self._numbers.get(gender, ()):
                said = re.sub(rf"{written}\b", changed, said)
        return f"{self._numbers['minus']} {said}" if value < 0 else said

    def _fraction(self, digits: str) -> str:
        if self._numbers["digits_apart"] or digits.startswith("0") or len(digits) > 2:
            return " ".join(self._said(digit) for digit in digits)
        return self._said(digits)

    def ordinal(self, number: int, *, feminine: bool = False, **form: str) -> str:
        """Return an ordinal in words, such as twenty-second. `form`: case and gender, in languages that need them."""
        if feminine and self._numbers.get("inflected"):
            form = {"gender": "f"}
        said = self._said(str(number), "ordinal", **form)
        if feminine:
            for written, changed in self._numbers.get("feminine_ordinal", ()):
                said = re.sub(rf"{written}\b", changed, said)
        return said

    def year(self, number: int) -> str:
        """Return a year in words, such as nineteen eighty-four."""
        return self._said(str(number), "year")

    def digits(self, written: str) -> str:
        """Return each digit of a text in words, with a comma between groups of digits."""
        groups = re.findall(r"\d+", written)
        return ", ".join(" ".join(self._said(digit) for digit in group) for group in groups)

    def _said(self, digits: str, form: str = "cardinal", **how: str) -> str:
        return _in_words(digits, self.dialect, form, tuple(how.items()))

    @cached_property
    def dialect(self) -> str:
        """The language as num2words knows it, with the region if that makes a difference."""
        name: str = self._numbers.get("dialects", {}).get(self.region, self._numbers.get("dialect", self.code))
        return name

    def unit(self, unit: str, value: Decimal) -> tuple[str, str]:
        """Return the words before and after an amount of one of CLDR's units, such as ("", "kilometers")."""
        form = _locale(self.code).plural_form(value)
        return _unit(self.code, unit, SAMPLES.get(form, "1.5" if self._numbers.get("inflected") else "2"))

    def plural(self, value: Decimal, names: Sequence[str]) -> str:
        """Return the name for a value: of two by whether it is 1, of more as in Russian: for 1, 2, 5 and a fraction."""
        if len(names) < 3:
            return names[0 if value == 1 else -1]
        form = _locale(self.code).plural_form(value)
        return names[{"one": 0, "few": 1, "many": 2}.get(form, -1 if len(names) > 3 else 1)]

    @property
    def value_of_part(self) -> Decimal:
        """The value whose plural form follows a fraction such as one third."""
        return Decimal("0.5") if self._numbers.get("inflected") else Decimal(1)

    def short_names(self, kind: str) -> dict[str, str]:
        """Return the names of months or days by their abbreviations without full stop."""
        names = getattr(_locale(self.code), kind)
        short = names["format"]["abbreviated"]
        return {short[number].rstrip("."): name for number, name in names["stand-alone"]["wide"].items()}

    def full_stop(self, found: re.Match[str]) -> str:
        """Return the full stop of an abbreviation at the end of a sentence, or nothing."""
        # A capital letter shows no new sentence in German.
        end = TEXT_END if self.data["sentences"].get("capital_nouns") else SENTENCE_END
        return "." if found.group().endswith(".") and end.match(found.string, found.end()) else ""

    def month(self, number: int) -> str:
        """Return the name of a month."""
        names: Mapping[int, str] = _locale(self.code).months["format"]["wide"]
        return names[number]

    def currency(self, code: str, value: Decimal) -> str:
        """Return the name of a currency, singular or plural as the value asks for."""
        from babel.numbers import get_currency_name

        name: str = get_currency_name(code, value, self.code)
        if code in self.data["money"].get("last_word", ()):
            return name.split()[-1]
        return name if self.code == "de" else name[:1].lower() + name[1:] if name[1:2].islower() else name


def one_of(words: Sequence[str]) -> str:
    """Return a pattern of words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) or r"(?!)"


def language_of(tag: str) -> SpokenLanguage | None:
    """Return the language of a tag such as pt-BR; None for one without rules."""
    code = base_language(tag)
    region = next((part.upper() for part in re.split("[-_]", tag)[1:] if len(part) == 2), "")
    return _language(code, region) if "numbers" in language_data(code) else None


@cache
def language_data(language: str) -> Mapping[str, Any]:
    """Return the tables of a language's file; empty without one. `language` is a code such as pt."""
    # An allow-list, not a path made from a request.
    if language not in known_languages():
        return {}
    return tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))


@cache
def known_languages() -> frozenset[str]:
    """Return the codes of the languages that have a file."""
    return frozenset(file.stem for file in FOLDER.glob("*.toml"))


@cache
def _language(code: str, region: str) -> SpokenLanguage:
    return SpokenLanguage(code, region)


@lru_cache(maxsize=MOST_CACHED)
def _in_words(digits: str, dialect: str, form: str, how: tuple[tuple[str, str], ...]) -> str:
    # Imported when the first number is read: 0.07 s.
    from num2words import num2words

    number = Decimal(digits) if "." in digits else int(digits)
    # Commas would be pauses.
    return str(num2words(number, lang=dialect, to=form, **dict(how))).replace(",", "").replace("  ", " ")


@cache
def _locale(code: str) -> Any:
    from babel import Locale  # 0.08 s with its first locale

    return Locale.parse(code)


@cache
def _unit(code: str, unit: str, number: str) -> tuple[str, str]:
    from babel.units import format_unit

    said = format_unit(Decimal(number), unit, length="long", locale=code)
    before, behind = re.split(r"\d(?:[.,]\d)?", said, maxsplit=1)
    return before.strip(), behind.strip()
