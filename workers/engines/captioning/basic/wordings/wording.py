"""Wording: the words and templates of one language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workers.engines.captioning.basic.genres import Genre


@dataclass(frozen=True, slots=True)
class Wording:
    """What a language needs for `basic`; names in braces are filled in."""

    #: Without an article and with it.
    nouns: Mapping[Genre, tuple[str, str]]
    colours: Mapping[str, str]
    conjunction: str
    #: The marks around a quotation, with their spaces.
    quotes: tuple[str, str]

    # Phrases that may stand alone: {noun}, {quotes}, {quote}
    with_text: str
    titled: str
    beginning: str
    authored: str
    plain: str
    empty: str
    # Sentences without a full stop: {the} is the noun with its article.
    reads: str
    is_titled: str
    begins: str
    shows: str
    all_in: str
    is_grey: str
    is_empty: str
    author_says: str
    # What may follow either: {ink}, {paper}, {colours}
    ink_on_paper: str
    on_paper: str
    mostly: str
    #: The same behind a quotation.
    mostly_after: str
    on_nothing: str
    # Whole sentences
    is_mostly: str
    also_reads: str
    axis: str
    across: str
    halves: str
    #: What is in the middle: {middle}, {the_middle}; the first stands behind a phrase.
    centred: str
    centre: str
    #: Where the text stands, {place} being one of nine, row by row from the top left.
    placed: str
    places: tuple[str, ...]
    #: What bars say: {pairs}, each of {value} and {label}; the second as it is read off the axis.
    bars: str
    bars_about: str
    pair: str
    #: Of a table: {noun} or {the}, and {quotes}.
    columns: str
    has_columns: str
    rows: str
    animated: str

    #: Colours in "on a … background", where it is not the plain name.
    papers: Mapping[str, str] = field(default_factory=dict)
    #: The article of most colours, and those that have another.
    article: str = ""
    articles: Mapping[str, str] = field(default_factory=dict)
    #: The same for "some blue", where the language has it.
    partitive: str = ""
    partitives: Mapping[str, str] = field(default_factory=dict)
    #: What "dominates" ends in, for one colour and for several.
    endings: tuple[str, str] = ("", "")

    def colour(self, name: str) -> str:
        """Return a colour as a noun."""
        return self.colours[name]

    def paper(self, name: str) -> str:
        """Return a colour as it stands before or after "background"."""
        return self.papers.get(name, self.colours[name])

    def definite(self, names: Sequence[str]) -> str:
        """Return "the blue and the green"."""
        return self.listed([self.articles.get(name, self.article) + self.colours[name] for name in names])

    def some(self, names: Sequence[str]) -> str:
        """Return "blue and green", as what something shows."""
        return self.listed([self.partitives.get(name, self.partitive) + self.colours[name] for name in names])

    def plainly(self, names: Sequence[str]) -> str:
        """Return "blue and green"."""
        return self.listed([self.colours[name] for name in names])

    def quoted(self, texts: Sequence[str]) -> str:
        """Return texts in quotation marks."""
        opening, closing = self.quotes
        return self.listed([opening + text.removesuffix(".") + closing for text in texts]) if texts else ""

    def listed(self, things: Sequence[str]) -> str:
        """Return "a, b and c"."""
        return f" {self.conjunction} ".join([*([", ".join(things[:-1])] if len(things) > 1 else []), things[-1]])
