"""Given: the URLs of a request as they are checked. A bare domain gets a scheme, an invalid URL a fault."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Annotated, NamedTuple

from publicsuffixlist import PublicSuffixList
from pydantic import AfterValidator, Field
from pydantic.config import JsonDict

from pipeline.downloads.urls import MAX_CHARACTERS, fault_of, host_key

#: A host with a dot in it, and the rest of the URL. A scheme or a user has no such beginning.
BARE = re.compile(r"(?P<host>[^\s:/?#@\\]+\.[^\s:/?#@\\.]+)\.?(?::[0-9]{1,5})?(?:[/?#].*)?", re.DOTALL)
#: Characters that a row's JSON can't keep, or a terminal should not be sent.
UNSTORABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Given(NamedTuple):
    """A URL as it is checked. `sent` is the text that it was made of, if that differs; `fault` is why it is invalid."""

    url: str
    sent: str | None = None
    fault: str | None = None


def read_urls(sent: Iterable[str]) -> Iterator[Given]:
    seen: set[str] = set()
    for text in sent:
        given = read_url(text)
        if given.url not in seen:
            seen.add(given.url)
            yield given


def read_url(text: str) -> Given:
    """Return a URL as it is checked: `example.org/a` becomes `https://example.org/a`."""
    url = completed(text)
    fault = fault_of(url)
    if fault is not None:
        storable = UNSTORABLE.sub(lambda found: ascii(found[0])[1:-1], text[:MAX_CHARACTERS])
        return Given(storable, fault=fault)
    return Given(url, None if url == text else text)


def completed(text: str) -> str:
    """Return a URL with a scheme if it is a bare domain that can exist (`index.html` can't); others stay."""
    if text.startswith(("http://", "https://")):
        return text
    bare = text.strip(" \t\r\n")
    found = BARE.fullmatch(bare)
    host = host_key(found["host"]) if found else None
    return text if host is None or _suffixes().publicsuffix(host) is None else f"https://{bare}"


SitemapUrl = Annotated[str, Field(min_length=1), AfterValidator(completed)]

#: JSON Schemas of requests without URLs, and with two kinds of them. A field that is null counts as not sent.
NEITHER: JsonDict = {"properties": {"urls": {"type": "null"}, "sitemap_url": {"type": "null"}}}
BOTH: JsonDict = {
    "properties": {"urls": {"type": "array"}, "sitemap_url": {"type": "string"}},
    "required": ["urls", "sitemap_url"],
}


@cache
def _suffixes() -> PublicSuffixList:
    # Registered suffixes alone: else a file's ending would be one.
    return PublicSuffixList(accept_unknown=False)
