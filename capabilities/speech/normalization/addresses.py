"""Addresses: e-mail and web addresses, read sign by sign, and phone numbers, read digit by digit."""

import re

from capabilities.speech.normalization.language import Rule, SpokenLanguage

#: Ends of host names recognised without www or https; others are too often a missing space.
TOP_DOMAINS = (
    "com|org|net|info|edu|gov|io|dev|app|blog|shop|news|tech|online|site|ai|co|eu|uk|us|ca|au|de|at|ch|fr|be|es|mx|ar|cl"
    "|pt|br|it|nl|pl|se|jp|tv|me"
)
#: Ends that are said as words; others of up to three letters are spelt.
SAID_DOMAINS = frozenset({"com", "org", "net", "edu", "gov", "dev", "app", "co"})
#: Longer addresses are cut to their host: nobody can write them down by ear.
LONGEST_SAID = 60
HOST = r"(?:[^\W_](?:[\w-]{0,62}\w)?\.){1,5}[A-Za-z]{2,12}"
PATH = r"(?:[/?#][^\s<>\"“”«»)\]]{0,2000})?"
WEB = re.compile(
    rf"(?<![\w@./-])(?:(?i:https?://|www\.){HOST}|(?:[A-Za-z0-9](?:[\w-]{{0,62}}\w)\.){{1,5}}(?:{TOP_DOMAINS}))"
    rf"(?:(?::\d{{2,5}})?{PATH})(?![\w@-])",
)
EMAIL = re.compile(rf"(?<![\w.+@-])[A-Za-z0-9][\w.+-]{{0,63}}@{HOST}(?![\w@])")
SCHEME = re.compile(r"https?://", re.IGNORECASE)
TRAILING = re.compile(r"[.,;:!?'’…*_/]+\Z")
PIECES = re.compile(r"[^\W_]+|.")

PHONE = re.compile(r"(?<![\w.,/+$€£-])(?:\+\s?|\()?\d(?:[ \u00a0.()/-]{0,2}\d){6,14}(?![\w/+]|[.,-]\d)")
#: Unmistakable: a plus sign, an area code in brackets, or a zero at the start.
MARKED = re.compile(r"\+|0|\(\d{1,5}\)")
#: Groups of three digits might be one number.
THOUSANDS = re.compile(r"\d{1,3}(?:[ \u00a0.]\d{3})+")
#: Characters before a number that may name it: "tel.", "call".
NEAR = 25


def rules(language: SpokenLanguage) -> list[Rule]:
    """Return the rules of addresses; e-mail first, since it ends with a host name."""
    return [
        Rule(EMAIL, _say_email),
        Rule(WEB, _say_web),
    ]


def phone_rules(language: SpokenLanguage) -> list[Rule]:
    """Return the rule of phone numbers."""
    return [Rule(PHONE, _say_phone)]


def _say_email(found: re.Match[str], language: SpokenLanguage) -> str | None:
    name, _, host = found.group().partition("@")
    words = language.data["addresses"]
    return f"{_spelt(name, words)} {words['@']} {_say_host(host, words)}"


def _say_web(found: re.Match[str], language: SpokenLanguage) -> str | None:
    words = language.data["addresses"]
    written = found.group()
    ending = TRAILING.search(written)
    kept = ending.group().replace("/", "") if ending else ""
    address = SCHEME.sub("", written[: ending.start()] if ending else written)
    host, slash, path = re.match(r"([^/?#]*)([/?#]?)(.*)", address, re.DOTALL).groups()  # type: ignore[union-attr]
    host = host.partition(":")[0]
    said = _say_host(host, words)
    if slash and len(address) <= LONGEST_SAID and not re.search(r"[?&=%#]", slash + path):
        said = f"{said} {words['/']} {_spelt(path, words)}"
    return said + kept


def _say_host(host: str, words: dict[str, str]) -> str:
    *names, top = host.split(".")
    said = [_spelt(name, words) if name.lower() != "www" else "www" for name in names]
    last = top.lower() if top.lower() in SAID_DOMAINS or len(top) > 3 else " ".join(top.lower())
    return f" {words['.']} ".join([*said, last])


def _spelt(written: str, words: dict[str, str]) -> str:
    """Return an address with its signs as words; a sign without a word is a space."""
    return " ".join(words.get(piece, piece) for piece in PIECES.findall(written) if piece in words or piece.isalnum())


def _say_phone(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return the digits in groups, if it is written or named like a phone number and can be one."""
    written, words = found.group(), language.data["addresses"]
    near = found.string[max(0, found.start() - NEAR) : found.start()]
    if re.search(r"\bISBN\b", near):
        return None
    is_named = re.search(rf"(?i)\b(?:{'|'.join(words['phone_words'])})", near) is not None
    has_groups = len(re.findall(r"\d+", written)) >= 3 and "/" not in written and not THOUSANDS.fullmatch(written)
    if not is_named and not has_groups and not MARKED.match(written):
        return None
    if not _is_phone_number(written, language, is_named=is_named):
        return None
    plus = f"{words['+']} " if written.startswith("+") else ""
    return plus + language.digits(written)


def _is_phone_number(written: str, language: SpokenLanguage, *, is_named: bool) -> bool:
    """Return whether a number is assigned in one of the language's regions or, if it is named, could be."""
    # Imported for the first candidate: 0.08 s.
    import phonenumbers

    check = phonenumbers.is_possible_number if is_named else phonenumbers.is_valid_number
    regions = [language.region] if language.region else language.data["addresses"]["phone_regions"]
    for region in regions:
        try:
            number = phonenumbers.parse(written, region)
        except phonenumbers.NumberParseException:
            return False
        if check(number):
            return True
        reason = phonenumbers.is_possible_number_with_reason(number)
        if is_named and reason == phonenumbers.ValidationResult.IS_POSSIBLE_LOCAL_ONLY:
            return True
    return False
