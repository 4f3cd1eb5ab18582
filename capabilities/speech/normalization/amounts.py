"""Amounts: money, and numbers with a unit."""

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from unicodedata import normalize

from capabilities.speech.normalization.language import Rule, SpokenLanguage, one_of

#: Currencies written by their code, before or after the amount; CLDR names them. None that is a word: TRY, COP.
CODES = (
    "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "BRL", "CAD", "AUD", "NZD", "INR", "MXN", "SEK", "NOK", "DKK", "PLN",
    "CZK", "RUB", "ZAR", "KRW", "ARS", "CLP",
)  # fmt: skip
#: Powers of ten written after the amount.
SCALES = {
    "k": 3, "K": 3, "тыс": 3,
    "M": 6, "m": 6, "mn": 6, "mi": 6, "mln": 6, "Mio": 6, "млн": 6,
    "bn": 9, "bi": 9, "B": 9, "b": 9, "Md": 9, "Mds": 9, "mld": 9, "Mrd": 9, "млрд": 9,
    "T": 12, "tn": 12,
}  # fmt: skip

#: A fraction of a table, with any sign for it.
FRACTION = r"(?:(?:1[/⁄][2348]|2[/⁄]3|3[/⁄][48]|[57][/⁄]8)(?!\d)|[½⅓⅔¼¾⅛⅜⅝⅞])"
#: A number and the first character of its unit.
WITH_UNIT = r"\d[\d.,]*[ ]?(?:[^\W\d_]|°)"
HALVES = ("1/2", "½")
INCHES = '"″”'
#: 5'11", 6ft 2in
FEET = re.compile(
    rf"(?<![\w.,'’])(?P<feet>\d)(?:['’′][ ]?|[ ]?ft\.?[ ])(?P<inches>1[01]|\d)(?:[{INCHES}]|[ ]?in\b\.?(?!\w))"
)
SPACE = r"[ \u00a0\u202f]?"
DASH = rf"{SPACE}[–—-]{SPACE}"


def rules(language: SpokenLanguage) -> list[Rule]:
    """Return the rules of amounts; money first, since $5m are not meters."""
    return [
        Rule(_money_before(language), _say_money),
        Rule(_money_behind(language), _say_money),
        Rule(_fraction_of_unit(language), _say_fraction_of_unit),
        Rule(FEET, _say_feet),
        Rule(_quantity(language), _say_quantity),
        Rule(_count(language), _say_count),
        Rule(
            re.compile(rf"""(?<![\d.,'’′/])(?<![^\W\dxX])({_free(language)})[{INCHES}](?=[\s.,;:!?)xX×-]|\Z)"""),
            _say_inches,
        ),
        Rule(re.compile(rf"(?<=[^\W\d_%])/(?={WITH_UNIT})"), _say_between_units),
    ]


def _money_before(language: SpokenLanguage) -> re.Pattern[str]:
    signs = one_of([*language.data["money"]["signs"], *CODES])
    return re.compile(
        rf"(?<![\w$€£¥.,])(?P<sign>[-−])?(?P<currency>{signs})(?:(?<=[$€£¥])(?P<inner_sign>[-−]))?{SPACE}"
        rf"(?P<least>{_free(language)})(?:(?:{SPACE}(?P<least_scale>{_scales(language)}))?"
        rf"{DASH}(?:{signs})?(?P<most>{_free(language)}))?{_scale(language)}{_per(language)}"
    )


def _money_behind(language: SpokenLanguage) -> re.Pattern[str]:
    signs = one_of([*language.data["money"]["signs"], *CODES, *language.data["money"].get("short_names", {})])
    return re.compile(
        rf"(?P<sign>(?<![\w.,-])[-−])?(?P<least>{language.number})(?:{DASH}(?P<most>{_free(language)}))?"
        rf"(?P<least_scale>(?!))?{_scale(language)}{SPACE}(?:d['’]|d[ei] )?(?P<currency>{signs})(?!\w){_per(language)}"
    )


def _free(language: SpokenLanguage) -> str:
    """Return the pattern of a number that directly follows a sign."""
    return language.number.removeprefix(r"(?<![\w.,])")


def _scales(language: SpokenLanguage) -> str:
    return one_of([*SCALES, *language.data["money"]["scale_words"]])


def _scale(language: SpokenLanguage) -> str:
    words = one_of(language.data["money"]["scale_words"])
    return rf"(?:{SPACE}(?P<scale>{one_of(list(SCALES))})(?:\.|(?!\w))|[ \u00a0-](?P<word>{words})\b)?"


