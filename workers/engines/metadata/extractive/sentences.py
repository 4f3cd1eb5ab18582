"""Sentences: a text's sentences, and how well each stands alone."""

from dataclasses import dataclass

import regex

from workers.engines.metadata.extractive.words import ADDRESSES, DISGUISED
from workers.engines.metadata.languages import WORD, Language

#: Sentences that are compared with each other; the rest of a long post is told by its first ones.
MOST_SENTENCES = 160

#: Characters of a sentence that can stand in an excerpt; a character of Chinese says more.
SHORTEST, SHORTEST_UNSPACED = 20, 12

_ABBREVIATED = regex.compile(
    r"(?:^|[\s(])(?:\p{L}|[A-Z]\.[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|vs|etc|approx|No|Nr|Sr|Sra|Dra|Jr|bzw|usw|ca|ggf|evtl|inkl"
    r"|z\.\s?B|d\.\s?h|u\.\s?a|e\.g|i\.e|p\.\s?ex|ej|pág|págs|cf|env|art|ecc|es|sig|ing|avv|dott|S\.A|a\.m|p\.m|Inc|Ltd"
    r"|Co|vol|fig)\.$"
)
_SENTENCE_END = regex.compile(
    r"(?<=[.!?…؟।։])[\"'”’»)\]]*\s+(?=[\"'“‘«„»¿¡(\[]*[\p{Lu}\p{Lt}\p{Lo}\p{N}])|(?<=[。！？])(?![」』”）。！？])"
)
WHOLE = regex.compile(r"[.!?…؟।。！？][\"'”’»」』)]*$")
_LETTERS = regex.compile(r"[\p{L}\p{M}]")
_QUESTION = regex.compile(r"[?？؟][\"'”’»」』)]*$")

#: What says nothing of a post, in several languages: its web site, its author, its shop.
_BOILERPLATE = regex.compile(
    # How posts greet, thank, and come to their subject.
    r"^(?:hi|hey|hello|welcome|thanks|thank you|hola|bienvenid[oa]s?|gracias|bonjour|salut|bienvenue|merci|hallo"
    r"|willkommen|danke|vielen dank|olá|oi|bem-vind[oa]s?|obrigad[oa]|ciao|benvenut[oi]|grazie)\b"
    r"|^today,? (?:i|we)(?:'m|'ll|'re going| am| will| want| would)\b|^in (?:this|today's) (?:post|article|video)"
    r"|^hoy,? (?:os|les|te|vamos|voy|quiero)\b|^en este (?:post|artículo)|^dans cet article"
    r"|^aujourd'hui,? (?:je v|on va|nous allons)|^heute (?:möchte|zeige|will|geht|erzähle)\b"
    r"|^in diesem (?:beitrag|artikel)|^hoje,? (?:eu )?(?:vou|vamos|quero)\b|^neste (?:post|artigo)"
    r"|^oggi (?:vi|ti|voglio|parliamo)\b|^in questo (?:post|articolo)"
    r"|if you(?:'re| are) new here|my name is|^[A-Z]:\s|(?<!\w)@\w"
    r"|click|(?:use|accept|our) cookies|cookie policy|subscrib|newsletter|sign up|log in|read more"
    r"|share this|follow us|all rights reserved|affiliate|sponsor|comment below|in the comments|let me know"
    r"|privacy policy|photo by|written by|posted (?:on|by)|last updated|©|copyright|haz clic|suscr[ií]b"
    r"|boletín|síguenos|comentarios|derechos reservados|publicado (?:el|por|em)|política de privacidad"
    r"|clique[zr]? (?:ici|aqui)|abonne[zr]|inscri(?:vez|re)|suivez|commentaires|droits réservés|publié le"
    r"|écrit par|confidentialité|klick|abonnier|melde dich|folge uns|kommentar|alle rechte"
    r"|veröffentlicht am|geschrieben von|datenschutz|assine|inscreva|siga-nos|comentários"
    r"|direitos reservados|escrito por|iscriviti|seguici|commenti|diritti riservati|clicca|scritto da"
    r"|pubblicato il|クリック|購読|フォロー|コメント|登録|点击|订阅|关注我|评论|转发|版权",
    regex.IGNORECASE,
)

#: Orders to a language model, which whoever reads the text is none.
_ORDERS = (
    r"(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,4}(?:instruction|prompt)"
    r"|(?:system|developer)\s+prompt|you are (?:now )?(?:a|an) (?:ai|assistant|language model)|as an ai\b"
    r"|(?:ignora|olvida|ignorez|oublie[zr]?|ignorier\w*|vergiss|ignore|esqueça|dimentica)\s+(?:\w+\s+){0,4}"
    r"(?:instruc|instruk|istruz|anweisung)"
)
ORDERS = regex.compile(_ORDERS, regex.IGNORECASE)

