"""Wording: every language's file has all that `basic` says."""

import re
import tomllib
from importlib import resources

import pytest
from pydantic import ValidationError

from capabilities.alt_text.engines.basic.basic import Basic
from capabilities.alt_text.engines.basic.colours import NAMES
from capabilities.alt_text.engines.basic.wording import LANGUAGES, Wording, wording_of

FILES = resources.files("capabilities.alt_text.engines.basic") / "wordings"


def placeholders(wording: Wording) -> set[str]:
    parts = (wording.phrase, wording.sentence, wording.tail, wording.further)
    return {name for part in parts for text in part.model_dump().values() for name in re.findall("{(.*?)}", str(text))}


def test_every_file_is_a_language_that_is_offered() -> None:
    assert {file.name.removesuffix(".toml") for file in FILES.iterdir()} == set(LANGUAGES)
    assert Basic().offer() == {"languages": list(LANGUAGES)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_colours_have_one_name(language: str) -> None:
    assert len(set(wording_of(language).colours.values())) == len(NAMES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_template_that_quotes_has_a_place_for_it(language: str) -> None:
    wording = wording_of(language)

    for form in (wording.phrase, wording.sentence):
        assert all("{quotes}" in template for template in (form.with_text, form.titled, form.beginning, form.authored))
        assert not any("{quotes}" in template for template in (form.coloured, form.grey, form.plain, form.empty))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_name_in_a_template_is_one_that_is_filled_in(language: str) -> None:
    grammar = {"quotes", "definite", "the_middle", "ending"}

    assert placeholders(wording_of(language)) <= placeholders(wording_of("en")) | grammar


@pytest.mark.parametrize("table", ["nouns", "colours", "phrase", "tail"])
def test_a_file_that_lacks_a_word_is_refused(table: str) -> None:
    words = tomllib.loads((FILES / "en.toml").read_text("utf-8"))
    words[table].popitem()

    with pytest.raises(ValidationError):
        Wording.model_validate(words)


def test_a_file_with_a_word_that_nothing_uses_is_refused() -> None:
    words = tomllib.loads((FILES / "en.toml").read_text("utf-8"))

    with pytest.raises(ValidationError):
        Wording.model_validate(words | {"bars": "The bars show {pairs}."})
