"""Signs: abbreviations, and signs that are said as words or left out."""

import re
from unicodedata import normalize

from capabilities.speech.normalization.amounts import FRACTION, HALVES, say_fraction
from capabilities.speech.normalization.language import CAPITAL, Rule, SpokenLanguage, one_of
from capabilities.speech.normalization.markup import say_nothing

EMOJI = re.compile(
    r"[ \u00a0]?[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2190-\u21ff\ufe0f\u200d\U000e0020-\U000e007f]+"
)
#: Mathematical letters, which people use for bold text, and full-width ones.
STYLED = re.compile(r"[\U0001d400-\U0001d7ff\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]+")
MARKED = re.compile(r"[®™©]")

#: The end of a text: a name, and a name that is not the first word.
A_NAME = re.compile(rf"\b{CAPITAL}\w{{2,20}} \Z")
BEHIND_A_NAME = re.compile(rf"[\w.]\s+{CAPITAL}\w{{2,20}} \Z")

ABOUT = re.compile(r"[~≈][ \u00a0]?(?=\d)")
NUMBER_SIGN = re.compile(r"(?<!\w)#[ ]?(?=\d{1,6}(?!\w))")
HASHTAG = re.compile(r"(?<![\w#&])#(?=[^\W\d_]\w)")
AMPERSAND = re.compile(r"(?<=\w)[ \u00a0]?(?:&amp;|&)[ \u00a0]?(?=\w)")
MENTION = re.compile(r"(?<![\w@/])@(?=[^\W\d_]\w)")
#: Two words, and no path.
WORDS = re.compile(r"(?<![\w/])([^\W\d_]{2,30})/([^\W\d_]{2,30})(?![\w/])")
SHORT_NUMBER = r"\d{1,6}(?:[.,]\d{1,6})?"
RANGE = re.compile(rf"(?<![\w.,:/–-]){SHORT_NUMBER}[ \u00a0]?[–—-][ \u00a0]?{SHORT_NUMBER}(?![\w/=–-]|[.,:]\d)")
YEAR = re.compile(r"[12]\d{3}(?![\w.,]?\d)")
#: v2 and v3.14.2, but no engine: V8.
NAMED_VERSION = re.compile(r"(?<![\w./])v(\d{1,4}(?:\.\d{1,4}){0,3})(?![\w/]|[.,]\d)")
#: C#, the language and the note.
SHARP = re.compile(r"(?<!\w)([A-G])#(?!\w)")
VERSION = re.compile(r"(?<![\w.,])\d{1,4}(?:\.\d{1,4}){1,3}\.(?:\d{1,4}|x)(?!\w|[.,]\d)")
#: 2023/24, 2023-24
SEASON = re.compile(r"(?<![\w.,/–-])([12]\d{3})[/–-](\d\d)(?![\w/–-]|[.,]\d)")
MORE = re.compile(r"(?<=[\d%])\+(?=[\s.,;:)]|\Z)")
TIMES = re.compile(r"(?<![\w.,])(\d{1,4}(?:[.,]\d{1,2})?)[x×](?!\w)")
POWER = re.compile(r"(?<=[\w)])[²³](?!\w)")


def rules(language: SpokenLanguage) -> list[Rule]:
    """Return the rules of signs."""
    return [*_left_out(), *_abbreviations(language), *_said(language), *_numbers(language)]


def _left_out() -> list[Rule]:
    return [
        Rule(EMOJI, say_nothing),
        Rule(STYLED, lambda found, language: normalize("NFKC", found.group())),
        Rule(MARKED, say_nothing),
    ]


def _abbreviations(language: SpokenLanguage) -> list[Rule]:
    short = language.data["abbreviations"]
    counted, always, names = (one_of(list(short[name])) for name in ("before_numbers", "always", "before_names"))
    return [
        Rule(re.compile(rf"(?<![\w.])(?:{counted})[ \u00a0]?(?=\d)"), _say_counted),
        Rule(re.compile(rf"(?<![\w.])(?:{always})(?![\w.]\w|\w)"), _say_short),
        Rule(re.compile(rf"(?<=[^\W\d_] )(?:{one_of(list(short.get('after_names', ())))})(?![\w.])"), _say_street),
        Rule(re.compile(rf"(?<![\w.])(?:{names})[ \u00a0](?={CAPITAL})"), _say_title),
        Rule(
            re.compile(rf"(?<=[^\W\d_]{{3}})(?:{one_of(list(short.get('endings', ())))})(?!\w)"),
            lambda found, language: short["endings"][found.group()],
        ),
    ]


