"""Signs: abbreviations, and signs that are said as words or left out."""

import re
from unicodedata import normalize

from capabilities.speech.normalization.amounts import FRACTION
from capabilities.speech.normalization.language import DIGITS, Rule, SpokenLanguage, one_of

EMOJI = re.compile(
    r"[ \u00a0]?[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2190-\u21ff\ufe0f\u200d\U000e0020-\U000e007f]+"
)
#: Markdown at the start of a line and around words.
LINE_MARK = re.compile(r"(?m)^[ \t]{0,8}(?:#{1,6}|[*•>])[ \t]+")
#: A line between two scenes: ***, * * *, ---.
SCENE_BREAK = re.compile(r"(?m)^[ \t]{0,8}([*_-])(?:[ \t]?\1){2,80}[ \t\r]{0,8}$")
EMPHASIS = re.compile(
    r"(?<![\w*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])|(?<!\w)_{1,2}(?=[^\W_])|(?<=[^\W_])_{1,2}(?!\w)|`{1,3}"
)
#: Mathematical letters, which people use for bold text, and full-width ones.
STYLED = re.compile(r"[\U0001d400-\U0001d7ff\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]+")
MARKED = re.compile(r"[®™©]")

#: The end of a text: a name, and a name that is not the first word.
A_NAME = re.compile(r"\b[^\W\d_a-zà-ÿ]\w{2,20} \Z")
BEHIND_A_NAME = re.compile(r"[\w.]\s+[^\W\d_a-zà-ÿ]\w{2,20} \Z")

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
VERSION = re.compile(r"(?<![\w.,])\d{1,4}(?:\.\d{1,4}){2,3}(?!\w|[.,]\d)")


def rules(language: SpokenLanguage) -> list[Rule]:
    """Return the rules of signs."""
    return [*_left_out(), *_abbreviations(language), *_said(language), *_numbers(language)]


def _left_out() -> list[Rule]:
    return [
        Rule(SCENE_BREAK, _say_nothing, frozenset("*_-")),
        Rule(LINE_MARK, _say_nothing, frozenset("#*•>")),
        Rule(EMPHASIS, _say_nothing, frozenset("*_`")),
        Rule(EMOJI, _say_nothing),
        Rule(STYLED, lambda found, language: normalize("NFKC", found.group())),
        Rule(MARKED, _say_nothing, frozenset("®™©")),
    ]


def _abbreviations(language: SpokenLanguage) -> list[Rule]:
    short = language.data["abbreviations"]
    counted, always, names = (one_of(list(short[name])) for name in ("before_numbers", "always", "before_names"))
    return [
        Rule(re.compile(rf"(?<![\w.])(?:{counted})[ \u00a0]?(?=\d)"), _say_counted, DIGITS),
        Rule(re.compile(rf"(?<![\w.])(?:{always})(?![\w.]\w|\w)"), _say_short),
        Rule(re.compile(rf"(?<=[^\W\d_] )(?:{one_of(list(short.get('after_names', ())))})(?![\w.])"), _say_street),
        Rule(re.compile(rf"(?<![\w.])(?:{names})[ \u00a0](?=[^\W\d_a-zà-ÿ])"), _say_title),
    ]


def _said(language: SpokenLanguage) -> list[Rule]:
    """Return the rules of signs that are said as words."""
    signs, at = language.data["signs"], language.data["addresses"]["@"]
    fractions = one_of([written for written in signs["whole"] if FRACTION.fullmatch(written)])
    return [
        # 2 1/2, 2½
        Rule(
            re.compile(rf"(?<![\w.,/-])(?P<whole>\d{{1,3}})(?:[ \u00a0]|(?!\d))(?P<part>{fractions})(?![\w/])"),
            lambda found, language: f"{found['whole']} {signs['and']} {signs['whole'][found['part']]}",
            frozenset("/½¼¾"),
        ),
        Rule(re.compile(rf"(?<![\w/])(?:{one_of(list(signs['whole']))})(?![\w/])"), _say_whole, frozenset("/½¼¾")),
        Rule(ABOUT, lambda found, language: f"{signs['about']} ", frozenset("~≈")),
        Rule(NUMBER_SIGN, lambda found, language: f"{signs['number']} ", frozenset("#")),
        Rule(SHARP, lambda found, language: f"{found[1]} sharp", frozenset("#")),
        Rule(HASHTAG, lambda found, language: "hashtag ", frozenset("#")),
        Rule(AMPERSAND, lambda found, language: f" {signs['and']} ", frozenset("&")),
        Rule(MENTION, lambda found, language: f"{at} ", frozenset("@")),
        Rule(WORDS, lambda found, language: " ".join(found.groups()), frozenset("/")),
    ]