def _per(language: SpokenLanguage) -> str:
    """Return the pattern of the unit of a price: a listed word, or any word in languages that allow it."""
    money = language.data["money"]
    word = rf"{one_of(list(money['per_units']))}" + (r"|[^\W\d_]{3,15}" if money["per_any"] else "")
    return rf"(?:{SPACE}/{SPACE}(?P<per>{word})(?!\w))?"


def _say_money(found: re.Match[str], language: SpokenLanguage) -> str | None:
    money = language.data["money"]
    least, most = found["least"], found["most"]
    if found["least_scale"] not in (None, found["scale"], found["word"]):
        return None
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
    # £3.50pp: a space, so that no word grows on.
    return said + language.full_stop(found) + (" " if found.string[found.end() :][:1].isalpha() else "")


def _plain_money(written: str, found: re.Match[str], language: SpokenLanguage) -> str:
    """Return such as three euros and fifty cents."""
    money = language.data["money"]
    value = language.value(written)
    names, gender = _names(found["currency"], value, language)
    whole, cents = divmod(value, 1)
    if not cents or len(str(cents)) != len("0.50") or len(names) < 4:
        return f"{language.words(value, gender=gender)} {language.plural(value, names[:2])}"
    said_cents = f"{language.words(int(cents * 100), gender='masculine')} {language.plural(cents * 100, names[2:])}"
    if not whole:
        return said_cents
    said = f"{language.words(int(whole), gender=gender)} {language.plural(whole, names[:2])}"
    number = language.words(int(cents * 100))
    template: str = money["cents"]
    return template.format(whole=said, cents=said_cents, number=number)


def _scaled_money(found: re.Match[str], language: SpokenLanguage) -> str:
    """Return such as ten million dollars."""
    names, _ = _names(found["currency"], Decimal(5), language)
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
    return f"{language.words(value, gender='masculine')} {language.plural(value, names[str(power)])}"


def _least_words(written: str, found: re.Match[str], language: SpokenLanguage) -> str:
    """Return the lower end of a range, without the million of the upper one."""
    if found["word"] or (found["scale"] and SCALES[found["scale"]] > 3):
        return language.words(language.value(written), gender="masculine")
    if found["scale"]:
        return _scaled_words(written, found, language)
    value = language.value(written)
    # $2.50-$5: two dollars and fifty cents to five dollars, as "two point five zero" is not a price.
    if value != value.to_integral_value():
        return _plain_money(written, found, language)
    return language.words(int(value), gender=_names(found["currency"], value, language)[1])


def _names(currency: str, value: Decimal, language: SpokenLanguage) -> tuple[list[str], str]:
    """Return the singular and plural of a currency (and of its hundredth), and its gender."""
    money = language.data["money"]
    named = currency if currency in CODES else money["signs"].get(currency) or money["short_names"][currency]
    if isinstance(named, str):
        name = language.currency(named, value)
        return [name, name], "masculine"
    *names, gender = named
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


@cache
def _unit_pattern(language: SpokenLanguage) -> str:
    return one_of([*_units(language), *language.data["units"].get("said", {})])


def _quantity(language: SpokenLanguage) -> re.Pattern[str]:
    units = _unit_pattern(language)
    return re.compile(
        # Not the 2 of 1/2 kg.
        rf"(?P<sign>(?<![\w.,-])[-−+])?(?<!\d/)(?P<least>{language.number})"
        rf"(?:(?:{SPACE}(?P<least_unit>{units})\.?)?{DASH}(?P<most>{_free(language)}))?"
        rf"(?P<gap>{SPACE}|-)(?P<unit>{units})\.?(?:/(?P<per>{units}))?(?![\w²³°]|/(?!{WITH_UNIT})|[.'’]\w)"
    )


def _say_quantity(found: re.Match[str], language: SpokenLanguage) -> str | None:
    table, unit, gap = language.data["units"], found["unit"], found["gap"]
    is_long = unit in table.get("three_digits", ()) and len(re.sub(r"\D", "", found["least"])) >= 3
    if (unit in table["with_space"] and not gap.strip("-") and not is_long) or (unit in table["without_space"] and gap):
        return None
    if unit in table.get("three_digits", ()) and unit not in table["with_space"] and not is_long:
        return None
    # 2023 г. is a year.
    if unit in table.get("years", ()) and found.group().endswith(".") and re.fullmatch(r"[12]\d{3}", found["least"]):
        return None
    value = language.value(found["most"] or found["least"])
    # A 10-km race: ten kilometer.
    before, behind, gender = _unit_names(unit, Decimal(1) if gap == "-" else value, language)
    said = language.words(value, gender=gender)
    if found["most"]:
        least = language.words(language.value(found["least"]), gender=gender)
        if found["least_unit"] not in (None, unit):
            least += f" {_unit_names(found['least_unit'], language.value(found['least']), language)[1]}"
        said = f"{least} {language.data['numbers']['to']} {said}"
    sign = {"-": "minus", "−": "minus", "+": "plus"}.get(found["sign"] or "")
    parts = [language.data["numbers"][sign] if sign else "", before, said, behind]
    if found["per"]:
        parts += [language.data["units"].get("per", "per"), *_unit_names(found["per"], Decimal(1), language)[:2]]
    return " ".join(part for part in parts if part) + language.full_stop(found)


