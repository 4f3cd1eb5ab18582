"""Article: the text of a page on the web, without its menus, by trafilatura."""

from capabilities.audiobooks.kinds.audiobook import MAX_TITLE
from capabilities.audiobooks.manuscripts.blocks import check_tags, language_tag
from capabilities.audiobooks.manuscripts.manuscript import Chapter, Manuscript, ManuscriptUnreadable
from capabilities.audiobooks.manuscripts.reading import from_html

#: Tags of a page on the web; trafilatura took 180 MB for 100,000.
MAX_PAGE_TAGS = 100_000


def read_article(page: bytes, url: str, reads: frozenset[str]) -> Manuscript:
    """Return the manuscript of a page. Raises ManuscriptUnreadable, ManuscriptTooLong."""
    check_tags(page, MAX_PAGE_TAGS, "The page")
    from trafilatura import extract, extract_metadata

    body = extract(
        page,
        url=url,
        output_format="html",
        include_comments=False,
        include_tables="tables" in reads,
        prune_xpath=None if "code" in reads else "//pre",
    )
    if not body:
        raise ManuscriptUnreadable("The page's article can't be told from its menus. Send its text as a file.")
    found = from_html(body, reads)
    about = extract_metadata(page, default_url=url)
    found.title = (about and about.title) or found.title
    found.author = (about and about.author) or ""
    found.language = (about and about.language and language_tag(about.language)) or found.language
    first = found.chapters[0]
    if found.title and found.title not in first.paragraphs[:1]:
        found.chapters.insert(0, Chapter(found.title[:MAX_TITLE], [found.title]))
    return found
