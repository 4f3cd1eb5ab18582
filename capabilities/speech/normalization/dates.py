"""Dates and times of day that are written in figures."""

import re
from datetime import date
from decimal import Decimal

from capabilities.speech.normalization.language import CAPITAL, Rule, SpokenLanguage, one_of

ISO = re.compile(r"(?<![\w/.-])(\d{4})([/-])(\d{2})\2(\d{2})(?![\w-]|[/.]\d)")
#: 16.12., in German.
DAY_AND_MONTH = re.compile(r"(?<![\w/.-])(\d{1,2})\.(\d{1,2})\.(?!\w)")
FIGURES = re.compile(r"(?<![\w/.-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?![\w-]|[/.]\d)")
SECONDS = r"[0-5]\d(?:[.,]\d{1,3})?"
#: 2:05:42.5; 58:51, which is no time of day; 4:41.5; 1h 30m and 2h05'42''.
DURATIONS = tuple(
    re.compile(rf"(?<![\w:.,]){written}(?![\w:/]|[.,]\d)(?:[ ]?(?:h|Stunden|Std\.|Uhr)\b)?")
    for written in (
        rf"(?P<hour>\d{{1,3}}):(?P<minute>[0-5]\d):(?P<second>{SECONDS})",
        rf"(?P<minute>2[5-9]|[3-9]\d):(?P<second>{SECONDS})",
        r"(?P<minute>\d{1,2}):(?P<second>[0-5]\d[.,]\d{1,3})",
        r"(?P<hour>\d{1,3})[ ]?h[ ]?(?P<minute>\d{1,2})[ ]?"
        r"(?:m(?:in)?\b\.?|['’′](?:[ ]?(?P<second>\d{1,2})(?:\"|″|'')?)?)",
    )
)
BEHIND_A_NAME = re.compile(rf"\b{CAPITAL}\w+[ \u00a0]\Z")
MERIDIEM = r"(?:[\s\u00a0]?([AaPp])(?:\.[\s\u00a0]?[Mm]\.|[Mm]\b))"
#: Between two times of day.
BETWEEN = re.compile(r"(?<!:\d\d:\d\d)(?:(?<=\d[:h]\d\d)|(?<=\dh))[ \u00a0]?[–-][ \u00a0]?(?=\d{1,2}(?::\d\d|h))")
BEFORE_TIME = r"(?<!:\d\d:\d\d-)(?:(?<![\w:.,/-])|(?<=\d[:h]\d\d-)|(?<=\dh-))"
BEHIND_TIME = r"(?![\w:/]|[.,]\d|-\d{1,2}(?![\d:h]))"
BEFORE_HALF = r"(?:(?<=[\dmM.])[ ]?([-–])[ ]?|(?<![\w:.,/$€£-]))"


def rules(language: SpokenLanguage) -> list[Rule]:
    """Return the rules of dates."""
    times = language.data["times"]
    swallowed = rf"(?:[\s\u00a0]?(?:{one_of(times['after'])})\b\.?)?" if times["after"] else ""
    patterns = [rf"{BEFORE_TIME}(\d{{1,2}})(?:{times['marks']})([0-5]\d){BEHIND_TIME}{swallowed}"]
    if "hour_alone" in times:
        patterns.append(rf"{BEFORE_TIME}(\d{{1,2}}){times['hour_alone']}(?![\w/])")
    halves = rf"{BEFORE_HALF}(\d{{1,2}})(?:[:.]([0-5]\d))?{MERIDIEM}"
    return [
        *([Rule(re.compile(halves), _say_meridiem)] if times.get("meridiem") else []),
        Rule(ISO, lambda found, language: _say_date(found.group(1, 3, 4), found, language)),
        *(Rule(pattern, _say_duration) for pattern in DURATIONS),
        Rule(FIGURES, _say_figures),
        *([Rule(DAY_AND_MONTH, _say_day)] if language.data["dates"].get("day_and_month") else []),
        Rule(_day_and_month(language), _say_month),
        *(Rule(re.compile(pattern), _say_time) for pattern in patterns),
        Rule(BETWEEN, lambda found, language: f" {language.data['numbers']['to']} "),
    ]


def _say_date(parts: tuple[str, ...], found: re.Match[str], language: SpokenLanguage) -> str | None:
    year, month, day = map(int, parts)
    try:
        date(year, month, day)
    except ValueError:
        return None
    names = language.data["dates"]
    said = names["first"] if day == 1 and "first" in names else language.words(day)
    if names["ordinal"]:
        said = language.ordinal(day, **names.get("form", {}))
    if ending := names.get("ordinal_ending"):
        said += ending["after"] if _word_before(found) in ending["words"] else ending["otherwise"]
    written: str = names["date"]
    return written.format(day=said, month=language.month(month), year=_year(year, language))