#: Those, what else sounds like one, and markup: no summary says them.
INSTRUCTIONS = regex.compile(
    rf"{_ORDERS}|(?:ignore|disregard|forget|override)\s+(?:\w+\s+){{0,4}}(?:rule|previous|above)"
    r"|</?\w+>|[{}<>\[\]|\\]",
    regex.IGNORECASE,
)

#: Characters of a paragraph that is left out for an order in it; of a longer one only the sentence is.
LONGEST_ORDER = 600


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, where it stands in its post, and whether it opens a paragraph."""

    text: str
    place: int
    opens: bool


def sentences_of(text: str) -> list[Sentence]:
    """Return the sentences of a text whose paragraphs are lines."""
    found: list[Sentence] = []
    for line in text.split("\n"):
        start = 0
        opens = True
        for end in _SENTENCE_END.finditer(line):
            if _ABBREVIATED.search(line, max(start, end.start() - 12), end.start()):
                continue
            found.append(Sentence(line[start : end.end()].strip(), len(found), opens))
            start, opens = end.end(), False
        if rest := line[start:].strip():
            found.append(Sentence(rest, len(found), opens))
        if len(found) >= MOST_SENTENCES:
            break
    return found[:MOST_SENTENCES]


def without_orders(text: str) -> str:
    """Return a text without its short paragraphs that give orders to a language model: all of one is the same order."""
    return "\n".join(line for line in text.split("\n") if len(line) > LONGEST_ORDER or ORDERS.search(line) is None)


def is_usable(sentence: Sentence, title: str, language: Language) -> bool:
    """Return whether a sentence is prose from its start to its end, and not the title again."""
    text = sentence.text
    least = SHORTEST_UNSPACED if language.code in ("zh", "ja", "ko") else SHORTEST
    return (
        len(text) >= least
        and is_prose(text)
        and WHOLE.search(text) is not None
        and not text[0].islower()
        and not is_odd(text)
        and _is_balanced(text)
        and text.rstrip(".!?").casefold() != title.rstrip(".!?").casefold()
    )


def is_odd(text: str) -> bool:
    """Return whether a text has an address, in disguise or not, or orders to whoever reads it."""
    return any(pattern.search(text) for pattern in (ADDRESSES, DISGUISED, INSTRUCTIONS))


def is_prose(text: str) -> bool:
    """Return whether a text is letters for the most part; Hindi and Thai write their vowels as marks."""
    return len(_LETTERS.findall(text)) > len(text) * 0.6


def _is_balanced(text: str) -> bool:
    """Return whether no quotation or bracket is cut in two."""
    # „So“ and “so” end and begin with the same sign.
    quoted = "„" in text or text.count("“") == text.count("”")
    pairs = (("(", ")"), ("«", "»"), ("「", "」"), ("『", "』"), ("（", "）"))
    return quoted and text.count('"') % 2 == 0 and all(text.count(a) == text.count(b) for a, b in pairs)


def _says_nothing(text: str, title: str) -> bool:
    """Return whether a sentence is of those that say nothing of any post; a post on newsletters may speak of them."""
    return _BOILERPLATE.search(text.replace("’", "'")) is not None and _BOILERPLATE.search(title) is None


def manners(sentence: Sentence, title: str, language: Language) -> float:
    """Return how well a sentence stands alone, from 0 to 1."""
    text = sentence.text
    worth = 1.0
    if _says_nothing(text, title):
        worth *= 0.15
    if _QUESTION.search(text):
        worth *= 0.35
    if text.endswith("!"):
        worth *= 0.8
    if text[0] in "\"“«„'‘「":
        worth *= 0.6
    if ":" in text[-3:] or "…" in text or "..." in text:
        worth *= 0.5
    if len(text) < 35 and language.code not in ("zh", "ja", "ko"):
        worth *= 0.7
    return worth


def dangles(text: str, language: Language) -> bool:
    """Return whether a sentence starts with a word that leans on the sentence before."""
    first = WORD.search(text)
    if language.code == "ja":
        return text.startswith(
            (
                "しかし",
                "また",
                "そして",
                "それ",
                "これ",
                "その",
                "この",
                "だから",
                "つまり",
                "ただし",
                "さらに",
                "でも",
                "そこで",
                "一つ目",
                "二つ目",
                "三つ目",
                "次に",
                "最後に",
            )
        )
    if language.code == "zh":
        return text.startswith(
            ("但", "而且", "因此", "所以", "这", "那", "它", "此外", "然后", "不过", "另外", "他", "她", "其")
        )
    if first is None:
        return True
    word = first.group().lower()
    if word in language.determiners and (second := WORD.search(text, first.end())) is not None:
        word = second.group().lower() if word not in language.dangling else word
    return word in language.dangling or word.partition("'")[0] in language.dangling
