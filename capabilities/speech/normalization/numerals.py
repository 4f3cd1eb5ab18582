"""Numerals: Roman numerals, and ordinals in figures."""

import re

from capabilities.speech.normalization.language import Rule, SpokenLanguage, one_of

#: Numerals up to 39. L, C, D and M are too often something else: XL, CD, MD, LLC.
ROMAN = r"(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})"
VALUES = {"I": 1, "V": 5, "X": 10}


def rules(language: SpokenLanguage) -> list[Rule]:
    """Return the rules of numerals."""
    roman, ordinals = language.data["roman"], language.data["ordinals"]
    ending = r"(?!\w|[.'’-]\w)"
    made = [Rule(re.compile(pattern), _say_ordinal) for pattern in ordinals["patterns"]]
    if roman.get("century"):
        made.append(Rule(re.compile(roman["century"].replace("ROMAN", ROMAN)), _say_century))
    first = rf"{ROMAN}|{roman['first']}" if roman.get("first") else ROMAN
    monarchs, counted = one_of(roman["monarchs"]), one_of([*roman["counted"], *roman.get("short", ())])
    # In German, with the full stop of an ordinal: Ludwig XIV. war.
    stop = r"(?:\.(?=[ ][a-zäöü]))?" if roman.get("stop") else ""
    made += [
        Rule(re.compile(rf"(?:(?<=\b)(?P<name>{monarchs}))[ \u00a0](?P<roman>{first}){ending}{stop}"), _say_monarch),
        Rule(re.compile(rf"(?<!\w)(?P<name>(?i:{counted}))[ \u00a0](?P<roman>{ROMAN}){ending}"), _say_count),
        # After any other name, if longer than one letter: Rocky III.
        Rule(
            re.compile(rf"\b(?P<name>[^\W\d_a-zà-ÿ]\w{{2,20}})[ \u00a0](?P<roman>(?=\w\w)(?!XX|XXX){ROMAN}){ending}"),
            _say_count,
        ),
    ]
    return made


def _roman(written: str) -> int:
    total = 0
    for sign, follower in zip(written, [*written, ""][1:], strict=True):
        value = VALUES[sign]
        total += -value if follower and VALUES[follower] > value else value
    return total


def _say_ordinal(found: re.Match[str], language: SpokenLanguage) -> str | None:
    number = int(found["number"])
    if not 0 < number < 10_000:
        return None
    groups = found.groupdict()
    if "ending" in groups:
        return _inflected(number, found, language)
    said = language.ordinal(number, feminine=bool(groups.get("feminine")))
    if groups.get("short"):
        said = said.removesuffix("o")
    return f"{groups.get('before') or ''}{said}{_ending(found, language)}"


def _ending(found: re.Match[str], language: SpokenLanguage) -> str:
    """Return the ending of a German ordinal after its article: am dritten, der dritte, in der dritten."""
    ordinals = language.data["ordinals"]
    article = (found.groupdict().get("before") or "").strip().lower()
    before = re.search(r"(\w+)[ \u00a0]\Z", found.string[max(0, found.start() - 30) : found.start()])
    # After a preposition or a noun, "der" is a dative or a genitive.
    if article == "der" and before and (before.group(1).lower() in ordinals["dative"] or before.group(1)[0].isupper()):
        return "n"
    ending: str = ordinals.get("endings", {}).get(article, "")
    return ending


def _inflected(number: int, found: re.Match[str], language: SpokenLanguage) -> str:
    """Return an ordinal in the case that the word or ending behind it asks for, as in: в 2023 г."""
    ordinals = language.data["ordinals"]
    ending = found.groupdict().get("ending") or found.groupdict().get("behind") or ""
    word = ending.strip()
    if word in ordinals["short"]:
        is_place = re.search(r"(?i)(?<!\w)во?[ \u00a0]\Z", found.string[: found.start()])
        word = ordinals["short"][word][1 if is_place else 0]
    said = language.ordinal(number, **ordinals["forms"][word])
    return f"{said} {word}" if ending[:1].isspace() else said


def _say_century(found: re.Match[str], language: SpokenLanguage) -> str | None:
    number = _roman(found["roman"])
    if "forms" in language.data["ordinals"]:
        return _inflected(number, found, language)
    return f"{language.ordinal(number)}{found['behind']}"


def _say_monarch(found: re.Match[str], language: SpokenLanguage) -> str | None:
    roman, name = language.data["roman"], found["name"]
    is_queen = name in roman["queens"]
    if found["roman"] == roman.get("first"):
        return f"{name} {language.ordinal(1, feminine=is_queen)}"
    number = _roman(found["roman"])
    # "Henry I met", "Elizabeth V. Smith": the pronoun, or an initial.
    if found["roman"] in roman["never_alone"]:
        return None
    if number > roman["ordinals_up_to"]:
        return f"{name} {language.words(number)}"
    article = roman["queen_article" if is_queen else "article"]
    return " ".join(part for part in (name, article, language.ordinal(number, feminine=is_queen)) if part)


def _is_sure(found: re.Match[str], sure: list[str]) -> bool:
    """Return whether a numeral is not the pronoun spelt like it, as in: at the level I tried."""
    return found["name"] in sure or not re.match(r"[ \u00a0]\w", found.string[found.end() :])


def _say_count(found: re.Match[str], language: SpokenLanguage) -> str | None:
    number, roman = _roman(found["roman"]), language.data["roman"]
    name = roman.get("short", {}).get(found["name"], found["name"])
    if name in roman["not_behind"] or (found["roman"] == roman.get("pronoun") and not _is_sure(found, roman["sure"])):
        return None
    return f"{name} {language.words(number)}"