def _numbers(language: SpokenLanguage) -> list[Rule]:
    """Return the rules of signs between numbers."""
    signs, compared = language.data["signs"], language.data["signs"]["before_numbers"]
    between = one_of(list(signs["between_numbers"]))
    made = [
        Rule(RANGE, _say_range, DIGITS),
        Rule(re.compile(rf"(?<=[\d)])(?<!\b0)[ \u00a0]?({between})[ \u00a0]?(?=[\d(])"), _say_between, DIGITS),
        Rule(VERSION, lambda found, language: _dotted(found.group(), language), DIGITS),
        Rule(
            NAMED_VERSION, lambda found, language: f"{signs['version']} {_dotted(found[1], language)}", frozenset("v")
        ),
        Rule(
            re.compile(rf"(?<![\w)\-=<>])(?<![\d)][ \u00a0])({one_of(list(compared))})[ \u00a0]?(?=\d)"),
            lambda found, language: f"{compared[found[1]]} ",
            frozenset(compared),
        ),
        Rule(_spaced_number(language), lambda found, language: re.sub(r"\s", "", found.group()), DIGITS),
    ]
    if years := language.data["numbers"].get("years"):
        pattern = re.compile(rf"(?<![\w.,/–-]){years}(?![\w%/–-]|[.,]\d)")
        made.append(Rule(pattern, lambda found, language: language.year(int(found.group())), DIGITS))
    return made


def _say_nothing(found: re.Match[str], language: SpokenLanguage) -> str | None:
    return ""


def _say_counted(found: re.Match[str], language: SpokenLanguage) -> str | None:
    short, written = language.data["abbreviations"], found.group().strip()
    # Vitamin c. 12 pills.
    if written in short.get("before_years", ()) and not YEAR.match(found.string, found.end()):
        return None
    word = short["before_numbers"][written]
    return f"{word} "


def _say_short(found: re.Match[str], language: SpokenLanguage) -> str | None:
    written = found.group()
    # The full stop may end the sentence too.
    ends = written.endswith(".") and re.match(r"\s*\Z|\s+[^\W\d_a-zà-ÿ]", found.string[found.end() :])
    said: str = language.data["abbreviations"]["always"][written]
    return said + ("." if ends and written in language.data["abbreviations"]["may_end"] else "")


def _say_street(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return such as Street behind a name: Main St. is long. Before another name it may be a saint."""
    before, behind = found.string[max(0, found.start() - 30) : found.start()], found.string[found.end() :]
    is_before_a_name = re.match(r"\s+[^\W\d_a-zà-ÿ]", behind)
    if not (BEHIND_A_NAME if is_before_a_name else A_NAME).search(before):
        return None
    said: str = language.data["abbreviations"]["after_names"][found.group()]
    return said + ("." if is_before_a_name or not behind.strip() else "")


def _say_title(found: re.Match[str], language: SpokenLanguage) -> str | None:
    # Main Dr. The next house: after a name it is a drive.
    if BEHIND_A_NAME.search(found.string[max(0, found.start() - 30) : found.start()]):
        return None
    return f"{language.data['abbreviations']['before_names'][found.group().strip()]} "


def _say_whole(found: re.Match[str], language: SpokenLanguage) -> str | None:
    said: str = language.data["signs"]["whole"][found.group()]
    return said


def _say_range(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return 10 to 20 for 10–20. With a hyphen, both need about as many digits: 555-1234 is no range."""
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
    space = r"[ \u00a0\u202f]" if language.data["numbers"].get("spaced") else r"[\u00a0\u202f]"
    return re.compile(rf"(?<![\w.,/+-])(?<!\d[ \u00a0])[1-9]\d{{0,2}}{space}\d{{3}}(?!\w|[.,/-]\d|{space}?\d)")