def _year(year: int, language: SpokenLanguage) -> str:
    form = language.data["dates"].get("year_form")
    return language.ordinal(year, **form) if form else language.year(year)


def _say_day(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return such as sechzehnten Dezember for 16.12."""
    # Version 1.2. is not a day.
    if _word_before(found) not in language.data["dates"]["ordinal_ending"]["words"]:
        return None
    # The year is a leap year, and left out.
    said = _say_date(("2000", found[2], found[1]), found, language)
    return said and said.removesuffix(f" {language.year(2000)}") + language.full_stop(found)


def _say_duration(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return such as two hours five minutes forty-two seconds."""
    # In other languages 31:28 is a score; after a name, as in Jeremiah 29:11, a verse.
    is_minutes = "hour" not in found.groupdict() and found["second"].isdecimal()
    if is_minutes and (not language.data["times"].get("meridiem") or BEHIND_A_NAME.search(_before(found))):
        return None
    parts = []
    for unit, written in found.groupdict().items():
        if written:
            value, name = Decimal(written.replace(",", ".")), f"duration-{unit}"
            gender = "feminine" if name in language.data["units"]["feminine"] else "masculine"
            parts += [language.words(value, gender=gender), language.unit(name, value)[1]]
    return " ".join(parts)


def _say_figures(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return a date such as 22/11/2026; None if day and month can't be told apart."""
    first, _, second, year = found.groups()
    if language.data["dates"]["day_first"] or int(first) > 12 or first == second:
        return _say_date((year, second, first), found, language)
    return _say_date((year, first, second), found, language) if int(second) > 12 else None


def _day_and_month(language: SpokenLanguage) -> re.Pattern[str]:
    """Return the pattern of a short month beside a number: Jan. 5, 5 Jan. 2026, 24. Dez."""
    names = language.data["dates"]
    mark = r"\.?" if names["month_without_stop"] else r"\."
    short = one_of(names["short_months"])
    return re.compile(rf"(?:(?<=\d[ \u00a0])|(?<=\d\.[ \u00a0])|\b)(?:{short}){mark}(?![\w.-])")


def _say_month(found: re.Match[str], language: SpokenLanguage) -> str | None:
    before = found.string[max(0, found.start() - 5) : found.start()]
    behind = found.string[found.end() : found.end() + 6]
    if not re.search(r"(?<!\d)\d{1,2}(?:\.|st|nd|rd|th|er|º)?(?: de)?[ \u00a0]\Z", before) and not re.match(
        r",?[ \u00a0](?:de )?(?:\d{1,2}|\d{4})(?:\D|\Z)", behind
    ):
        return None
    name = language.month(language.data["dates"]["short_months"][found.group().rstrip(".")])
    return name + language.full_stop(found)


def _say_time(found: re.Match[str], language: SpokenLanguage) -> str | None:
    hour, minute = int(found.group(1)), int(found.group(2) or 0) if len(found.groups()) > 1 else 0
    times = language.data["times"]
    # Zero o'clock is not English.
    if hour > 24 or (hour == 24 and minute) or (hour == 0 and "zero" in times):
        return None
    template: str = times["clock"] if minute else times["full"]
    hour_word = times["hour"][0 if hour <= 1 else 1] if "hour" in times else ""
    said_hour = language.words(hour, gender=times["gender"])
    return template.format(hour=said_hour, minute=_minute(minute, language), hours=hour_word)


def _say_meridiem(found: re.Match[str], language: SpokenLanguage) -> str | None:
    dash, hour, minute, half = found.group(1), int(found.group(2)), int(found.group(3) or 0), found.group(4).lower()
    if not 1 <= hour <= 12:
        return None
    said = language.words(hour) + (f" {_minute(minute, language)}" if minute else "")
    to = f" {language.data['numbers']['to']} " if dash else ""
    stop = "" if found.string[found.end() :].startswith(".") else "."
    return f"{to}{said} {half}.m{stop}"


def _minute(minute: int, language: SpokenLanguage) -> str:
    zero = language.data["times"].get("zero")
    return f"{zero} {language.words(minute)}" if zero and minute < 10 else language.words(minute)


def _before(found: re.Match[str]) -> str:
    return found.string[max(0, found.start() - 15) : found.start()]


def _word_before(found: re.Match[str]) -> str:
    before = re.search(r"(\w+)\s+\Z", _before(found))
    return before.group(1).lower() if before else ""
