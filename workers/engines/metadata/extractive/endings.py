"""Endings: what the form of a word tells of it, by language."""

import regex

#: Endings of words that are no name of anything, where the language has them.
ADVERBS = {
    "en": regex.compile(r"(?:[^f]ly|wards?|ever)$"),
    "es": regex.compile(r"mente$"),
    "pt": regex.compile(r"mente$"),
    "it": regex.compile(r"mente$"),
    "fr": regex.compile(r"(?:amment|emment|ément|ivement|ellement|ainement|ablement|quement|lement|tement)$"),
}
VERBS = {
    "en": regex.compile(r"(?:(?<=..)[^e]ed|n't|i[sz]ed|izes?|izing)$"),
    "es": regex.compile(r"(?:ando|iendo|amos|emos|imos|aron|ieron)$"),
    "pt": regex.compile(r"(?:ando|endo|indo|amos|emos|imos|aram|eram)$"),
    "it": regex.compile(r"(?:arlo|arla|ando|endo|iamo|ate|ete|iscono|(?:izz|ific|eggi)ano)$"),
    "fr": regex.compile(r"(?:ant|ez|ons|ent|aient)$"),
    "de": regex.compile(r"^zu.+en$"),
    "ar": regex.compile(r"^(?:ي\p{L}{3,}|تت\p{L}{2,}|س[يتن]\p{L}{3,})$"),
}
INFINITIVES = {
    "es": regex.compile(r"(?:ar|er|ir|(?<=\p{L}{3})[aei]r(?:te|se|nos|l[aeo]s?))$"),
    "pt": regex.compile(r"(?:ar|er|ir)$"),
    "it": regex.compile(r"(?:are|ere|ire|(?<=\p{L}{3})[aei]r(?:si|l[aeio]|ne))$"),
    "fr": regex.compile(r"(?:er|ir|oir|dre|ttre)$"),
    "ru": regex.compile(r"(?:ть|ться|ти)$"),
    "uk": regex.compile(r"(?:ти|тися)$"),
    "pl": regex.compile(r"ć$"),
    "tr": regex.compile(r"(?:m[ae]k|m[ae]n[ıi]n|m[ae]y[ıi])$"),
}
ADJECTIVES = {
    "en": regex.compile(r"(?:ful|ous|less|able|ible|est|ier|ish|ive|ical|ent|ant)$"),
    "es": regex.compile(r"(?:ísim[oa]s?|os[oa]s?|ables?|ibles?|[aá]nte?s?)$"),
    "it": regex.compile(r"(?:issim[oaie]|os[oaie]|abil[ei]|ibil[ei])$"),
    "pt": regex.compile(r"(?:íssim[oa]s?|os[oa]s?|áve(?:l|is)|íve(?:l|is))$"),
    "fr": regex.compile(r"(?:eux|euses?|ables?|ibles?|ives?|ifs?)$"),
    "uk": regex.compile(r"(?:ий|ій|ого|ої|ому|ими|их)$"),
    "ru": regex.compile(r"(?:ее|ый|ий|ая|ое|ые|ого|ых|ыми|ую)$"),
}
#: Of what was done to the noun before: *elecciones explicadas*.
PARTICIPLES = {
    "es": regex.compile(r"[ai]d[oa]s?$"),
    "pt": regex.compile(r"[ai]d[oa]s?$"),
    "it": regex.compile(r"[aiu]t[aeio]$"),
}
#: Before an infinitive as often as before a noun.
PREPOSITIONS = frozenset(
    (
        "de", "del", "al", "en", "con", "por", "para", "sin", "à", "au", "aux", "avec", "sans", "pour", "par", "du",
        "d", "di", "in", "per", "da", "com", "em", "sem", "ao", "zu", "of", "for", "with", "from", "on", "no",
        "senza", "su", "tra", "fra", "dopo", "entre", "sobre", "hasta", "desde", "até", "après", "sur", "nach", "ohne",
    )
)  # fmt: skip

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