def _said(language: SpokenLanguage) -> list[Rule]:
    """Return the rules of signs that are said as words."""
    signs, at = language.data["signs"], language.data["addresses"]["@"]
    return [
        # 2 1/2, 2½
        Rule(
            re.compile(rf"(?<![\w.,/-])(?P<whole>\d{{1,3}})(?:[ \u00a0]|(?!\d))(?P<part>{FRACTION})(?![\w/])"),
            lambda found, language: f"{found['whole']} {signs['and']} {say_fraction(found['part'], language)}",
        ),
        Rule(re.compile(rf"(?<![\w/.,-]){FRACTION}(?P<noun>[ \u00a0][^\W\d_]+)?(?![\w/])"), _say_part),
        Rule(re.compile(rf"(?<![\w/])(?:{one_of(list(signs['whole']))})(?![\w/])"), _say_whole),
        Rule(ABOUT, lambda found, language: f"{signs['about']} "),
        Rule(NUMBER_SIGN, lambda found, language: f"{signs['number']} "),
        Rule(SHARP, lambda found, language: f"{found[1]} sharp"),
        Rule(HASHTAG, lambda found, language: "hashtag "),
        Rule(AMPERSAND, lambda found, language: f" {signs['and']} "),
        Rule(MENTION, lambda found, language: f"{at} "),
        Rule(WORDS, lambda found, language: " ".join(found.groups())),
    ]


def _numbers(language: SpokenLanguage) -> list[Rule]:
    """Return the rules of signs between numbers."""
    signs, compared = language.data["signs"], language.data["signs"]["before_numbers"]
    between = one_of(list(signs["between_numbers"]))
    made = [
        Rule(_range_of_names(language), _say_range_of_names),
        Rule(SEASON, _say_season),
        Rule(MORE, lambda found, language: f" {language.data['numbers']['plus']}"),
        Rule(TIMES, lambda found, language: f"{found[1]} {signs['times']}"),
        Rule(POWER, lambda found, language: f" {signs['powers'][found.group()]}"),
        Rule(RANGE, _say_range),
        Rule(re.compile(rf"(?<=[\d)])(?<!\b0)[ \u00a0]?({between})[ \u00a0]?(?=[\d(])"), _say_between),
        Rule(VERSION, lambda found, language: _dotted(found.group(), language)),
        Rule(NAMED_VERSION, lambda found, language: f"{signs['version']} {_dotted(found[1], language)}"),
        Rule(
            re.compile(rf"(?<![\w)\-=<>])(?<![\d)][ \u00a0])({one_of(list(compared))})[ \u00a0]?(?=\d)"),
            lambda found, language: f"{compared[found[1]]} ",
        ),
        Rule(_spaced_number(language), lambda found, language: re.sub(r"\D", "", found.group())),
    ]
    if years := language.data["numbers"].get("years"):
        pattern = re.compile(rf"(?<![\w.,/–-]){years}(?![\w%/–-]|[.,]\d)")
        made.append(Rule(pattern, lambda found, language: language.year(int(found.group()))))
    return made


def _say_counted(found: re.Match[str], language: SpokenLanguage) -> str | None:
    short, written = language.data["abbreviations"], found.group().strip()
    # Vitamin c. 12 pills.
    if written in short.get("before_years", ()) and not YEAR.match(found.string, found.end()):
        return None
    word = short["before_numbers"][written]
    return f"{word} "


def _say_short(found: re.Match[str], language: SpokenLanguage) -> str | None:
    written = found.group()
    said: str = language.data["abbreviations"]["always"][written]
    return said + (language.full_stop(found) if written in language.data["abbreviations"]["may_end"] else "")


