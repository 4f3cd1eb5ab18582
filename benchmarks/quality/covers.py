"""Covers: which thing is drawn for each of some titles, held against the things that an editor would accept."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from capabilities.blog.engines.metadata import Writer
from capabilities.blog.engines.metadata.plain import read_post
from capabilities.blog.engines.pictures import Brief
from capabilities.blog.engines.pictures.drawn.topics import motif_of
from capabilities.blog.handlers.blog import SURE

FILE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A title's language, the motif that is drawn for it, if any, and those that would be right."""

    language: str
    title: str
    motif: str | None
    right: Sequence[str]

    @property
    def is_wrong(self) -> bool:
        """Return whether it shows a thing that the post is not about."""
        return self.motif is not None and self.motif not in self.right


def choose_all(writer: Writer) -> Iterator[Chosen]:
    """Yield what is drawn for each title alone, with the category that a metadata engine finds for it."""
    for language, titles in tomllib.loads(FILE.read_text("utf-8")).items():
        for title, right in titles:
            made = writer.write(read_post(title, None, language))
            category = made.category if made.category_confidence >= SURE else ""
            motif = motif_of(Brief(title, made.excerpt, category, made.tags, "realistic", language))
            yield Chosen(language, title, motif, right.split())


def covers_rows(chosen: Sequence[Chosen]) -> Iterator[tuple[str, ...]]:
    """Yield a table's head and rows: how many covers of each language show the right thing, none, or a wrong one."""
    yield ("language", "titles", "right thing", "shapes and type", "wrong thing")
    for language in dict.fromkeys(one.language for one in chosen):
        yield _row(language, [one for one in chosen if one.language == language])
    yield _row("all", chosen)


def _row(name: str, chosen: Sequence[Chosen]) -> tuple[str, ...]:
    wrong, none = sum(one.is_wrong for one in chosen), sum(one.motif is None for one in chosen)
    return (name, str(len(chosen)), str(len(chosen) - wrong - none), str(none), str(wrong))
