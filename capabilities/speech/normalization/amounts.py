"""Amounts: money, and numbers with a unit."""

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path

from capabilities.speech.normalization.language import DIGITS, Rule, SpokenLanguage, one_of

#: Currencies written by their code, before or after the amount; CLDR names them. None that is a word: TRY, COP.
CODES = (
    "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "BRL", "CAD", "AUD", "NZD", "INR", "MXN", "SEK", "NOK", "DKK", "PLN",
    "CZK", "RUB", "ZAR", "KRW", "ARS", "CLP",
)  # fmt: skip
#: Powers of ten written after the amount.
SCALES = {"k": 3, "K": 3, "M": 6, "m": 6, "mn": 6, "Mio": 6, "bn": 9, "B": 9, "b": 9, "Mrd": 9, "T": 12, "tn": 12}

FRACTION = re.compile(r"[1-3]/[2-4]|[½¼¾]")
SPACE = r"[ \u00a0\u202f]?"
DASH = rf"{SPACE}[–—-]{SPACE}"


def rules(language: SpokenLanguage) -> list[Rule]:
    """Return the rules of amounts; money first, since $5m are no meters."""
    return [
        Rule(_money_before(language), _say_money, DIGITS),
        Rule(_money_behind(language), _say_money, DIGITS),
        Rule(_fraction_of_unit(language), _say_fraction_of_unit, frozenset("/½¼¾")),
        Rule(_quantity(language), _say_quantity, DIGITS),
        Rule(re.compile(rf"""(?<!['’′])({language.number})["″](?=[\s.,;:!?)x×-]|\Z)"""), _say_inches, frozenset('"″')),
    ]


def _money_before(language: SpokenLanguage) -> re.Pattern[str]:
    signs = one_of([*language.data["money"]["signs"], *CODES])
    return re.compile(
        rf"(?<![\w$€£¥.,])(?P<sign>[-−])?(?P<currency>{signs})(?:(?<=[$€£¥])(?P<inner_sign>[-−]))?{SPACE}"
        rf"(?P<least>{_free(language)})"
        rf"(?:{DASH}(?:{signs})?(?P<most>{_free(language)}))?{_scale(language)}{_per(language)}"
    )


def _money_behind(language: SpokenLanguage) -> re.Pattern[str]:
    signs = one_of([*language.data["money"]["signs"], *CODES, *language.data["money"].get("short_names", {})])
    return re.compile(
        rf"(?P<sign>(?<![\w.,-])[-−])?(?P<least>{language.number})(?:{DASH}(?P<most>{_free(language)}))?"
        rf"{_scale(language)}{SPACE}(?P<currency>{signs})(?!\w){_per(language)}"
    )


def _free(language: SpokenLanguage) -> str:
    """Return the pattern of a number that directly follows a sign."""
    return language.number.removeprefix(r"(?<![\w.,])")


def _scale(language: SpokenLanguage) -> str:
    words = one_of(language.data["money"]["scale_words"])
    return rf"(?:{SPACE}(?P<scale>{one_of(list(SCALES))})(?:\.|(?!\w))|[ \u00a0-](?P<word>{words})\b)?"


def _per(language: SpokenLanguage) -> str:
    """Return the pattern of the unit of a price: a listed word, or any word in languages that allow it."""
    money = language.data["money"]
    word = rf"{one_of(list(money['per_units']))}" + (r"|[^\W\d_]{3,15}" if money["per_any"] else "")
    return rf"(?:{SPACE}/{SPACE}(?P<per>{word})\b)?"


def _say_money(found: re.Match[str], language: SpokenLanguage) -> str | None:
    money = language.data["money"]
    least, most = found["least"], found["most"]
    if (found["scale"] or found["word"]) is None:
        said = _plain_money(most or least, found, language)
    else:
        said = _scaled_money(found, language)
    if most:
        said = f"{_least_words(least, found, language)} {language.data['numbers']['to']} {said}"
    if found["sign"] or found.groupdict().get("inner_sign"):
        said = f"{language.data['numbers']['minus']} {said}"
    if per := found["per"]:
        said = f"{said} {money['per']} {money['per_units'].get(per, per)}"
    return said + _full_stop(found)


def _plain_money(written: str, found: re.Match[str], language: SpokenLanguage) -> str:
    """Return such as three euros and fifty cents."""
    money = language.data["money"]
    value = language.value(written)
    names, gender = _names(found["currency"], value, language)
    whole, cents = divmod(value, 1)
    if not cents or len(str(cents)) != len("0.50") or len(names) < 4:
        return f"{language.words(value, gender=gender)} {names[0 if value == 1 else 1]}"
    said_cents = f"{language.words(int(cents * 100), gender='masculine')} {names[2 if cents * 100 == 1 else 3]}"
    if not whole:
        return said_cents
    said = f"{language.words(int(whole), gender=gender)} {names[0 if whole == 1 else 1]}"
    number = language.words(int(cents * 100))
    template: str = money["cents"]
    return template.format(whole=said, cents=said_cents, number=number)


def _scaled_money(found: re.Match[str], language: SpokenLanguage) -> str:
    """Return such as ten million dollars."""
    names, _ = _names(found["currency"], Decimal(2), language)
    words = _scaled_words(found["most"] or found["least"], found, language)
    word = found["word"] or ("million" if SCALES[found["scale"]] > 3 else "")
    of = language.data["money"]["of"] if word and not language.data["money"]["no_of"].count(word) else ""
    # fr: d'euros.
    if of.endswith("e") and language.code == "fr" and names[1][0] in "aeiou":
        return f"{words} d'{names[1]}"
    return " ".join(part for part in (words, of, names[1]) if part)