def _say_street(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return such as Street behind a name: Main St. is long. Before another name it may be a saint."""
    before, behind = found.string[max(0, found.start() - 30) : found.start()], found.string[found.end() :]
    is_before_a_name = re.match(rf"\s+{CAPITAL}", behind)
    if not (BEHIND_A_NAME if is_before_a_name else A_NAME).search(before):
        return None
    said: str = language.data["abbreviations"]["after_names"][found.group()]
    return said + ("." if is_before_a_name or not behind.strip() else "")


def _say_title(found: re.Match[str], language: SpokenLanguage) -> str | None:
    # Main Dr. The next house: after a name it is a drive.
    if BEHIND_A_NAME.search(found.string[max(0, found.start() - 30) : found.start()]):
        return None
    return f"{language.data['abbreviations']['before_names'][found.group().strip()]} "


def _say_part(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return such as three quarters cup; tres cuartos de taza; media taza."""
    noun, signs, of = found["noun"] or "", language.data["signs"], language.data["money"]["of"]
    written = found.group().removesuffix(noun)
    said = say_fraction(written, language)
    if written in HALVES:
        gender = "feminine" if noun.endswith("a") else "masculine"
        return (signs.get("half", {}).get(gender, said) if noun else said) + noun
    has_article = noun.strip() in (of, signs["and"], language.data["numbers"]["to"])
    return f"{said} {of}{noun}" if noun and of and not has_article else said + noun


def _range_of_names(language: SpokenLanguage) -> re.Pattern[str]:
    """Return the pattern of Mon–Fri and Jan.–Mar."""
    kinds = "|".join(
        rf"(?:{one_of(list(names))})\.?[ ]?[–-][ ]?(?:{one_of(list(names))})\b\.?"
        for names in map(language.short_names, ("days", "months"))
    )
    return re.compile(rf"(?<![\w.–-])(?:{kinds})(?![\w–-])")


def _say_range_of_names(found: re.Match[str], language: SpokenLanguage) -> str | None:
    names = language.short_names("days") | language.short_names("months")
    first, last = (names[name.strip(" .")] for name in re.split("[–-]", found.group()))
    return f"{first} {language.data['numbers']['to']} {last}{language.full_stop(found)}"


def _say_season(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return 2023 to 24 for 2023–24, and 2023 24 for 2023/24; None if the years don't follow each other."""
    year, last = int(found[1]), int(found[2])
    if (year + 1) % 100 != last:
        return None
    to = " " if "/" in found.group() else f" {language.data['numbers']['to']} "
    return f"{language.year(year)}{to}{language.words(last)}"


def _say_whole(found: re.Match[str], language: SpokenLanguage) -> str | None:
    said: str = language.data["signs"]["whole"][found.group()]
    return said


def _say_range(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return 10 to 20 for 10–20. With a hyphen, both need about as many digits: 555-1234 is not a range."""
    least, dash, most = re.fullmatch(r"(\S+?)\s?([–—-])\s?(\S+)", found.group()).groups()  # type: ignore[union-attr]
    if dash == "-" and (
        len(most) - len(least) not in ((0, 1) if len(least) <= 2 else (0,)) or len(least) > 4 or " " in found.group()
    ):
        return None
    if float(least.replace(",", ".")) >= float(most.replace(",", ".")):
        return None
    return f"{least} {language.data['numbers']['to']} {most}"


def _say_between(found: re.Match[str], language: SpokenLanguage) -> str | None:
    return f" {language.data['signs']['between_numbers'][found.group(1)]} "


def _dotted(written: str, language: SpokenLanguage) -> str:
    numbers, addresses = language.data["numbers"], language.data["addresses"]
    return f" {numbers['point'] if numbers['decimal'] == '.' else addresses['.']} ".join(written.split("."))


def _spaced_number(language: SpokenLanguage) -> re.Pattern[str]:
    """Return the pattern of 1 500: with no-break spaces, or any where the language writes so."""
    space = r"[ \u00a0\u202f]" if language.data["numbers"].get("spaced") else r"[\u00a0\u202f’]"
    return re.compile(
        rf"(?<![\w.,/+-])(?<!\d[ \u00a0])[1-9]\d{{0,2}}(?:{space}\d{{3}}){{1,4}}(?!\w|[.,/-]\d|{space}?\d)"
    )
