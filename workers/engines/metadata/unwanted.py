"""Unwanted: addresses, and orders to whoever reads a text, which no excerpt and no tag may repeat."""

import regex

_HOST = r"(?<![\w.-])(?:[\w-]{1,63}\.){1,6}"

#: Addresses, which are no words; bounded, or a long text without spaces takes time by the square of its length.
ADDRESSES = regex.compile(
    # With a scheme, or something that a browser would take for one.
    r"(?<![a-z0-9+.-])(?:[a-z][a-z0-9+.-]{1,15}://|(?:javascript|vbscript|data|mailto|tel|file):(?=\S)|www\.)\S*"
    r"|(?<![\w.%+-])[\w.%+-]{1,64}@[\w-]{1,63}\.\w[\w.-]{0,80}"
    # A host with a path, whatever it ends in; and one without that ends in what only hosts end in. What sentences and
    # names end in as well (`water.It`, ASP.NET) is one in lower case alone.
    rf"|{_HOST}(?:[a-z]{{2,24}}(?::[0-9]{{1,5}})?/\S*|(?:com|org|xyz|info|biz|shop|app|top|online|site|club|icu|ru|cn|br|uk)\b"
    rf"|(?-i:net|io|ai|co|de|fr|es|it|eu|us|nl|pl|jp|kr|in|me|tv|gl|ly|link|live|click|dev|store|blog|news|page|pro|world|life"
    rf"|today|space|website|tech|example|test|onion)\b)",
    regex.IGNORECASE,
)

#: Addresses in disguise, which a reader would put together: `example(dot)com`, `example . com`, `hxxp`; no dotcom.
DISGUISED = regex.compile(
    r"[\[({]\s?(?:dot|at|\.|@)\s?[\])}]|\bdot\s(?:com|net|org|io|ru|cn|info|xyz|co)\b|\bhxxps?\b"
    r"|\w\s\.\s?(?:com|net|org|io|ru|cn|info|xyz)\b",
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


def is_unwanted(text: str) -> bool:
    """Return whether a text has an address, in disguise or not, or orders to whoever reads it."""
    return any(pattern.search(text) for pattern in (ADDRESSES, DISGUISED, INSTRUCTIONS))
