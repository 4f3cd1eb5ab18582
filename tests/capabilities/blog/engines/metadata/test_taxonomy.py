"""Operators may bring categories of their own, and are told what is wrong with them."""

import pytest
import regex
from metadata_limits import in_limits

from capabilities.blog.engines.metadata.extractive.extractive import Extractive
from capabilities.blog.engines.metadata.plain import read_post
from pipeline.errors import NotReady


def test_an_operator_may_bring_categories(tmp_path) -> None:
    file = tmp_path / "categories.toml"
    file.write_text(
        'fallback = "Other"\n[[category]]\nname = "Bees"\nen = { tags = "bees, honey", cues = "hive*, queen bee" }\n'
        '[[category]]\nname = "Other"\n'
    )
    engine = Extractive(str(file))
    engine.setup()

    made = engine.write(read_post("Moving a hive in winter", "", "en"))
    assert made.category == "Bees"
    # What the category is called; of its other tags the post says nothing.
    assert "bees" in made.tags
    assert "honey" not in made.tags
    assert engine.write(read_post("Nothing at all", "", "en")).category == "Other"
    in_limits(engine.write(read_post("Nichts", "", "de")), engine)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("fallback = 'A'", "category: Field required"),
        ("fallback = 'B'\n[[category]]\nname = 'A'", "fallback 'B' is none of the categories"),
        ("fallback = 'A'\n[[category]]\nname = 'A'\n[[category]]\nname = 'A'", "stand twice: A"),
        ("fallback = 'A'\n[[category]]\nname = 'A'\nen = { tags = 'x' }", "the tag 'x' of A (en) has 1 characters"),
        ("fallback = 'A'\n[[category]]\nname = 'A'\nen = { cue = 'x' }", "cue: Extra inputs"),
        ("fallback =", "Invalid value"),
    ],
)
def test_a_wrong_file_of_categories_is_told_by_what_is_wrong_in_it(content: str, said: str, tmp_path) -> None:
    file = tmp_path / "categories.toml"
    file.write_text(content)
    with pytest.raises(NotReady, match=regex.escape(said)):
        Extractive(str(file)).setup()


def test_a_missing_file_of_categories_is_named() -> None:
    with pytest.raises(NotReady, match=r"/nowhere\.toml"):
        Extractive("/nowhere.toml").setup()
