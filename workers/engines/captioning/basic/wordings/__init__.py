"""Wordings: how each language says what `basic` found; one module a language, and its line in WORDINGS.

Colours stand as nouns ("in white on dark blue"), so that no adjective has to agree with anything.
"""

from workers.engines.captioning.basic.wordings.de import GERMAN
from workers.engines.captioning.basic.wordings.en import ENGLISH
from workers.engines.captioning.basic.wordings.es import SPANISH
from workers.engines.captioning.basic.wordings.fr import FRENCH
from workers.engines.captioning.basic.wordings.it import ITALIAN
from workers.engines.captioning.basic.wordings.pt import PORTUGUESE
from workers.engines.captioning.basic.wordings.wording import Wording

WORDINGS: dict[str, Wording] = {
    "en": ENGLISH,
    "es": SPANISH,
    "fr": FRENCH,
    "de": GERMAN,
    "pt": PORTUGUESE,
    "it": ITALIAN,
}
