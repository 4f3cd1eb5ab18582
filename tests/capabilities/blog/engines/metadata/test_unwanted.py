"""Addresses are in no excerpt and no tag; names that look like one are no addresses."""

import unicodedata

import pytest
import regex

from capabilities.blog.engines.metadata.extractive.extractive import Extractive
from capabilities.blog.engines.metadata.plain import read_post


@pytest.mark.parametrize(
    "address",
    [
        *("evil.xyz", "evil.shop", "bit.ly/abc", "sub.evil.museum/pay?x=1", "EVIL.COM", "ftp://evil.example/x"),
        *(
            "javascript:alert(1)",
            "mailto:evil@b.cd",
            "ldap://x.evil/a",
            "ＷＷＷ．ｅｖｉｌ．ｃｏｍ",
            "evil.example:8080/",
        ),
    ],
)
def test_an_address_in_any_dress_is_in_no_text(address: str, engine: Extractive) -> None:
    content = (
        f"Roses like shade, says {address} again. Roses need water every day in June. Buy roses at {address} now. "
    )
    for title, text in (
        (f"Roses by {address}", None),
        (f"{address} on roses", content),
        ("Roses in the shade", content),
    ):
        made = engine.write(read_post(title, text, "en"))
        said = unicodedata.normalize("NFKC", " ".join((made.excerpt, *made.tags))).lower()
        assert not regex.search(r"evil|bit\.ly|alert|://", said), said
        assert "roses" in made.tags


@pytest.mark.parametrize(
    "address", ["evil(dot)com", "evil[.]xyz", "evil dot com", "hxxp evil", "evil . com", "pay (at) evil"]
)
def test_an_address_in_disguise_is_in_no_excerpt(address: str, engine: Extractive) -> None:
    content = f"Roses need water every day, says {address} again. Roses like shade in the summer, and roses like rain. "
    for text in (content, content * 9, content.replace("again. ", "again and so ") * 2):
        assert "evil" not in engine.write(read_post("Roses in the shade", text, "en")).excerpt


def test_names_with_a_point_and_sentences_without_a_space_are_no_addresses(engine: Extractive) -> None:
    content = (
        "The plant needs water.It grows well. ASP.NET and Node.js are no plants, and Node.js is older than 2.0 and 1/2."
    )
    made = engine.write(read_post("Node.js and ASP.NET compared", content, "en"))
    assert "node.js" in made.tags
    assert "water.It" in made.excerpt or "ASP.NET" in made.excerpt
    assert "ASP.NET" in engine.write(read_post("Node.js and ASP.NET compared", None, "en")).excerpt
    assert engine.write(read_post("evil.shop", None, "en")).excerpt == "A post in the category General."
