"""The limits that every metadata answer keeps."""

import regex

from capabilities.blog.engines.metadata import Metadata
from capabilities.blog.engines.metadata.extractive.extractive import Extractive


def in_limits(made: Metadata, engine: Extractive) -> None:
    assert 20 <= len(made.excerpt) <= 200
    assert not regex.search(r"[\n\r\v\f\x85\u2028\u2029]|[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\u200b]", made.excerpt)
    assert made.excerpt == made.excerpt.strip()
    assert made.category in engine.taxonomy.names
    assert 5 <= len(made.tags) <= 8
    assert len(set(made.tags)) == len(made.tags)
    for tag in made.tags:
        assert 2 <= len(tag) <= 40
        assert tag == tag.lower() == tag.strip()
        assert not regex.search(r"[\p{Cc}\p{Cs}\n<>]|https?:", tag)
