"""What `pressroom say` takes for a text, and what for a file of one."""

from pathlib import Path

import pytest

from capabilities.speech.commands.speech import _named_after, read_text
from pipeline.errors import InvalidRequest


def test_words_are_the_text_and_a_file_has_it(tmp_path: Path) -> None:
    file = tmp_path / "chapter.txt"
    file.write_text("\ufeffFrom a file.", "utf-8")
    assert read_text("Good morning!") == "Good morning!"
    assert read_text("Prices are 1/2 of last year's") == "Prices are 1/2 of last year's"
    assert read_text(str(file)) == "From a file."
    assert _named_after(str(file)) == file.with_suffix(".mp3")


@pytest.mark.parametrize("name", ["chapter.txt", "texts/chapter"])
def test_a_misspelt_file_is_an_error_and_is_not_spoken(name: str) -> None:
    with pytest.raises(InvalidRequest, match="can't be read"):
        read_text(name)


@pytest.mark.parametrize("text", ["-", "Good morning!"])
def test_words_want_a_name_for_their_sound(text: str) -> None:
    with pytest.raises(InvalidRequest, match="--output"):
        _named_after(text)