def _scaled_words(written: str, found: re.Match[str], language: SpokenLanguage) -> str:
    value = language.value(written)
    if found["word"]:
        return f"{language.words(value, gender='masculine')} {found['word']}"
    power = SCALES[found["scale"]] if found["scale"] else 0
    whole = value.scaleb(power)
    if whole == whole.to_integral_value() and (power <= 3 or value == value.to_integral_value()):
        return language.words(int(whole), gender="masculine")
    names = language.data["money"]["scales"]
    return f"{language.words(value, gender='masculine')} {names[str(power)][0 if value == 1 else 1]}"


def _least_words(written: str, found: re.Match[str], language: SpokenLanguage) -> str:
    """Return the lower end of a range, without the million of the upper one."""
    if found["word"] or (found["scale"] and SCALES[found["scale"]] > 3):
        return language.words(language.value(written), gender="masculine")
    if found["scale"]:
        return _scaled_words(written, found, language)
    value = language.value(written)
    # $2.50-$5: two dollars and fifty cents to five dollars, as "two point five zero" is no price.
    if value != value.to_integral_value():
        return _plain_money(written, found, language)
    return language.words(int(value), gender=_names(found["currency"], value, language)[1])


def _names(currency: str, value: Decimal, language: SpokenLanguage) -> tuple[list[str], str]:
    """Return the singular and plural of a currency (and of its hundredth), and its gender."""
    money = language.data["money"]
    if currency in CODES:
        name = language.currency(currency, value)
        return [name, name], "masculine"
    *names, gender = money["signs"].get(currency) or money["short_names"][currency]
    return names, gender


@cache
def _unit_spellings() -> Mapping[str, str]:
    return tomllib.loads(Path(__file__).with_name("units.toml").read_text("utf-8"))


@cache
def _units(language: SpokenLanguage) -> dict[str, str]:
    """Return CLDR's names of units by their spellings."""
    own = language.data.get("units", {})
    spellings = {**_unit_spellings(), **own.get("spellings", {})}
    return {spelling: unit for spelling, unit in spellings.items() if spelling not in own.get("not", ())}


def _unit_pattern(language: SpokenLanguage) -> str:
    return one_of([*_units(language), *language.data["units"].get("said", {})])


def _quantity(language: SpokenLanguage) -> re.Pattern[str]:
    units = _unit_pattern(language)
    return re.compile(
        # Not the 2 of 1/2 kg.
        rf"(?P<sign>(?<![\w.,-])[-−+])?(?<!\d/)(?P<least>{language.number})(?:{DASH}(?P<most>{_free(language)}))?"
        rf"(?P<gap>{SPACE}|-)(?P<unit>{units})(?:/(?P<per>{units}))?(?![\w²³°/]|[.'’]\w)"
    )


def _say_quantity(found: re.Match[str], language: SpokenLanguage) -> str | None:
    table, unit, gap = language.data["units"], found["unit"], found["gap"]
    if (unit in table["with_space"] and not gap.strip("-")) or (unit in table["without_space"] and gap):
        return None
    value = language.value(found["most"] or found["least"])
    # A 10-km race: ten kilometer.
    before, behind, gender = _unit_names(unit, Decimal(1) if gap == "-" else value, language)
    said = language.words(value, gender=gender)
    if found["most"]:
        least = language.words(language.value(found["least"]), gender=gender)
        said = f"{least} {language.data['numbers']['to']} {said}"
    sign = {"-": "minus", "−": "minus", "+": "plus"}.get(found["sign"] or "")
    parts = [language.data["numbers"][sign] if sign else "", before, said, behind]
    if found["per"]:
        parts += [language.data["units"].get("per", "per"), *_unit_names(found["per"], Decimal(1), language)[:2]]
    return " ".join(part for part in parts if part)


def _unit_names(unit: str, value: Decimal, language: SpokenLanguage) -> tuple[str, str, str]:
    """Return the words before and after an amount of a unit, and its gender."""
    table = language.data["units"]
    name = unit
    if names := table.get("said", {}).get(unit):
        before, behind = "", names[0 if value == 1 else 1]
    else:
        name = _units(language)[unit]
        before, behind = language.unit(name, value)
    return before, behind, "feminine" if name in table["feminine"] else "masculine"


def _fraction_of_unit(language: SpokenLanguage) -> re.Pattern[str]:
    fractions = one_of([written for written in language.data["signs"]["whole"] if FRACTION.fullmatch(written)])
    return re.compile(
        rf"(?<![\w.,/-])(?:(?P<whole>\d{{1,3}})(?:[ \u00a0]|(?!\d)))?(?P<part>{fractions})"
        rf"[ \u00a0-]?(?P<unit>{_unit_pattern(language)})(?![\w²³°/]|[.'’]\w)"
    )


def _say_fraction_of_unit(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return such as one third pound; in other languages, un tiers de livre."""
    signs, of = language.data["signs"], language.data["money"]["of"]
    whole, part = found["whole"], signs["whole"][found["part"]]
    if whole and of:  # deux kilos et demi is another order
        return None
    _, unit, _ = _unit_names(found["unit"], Decimal(2 if whole else 1), language)
    start = f"{whole} {signs['and']} " if whole else ""
    is_half = found["part"] in ("1/2", "½")
    return start + " ".join(filter(None, (part, "" if is_half else of, unit)))


def _say_inches(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return such as six inches; None if the sign closes a quotation."""
    if len(re.findall(r'(?<!\d)"', found.string[: found.start()])) % 2:
        return None
    value = language.value(found[1])
    _, behind = language.unit("length-inch", value)
    return f"{language.words(value)} {behind}"


def _full_stop(found: re.Match[str]) -> str:
    """Return the full stop of a text that ends in Mio."""
    return "." if found.group().endswith(".") and not found.string[found.end() :].strip() else ""