def _unit_names(unit: str, value: Decimal, language: SpokenLanguage) -> tuple[str, str, str]:
    """Return the words before and after an amount of a unit, and its gender."""
    table = language.data["units"]
    name = "length-inch" if unit == "″" else unit
    if names := table.get("said", {}).get(unit):
        before, behind = "", language.plural(value, names)
    else:
        name = _units(language).get(unit, name)
        before, behind = language.unit(name, value)
    return before, behind, "feminine" if name in table["feminine"] else "masculine"


def _fraction_of_unit(language: SpokenLanguage) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w.,/-])(?:(?P<whole>\d{{1,3}})(?:[ \u00a0]|(?!\d)))?(?P<part>{FRACTION})"
        rf"(?:[ \u00a0-]?(?P<unit>{_unit_pattern(language)})\.?(?![\w²³°/]|[.'’]\w)|[{INCHES}])"
    )


def say_fraction(written: str, language: SpokenLanguage) -> str:
    """Return the words of a fraction, such as one third. Raises LookupError for one without."""
    said: str = language.data["signs"]["fractions"][normalize("NFKC", written).replace("⁄", "/")]
    return said


def _say_fraction_of_unit(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return such as one third pound; in other languages, un tiers de livre."""
    signs, of = language.data["signs"], language.data["money"]["of"]
    if found["unit"] is None and _is_in_quotes(found):
        return None
    whole, part = found["whole"], say_fraction(found["part"], language)
    if whole and of:  # deux kilos et demi is another order
        return None
    value = Decimal(2) if whole else language.value_of_part
    _, unit, gender = _unit_names(found["unit"] or "″", value, language)
    if found["part"] in HALVES:
        part, of = signs.get("half", {}).get(gender, part), ""
    start = f"{whole} {signs['and']} " if whole else ""
    return start + " ".join(filter(None, (part, of, unit))) + language.full_stop(found)


def _say_inches(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return such as six inches; None if the sign closes a quotation."""
    if _is_in_quotes(found):
        return None
    value = language.value(found[1])
    _, behind = language.unit("length-inch", value)
    return f"{language.words(value)} {behind}"


def _is_in_quotes(found: re.Match[str]) -> bool:
    before = found.string[: found.start()]
    return len(re.findall(r'(?<!\d)"', before)) % 2 > 0 or before.count("“") > len(re.findall(r"(?<!\d)”", before))


def _say_feet(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return such as five feet eleven inches."""
    feet, inches = Decimal(found["feet"]), Decimal(found["inches"])
    parts = (language.words(feet), language.unit("length-foot", feet)[1])
    return " ".join((*parts, language.words(inches), language.unit("length-inch", inches)[1])) + language.full_stop(
        found
    )


def _count(language: SpokenLanguage) -> re.Pattern[str]:
    """Return the pattern of 1.2M users and 3 млн человек."""
    return re.compile(
        rf"(?P<least>{language.number})(?:(?P<scale>[KMBk]|bn|mn)|{SPACE}(?P<short>mln|mld|млн|млрд|тыс)\.?)"
        r"(?P<word>(?!))?(?=[ \u00a0][^\W\d_]{2}|[,;)]|\Z)"
    )


def _say_count(found: re.Match[str], language: SpokenLanguage) -> str | None:
    scale = found["scale"] or found["short"]
    # 4K and 10K are names.
    if scale in ("K", "k") and len(found["least"]) < 3:
        return None
    value, names = language.value(found["least"]), language.data["money"]["scales"]
    if str(SCALES[scale]) not in names:
        return language.words(int(value.scaleb(SCALES[scale])))
    gender = "feminine" if scale == "тыс" else "masculine"
    return f"{language.words(value, gender=gender)} {language.plural(value, names[str(SCALES[scale])])}"


def _say_between_units(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return a comma between two units of one amount: 200ml/7fl oz."""
    before = found.string[max(0, found.start() - 15) : found.start()]
    is_behind_unit = re.search(rf"\d[ \u00a0]?(?:{_unit_pattern(language)})\Z", before)
    return ", " if is_behind_unit else None
