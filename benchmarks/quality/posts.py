"""Posts: what the engines make of posts and of titles alone, held against what is known of them.

A fact is found if the language is right, the category one of those an editor could choose, and a subject among the
tags. A claim is false if it is said with some confidence and isn't so: a category, a tag that the post has nothing of,
a number that the post doesn't have, markup, a credit or somebody else's sentence."""

import statistics
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import regex

from capabilities.blog.engines.metadata import Metadata, Post, Writer
from capabilities.blog.engines.metadata.plain import read_post
from capabilities.blog.engines.metadata.taxonomy import Taxonomy, load_taxonomy
from capabilities.blog.engines.metadata.terms import stem
from pipeline.settings import Settings
from workers.engines.family import Family
from workers.engines.languages.languages import language_of

FOLDER = Path(__file__).with_name("posts")

#: From which confidence on a wrong category counts as a claim.
CLAIMED = 0.5

_MARKUP = regex.compile(r"[<>{}\[\]|\\`=]|https?:|\bwww\.|\.(?:jpe?g|png|webp|gif|html?)\b|&\w+;", regex.IGNORECASE)
_WORDS = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_NUMBERS = regex.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Expected:
    """A post, and what an editor would say of it (posts/posts.toml)."""

    title: str
    language: str
    categories: Sequence[str]
    tags: Sequence[str]
    never: Sequence[str]
    not_in_excerpt: Sequence[str]
    file: str | None = None
    asked: str = "en"

    @property
    def content(self) -> str | None:
        """Return what is sent beside the title."""
        return (FOLDER / self.file).read_text("utf-8", "replace") if self.file else None


@dataclass(frozen=True, slots=True)
class Judged:
    """A post's found facts, of so many, and false claims."""

    expected: Expected
    made: Metadata
    found: int
    facts: int
    missed: Sequence[str]
    false: Sequence[str]
    seconds: float


def expected_posts() -> list[Expected]:
    """Return the titles alone, and the posts but those of packages that are not installed."""
    listed = tomllib.loads((FOLDER / "posts.toml").read_text("utf-8"))["post"]
    return [Expected(**post) for post in listed if (FOLDER / post.get("file", ".")).exists()]


def ready_engines() -> list[Writer]:
    """Return the engines that this machine can set up, in the order of preference."""
    family = Family(Settings(), "metadata")
    family.setup()
    return list(family.engines)


def judge_all(engine: Writer) -> Iterator[Judged]:
    """Yield what an engine makes of each post."""
    taxonomy = load_taxonomy()
    for expected in expected_posts():
        began = time.perf_counter()
        post = read_post(expected.title, expected.content, expected.asked)
        made = engine.write(post)
        yield judge(expected, post, made, taxonomy, time.perf_counter() - began)


def judge(expected: Expected, post: Post, made: Metadata, taxonomy: Taxonomy, seconds: float) -> Judged:
    """Return which facts of a post were found, and what is false."""
    told = language_of(post.title, post.text, post.language)
    facts = {f"language {expected.language}": told.code == expected.language}
    facts[f"category {' or '.join(expected.categories)}"] = made.category in expected.categories
    for subject in expected.tags:
        facts[f"tag {subject}"] = any(_same(tag, one) for tag in made.tags for one in subject.split("|"))
    false = [*_false_category(expected, made), *_false_tags(expected, post, made, taxonomy, told.taxonomy)]
    false += _false_excerpt(expected, post, made.excerpt)
    missed = [fact for fact, is_found in facts.items() if not is_found]
    return Judged(expected, made, len(facts) - len(missed), len(facts), missed, false, seconds)


def _false_category(expected: Expected, made: Metadata) -> Iterator[str]:
    if made.category not in expected.categories and made.category_confidence >= CLAIMED:
        yield f"category {made.category} at {made.category_confidence}"


def _false_tags(expected: Expected, post: Post, made: Metadata, taxonomy: Taxonomy, language: str) -> Iterator[str]:
    whole = f"{post.title}\n{post.text}".lower()
    stems = _stems(whole)
    right = {tag for name in (*expected.categories, taxonomy.fallback) for tag in taxonomy.spare_tags(name, language)}
    for tag in made.tags:
        if _MARKUP.search(tag) or any(_same(tag, one) for one in expected.never):
            yield f"tag {tag}"
        elif not (_stems(tag) & stems or tag in whole or tag in right):
            yield f"tag {tag}, of which the post says nothing"


def _false_excerpt(expected: Expected, post: Post, excerpt: str) -> Iterator[str]:
    if markup := _MARKUP.search(excerpt):
        yield f"{markup.group()} in the excerpt"
    for part in expected.not_in_excerpt:
        if part.casefold() in excerpt.casefold():
            yield f"“{part}” in the excerpt"
    known = set(_NUMBERS.findall(f"{post.title}\n{post.text}"))
    for number in _NUMBERS.findall(excerpt):
        if number not in known:
            yield f"the number {number}, which the post does not have"


def _stems(text: str) -> set[str]:
    return {stem(word.lower()) for word in _WORDS.findall(text)}


def _same(tag: str, subject: str) -> bool:
    """Return whether a tag has all words of a subject, in whatever form."""
    return _stems(subject) <= _stems(tag)


def posts_rows(judged: Sequence[tuple[str, Sequence[Judged]]]) -> Iterator[tuple[str, ...]]:
    """Yield a table's head and a row an engine."""
    yield ("engine", "posts", "facts found", "false claims", "excerpt, characters", "tags", "a post, median", "slowest")
    for name, posts in judged:
        lengths = [len(post.made.excerpt) for post in posts]
        seconds = [post.seconds for post in posts]
        yield (
            name,
            str(len(posts)),
            f"{sum(post.found for post in posts)} of {sum(post.facts for post in posts)}",
            str(sum(len(post.false) for post in posts)),
            f"{min(lengths)}–{max(lengths)}, median {statistics.median(lengths):.0f}",
            f"{statistics.mean(len(post.made.tags) for post in posts):.1f}",
            f"{statistics.median(seconds) * 1_000:.0f} ms",
            f"{max(seconds) * 1_000:.0f} ms",
        )


def samples(judged: Sequence[Judged]) -> Iterator[str]:
    """Yield what was made of each post, as Markdown, with what is missing or false."""
    for post in judged:
        made = post.made
        tags = " · ".join(f"`{tag}`" for tag in made.tags)
        notes = [f"missed: {fact}" for fact in post.missed] + [f"**false**: {claim}" for claim in post.false]
        kind = f"`{post.expected.file}`" if post.expected.file else "title alone"
        yield (
            f"**{post.expected.title}** ({kind})\n\n> {made.excerpt}\n\n{made.category} "
            f"({made.category_confidence}) · {tags}" + "".join(f"  \n*{note}*" for note in notes)
        )
