"""Addresses: of e-mail and of the web, read sign by sign."""

import re

from capabilities.speech.normalization.language import SpokenLanguage
from capabilities.speech.normalization.rule import Rule

#: Ends of host names that are recognised without www or https; others are too often a missing space.
TOP_DOMAINS = (
    "com|org|net|info|edu|gov|io|dev|app|blog|shop|news|tech|online|site|ai|co|eu|uk|us|ca|au|de|at|ch|fr|be|es|mx|ar|cl"
    "|pt|br|it|nl|pl|se|jp|tv|me"
)
#: Those that are said as words; the others of up to three letters are spelt.
SAID_DOMAINS = frozenset({"com", "org", "net", "edu", "gov", "dev", "app", "co"})

#: Longer addresses are cut to their host: nobody can write down what they hear.
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

#: A link of Markdown, without its words.
LINK = re.compile(r"!?\[(?=[^\]\[\n]{1,300}\]\()|(?<=[^\s\[])\]\((?:https?://|mailto:|/|#|\./)[^()\s]{0,500}\)")


def rules(language: SpokenLanguage) -> list[Rule]:
    """Return the rules of this module; e-mail addresses first, as they end with a host name."""
    return [
        Rule(LINK, lambda found, language: "", frozenset("[")),
        Rule(EMAIL, _say_email, frozenset("@")),
        Rule(WEB, _say_web),
    ]


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
    """Return an address with its signs as words; signs without one part words."""
    return " ".join(words.get(piece, piece) for piece in PIECES.findall(written) if piece in words or piece.isalnum())
