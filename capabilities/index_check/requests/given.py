"""Given: what is made of the URLs of a request: bare domains get a scheme, and those that can't be checked a fault."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Annotated, NamedTuple

from publicsuffixlist import PublicSuffixList
from pydantic import AfterValidator, Field
from pydantic.config import JsonDict

from pipeline.downloads.urls import MAX_CHARACTERS, fault_of, host_key

#: A host with a dot in it, and what follows it; what names a scheme or a user has no such beginning.
BARE = re.compile(r"(?P<host>[^\s:/?#@\\]+\.[^\s:/?#@\\.]+)\.?(?::[0-9]{1,5})?(?:[/?#].*)?", re.DOTALL)
#: What a row's JSON can't keep, or a terminal should not be sent.
UNSTORABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Given(NamedTuple):
    """A URL as it is checked; `sent` is what it was made of, where that is not the same; `fault` why it can't be."""

    url: str
    sent: str | None = None
    fault: str | None = None


def read_urls(sent: Iterable[str]) -> Iterator[Given]:
    """Yield what is made of some URLs, in order, the same one only once."""
    seen: set[str] = set()
    for text in sent:
        given = read_url(text)
        if given.url not in seen:
            seen.add(given.url)
            yield given


def read_url(text: str) -> Given:
    """Return what is made of a URL: `example.org/a` is `https://example.org/a`."""
    url = completed(text)
    fault = fault_of(url)
    if fault is not None:
        return Given(_storable(text), fault=fault)
    return Given(url, None if url == text else text)


def completed(text: str) -> str:
    """Return a URL with a scheme, where it is a bare domain; others stay as they are."""
    return text if text.startswith(("http://", "https://")) else _completed(text)


#: The URL of a sitemap in a request.
SitemapUrl = Annotated[str, Field(min_length=1), AfterValidator(completed)]

#: Requests without URLs, and with two kinds of them, as JSON Schemas; a field that is null counts as not sent.
NEITHER: JsonDict = {"properties": {"urls": {"type": "null"}, "sitemap_url": {"type": "null"}}}
BOTH: JsonDict = {
    "properties": {"urls": {"type": "array"}, "sitemap_url": {"type": "string"}},
    "required": ["urls", "sitemap_url"],
}


def _completed(text: str) -> str:
    """Return a URL with a scheme, if it begins with a domain that there can be: `index.html` is none."""
    bare = text.strip(" \t\r\n")
    found = BARE.fullmatch(bare)
    if found is None:
        return text
    host = host_key(found["host"])
    if host is None or _suffixes().publicsuffix(host) is None:
        return text
    return f"https://{bare}"


def _storable(text: str) -> str:
    """Return a text as a row can keep and show it."""
    return UNSTORABLE.sub(lambda found: ascii(found[0])[1:-1], text[:MAX_CHARACTERS])


@cache
def _suffixes() -> PublicSuffixList:
    # Not those that nobody has registered: a file's ending would be one.
    return PublicSuffixList(accept_unknown=False)
