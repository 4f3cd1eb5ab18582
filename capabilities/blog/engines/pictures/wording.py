"""Wording: descriptions of pictures in their post's language."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

#: By language: the words of each table, by their names.
WORDS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    language: {
        table: {name: row[column] for name, row in rows.items()}
        for table, rows in _TABLES.items()
        if table != "languages"
    }
    for column, language in enumerate(_TABLES["languages"])
}

#: Quotes within quotes, by the outer opening quote.
INNER = {
    "“": str.maketrans("“”", "‘’"),
    "„": str.maketrans("„“", "‚‘"),
    "«": str.maketrans("«»", "“”"),
    "「": str.maketrans("「」", "『』"),
    "《": str.maketrans("《》", "〈〉"),
}

#: Most characters of a title in a description, which screen readers read out with each post.
LONGEST_TITLE = 150


def generated(language: str, style: str, title: str) -> str:
    """Return the description of a model's unseen picture: its style and the post's title."""
    return with_title(words_of(language)["generated"][style], title)


def with_title(template: str, title: str) -> str:
    """Return a template with a title in it, the title's quotes as inner ones."""
    short = " ".join(title.split())
    if len(short) > LONGEST_TITLE:
        short = short[: LONGEST_TITLE - 1].rsplit(" ", 1)[0].rstrip(" ,;:-–—") + "…"
    opening = template[: template.index("{title}")].rstrip()[-1]
    return template.replace("{title}", short.translate(INNER.get(opening, {})))


def words_of(language: str) -> Mapping[str, Mapping[str, str]]:
    """Return a language's words, or the English ones."""
    return WORDS.get(language.lower().split("-")[0], WORDS["en"])
