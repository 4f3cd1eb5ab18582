"""Endings: what the form of a word tells of it, by language."""

import tomllib
from pathlib import Path

import regex

_KNOWN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

#: By language, where it has such endings.
ADVERBS, VERBS, INFINITIVES, ADJECTIVES, PARTICIPLES = (
    {code: regex.compile(pattern) for code, pattern in _KNOWN[name].items()}
    for name in ("adverbs", "verbs", "infinitives", "adjectives", "participles")
)

#: Words that stand before an infinitive as often as before a noun.
PREPOSITIONS = frozenset(_KNOWN["prepositions"].split())

ELISION = regex.compile(r"(?<= [dl]) ")

UNSPACED_LETTERS = regex.compile(r"[\p{Han}\p{Katakana}\p{Hiragana}]")

#: Numbers in Chinese and Japanese names: of a list, not of its subject.
COUNTED = regex.compile(
    r"^[一二三四五六七八九十百千数第\d]+(?:\p{Han}{0,2}|[\p{Katakana}ー]{1,6})$|[一二三四五六七八九十\d]+[時分秒年月日回]$"
    r"|^毎?[日週月年]?[一二三四五六七八九十百千万億\d]+円$"
)

KOREAN_PARTICLES = regex.compile(
    r"(?<=..)(?:에서|에게|으로|까지|부터|처럼|보다|로|에|와|과)?(?:은|는|이|가|을|를|의|도|만|나|이나|마다|라도)?$"
)
KOREAN_VERBS = regex.compile(
    r"(?:다|요|니다|하는|하고|하면|해서|하여|되는|된|할|한|있는|없는|^.는|는|울|지|게|고|며|면|려면|어|아|히|(?<=.)기)$"
)
ARABIC_ARTICLE = regex.compile(r"^(?:و?(?:ال|بال|لل|كال))(?=\p{L}{3})")
#: And, so, with, for, as: what Arabic writes to the beginning of a word.
ARABIC_PREFIXES = "وفبلك"
