"""Phone numbers: read digit by digit, in the groups that they are written in."""

import re

from capabilities.speech.normalization.language import SpokenLanguage
from capabilities.speech.normalization.rule import DIGITS, Rule

PHONE = re.compile(r"(?<![\w.,/+$€£-])(?:\+\s?|\()?\d(?:[ \u00a0.()/-]{0,2}\d){6,14}(?![\w/+]|[.,-]\d)")
#: Written like this it can be nothing else: by a plus sign, an area code in brackets, or a zero before it.
MARKED = re.compile(r"\+|0|\(\d{1,5}\)")
#: Groups of three digits might be one number.
THOUSANDS = re.compile(r"\d{1,3}(?:[ \u00a0.]\d{3})+")
#: Characters before a number in which it may be named: "tel.", "call".
NEAR = 25


def rules(language: SpokenLanguage) -> list[Rule]:
    """Return the rule of phone numbers."""
    return [Rule(PHONE, _say_phone, DIGITS)]


def _say_phone(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return digits in groups, for what is written like a phone number, or named one, and can be one."""
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
    """Tell whether a number is assigned in one of the language's regions; of one that is named, whether it could be."""
    # Imported when the first candidate is met: 0.08 s.
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
