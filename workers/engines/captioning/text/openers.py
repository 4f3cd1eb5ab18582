"""Openers: "an image of", "la photo montre", and the like, with which no alt text begins."""

import re

_ENGLISH_ADJECTIVES = (
    r"(?:(?:black[ -]and[ -]white|colou?r|stock|digital|beautiful|detailed|blurry|blurred|low[ -]angle|high[ -]angle"
    r"|aerial|full|overhead|cropped|single|main|given|attached|provided|featured) )*"
)
_ENGLISH_NOUN = (
    r"(?:close[ -]?up )?(?:images?|pictures?|photos?|photographs?|pics?|snapshots?|close[ -]?ups?(?: view| shot)?)"
)
_ENGLISH_VERB = (
    r"(?:of|that|which|showing|shows?|depicting|depicts?|featuring|features?|displaying|displays?|capturing"
    r"|captures?|contains?|containing|presents?|portrays?|portraying|includes?|we can see|we see|there (?:is|are)"
    r"|you can see)"
)

#: By language: what is cut from the start of a sentence. A group "joint" is what the noun behind needs back.
_ROMANCE_ADJECTIVES = (
    r"(?: (?:en|a|à|em|in) (?:blanco y negro|color|noir et blanc|couleurs?|preto e branco|cores|bianco e nero|colori))?"
)
OPENERS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # English
        rf"(?:(?:this|it|here) (?:is|are) |here's )?(?:an? |the |this |these )?{_ENGLISH_ADJECTIVES}"
        rf"{_ENGLISH_NOUN},? {_ENGLISH_VERB}(?: (?:shows?|depicts?|is of))?",
        rf"in (?:the|this) {_ENGLISH_NOUN},? (?:we can see|we see|you can see|there (?:is|are))",
        r"there (?:is|are)(?= (?:an?|the|two|three|four|five|six|many|several|some|people)\b)",
        r"close[ -]?ups? (?:of|on)",
        # Spanish
        r"(?:(?:esta|ésta|esto) es )?(?:una |la |esta )?(?:imagen|foto|fotografía|captura fotográfica|primer plano)"
        + _ROMANCE_ADJECTIVES
        + r" (?:(?:que )?(?:muestra|presenta|representa|contiene)|mostrando|con|donde se ve|en la que se ve"
        r"|(?P<es>del?))",
        r"un primer plano (?P<es2>del?)",
        r"en (?:la|esta) (?:imagen|foto|fotografía),? (?:se ven?|se puede ver|hay|aparecen?)",
        # French
        r"(?:(?:ceci|c'|c’)\s?est )?(?:une |la |cette |l'|l’)?(?:image|photo|photographie|gros plan|un gros plan)"
        + _ROMANCE_ADJECTIVES
        + r" (?:(?:qui )?(?:montre|présente|représente|contient)|montrant|représentant|avec|où l'on voit|sur (?=un)"
        r"|(?P<fr>du|des|de la|de l'|de l’|d'|d’|de))",
        r"un gros plan (?P<fr2>du|des|de la|de l'|de l’|d'|d’|de|sur)",
        r"(?:sur|dans) (?:l'|l’|la |cette )(?:image|photo),? (?:on voit|on peut voir|il y a|nous voyons)",
        # German
        r"(?:(?:dies|das|hier) ist )?(?:ein |eine |das |die |dieses |diese )?(?:schwarz-?wei(?:ß|ss)-?)?"
        r"(?:bild|foto|fotografie|aufnahme|abbildung|nahaufnahme),? (?P<de>von|vom|zeigt|zeigen|mit|auf dem)",
        r"(?:auf dem|auf diesem|in dem|im|in diesem) (?:bild|foto),? (?:ist|sind|sieht man|sehen wir|gibt es)",
        # Portuguese
        r"(?:(?:esta|isto) é )?(?:uma |a |esta )?(?:imagem|foto|fotografia|close-?up)"
        + _ROMANCE_ADJECTIVES
        + r" (?:(?:que )?(?:mostra|apresenta|representa|contém)|mostrando|com|(?P<pt>d[oae]s?))",
        r"um close(?:-up)? (?P<pt2>d[oae]s?)",
        r"(?:na|nesta|nessa) (?:imagem|foto),? (?:vemos|vê-se|pode-se ver|há|aparecem?)",
        # Italian
        r"(?:(?:questa|questo) è )?(?:un'|un’|una |la |l'|l’|questa |quest')?(?:immagine|foto|fotografia|primo piano)"
        + _ROMANCE_ADJECTIVES
        + r" (?:(?:che )?(?:mostra|presenta|raffigura|rappresenta|contiene)|con"
        r"|(?P<it>dello|della|dell'|dell’|degli|delle|del|dei|di))",
        r"un primo piano (?P<it2>dello|della|dell'|dell’|degli|delle|del|dei|di)",
        r"(?:nell'|nell’|in questa |nella )(?:immagine|foto),? (?:si vede|si vedono|possiamo vedere|c'è|ci sono)",
    )
]
#: "Imagen del perro" is "El perro": what is left of a preposition that has swallowed an article.
ARTICLES = {
    "es": {"del": "el "},
    "fr": {"du": "le ", "des": "des ", "de la": "la ", "de l'": "l'", "de l’": "l’", "sur": ""},
    "pt": {"do": "o ", "da": "a ", "dos": "os ", "das": "as "},
    "it": {
        "del": "il ",
        "dello": "lo ",
        "della": "la ",
        "dei": "i ",
        "degli": "gli ",
        "delle": "le ",
        "dell'": "l'",
        "dell’": "l’",
    },
}
#: After a German "zeigt" or "von" stands another case than at the start of a sentence.
GERMAN_CASES = {"einen": "ein", "einem": "ein", "einer": "eine", "den": "der", "eines": "ein", "einer ": "eine"}


def without_opener(sentence: str) -> str:
    """Return a sentence without the words that only say that there is a picture; "" when it has no others."""
    while (cut := _cut_once(sentence)) != sentence:
        sentence = cut
    return sentence


def _cut_once(sentence: str) -> str:
    for opener in OPENERS:
        found = opener.match(sentence)
        if found is None or not _at_word_end(sentence, found.end()):
            continue
        rest = sentence[found.end() :].lstrip(" ,:;-–—")
        for group, joint in found.groupdict().items():
            if joint is not None:
                rest = _rejoined(rest, group[:2], joint.lower())
        return rest
    return sentence


def _at_word_end(sentence: str, end: int) -> bool:
    return end == len(sentence) or not sentence[end].isalnum() or sentence[end - 1] in "'’ "


def _rejoined(rest: str, language: str, joint: str) -> str:
    if language != "de":
        return ARTICLES[language].get(joint, "") + rest
    first, space, others = rest.partition(" ")
    if first.lower() == "einen":
        # The accusative tells the gender: "einen kleinen Hund" was "ein kleiner Hund".
        others = re.sub(r"\A((?:[a-zäöüß]+en )*)", lambda found: re.sub(r"en\b", "er", found[1]), others)
    return GERMAN_CASES.get(first.lower(), first) + space + others
