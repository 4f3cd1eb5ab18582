"""Articles: fetches the page or the manuscript behind a user's URL, guarded."""

import asyncio
import io
from urllib.parse import urlsplit

from capabilities.audiobooks.manuscripts.article import read_article
from capabilities.audiobooks.manuscripts.manuscript import Manuscript
from capabilities.audiobooks.manuscripts.reading import read_manuscript
from pipeline.downloads.targets import shown
from pipeline.downloads.web import Unfetched, Web
from pipeline.errors import InvalidRequest
from pipeline.settings import Settings

USER_AGENT = "Pressroom/0.1 (article reader)"
PAGES = ("text/html", "application/xhtml+xml")


class ArticleUrlFailed(InvalidRequest):
    """The URL gives no manuscript."""

    code = "manuscript_url_failed"
    field = "url"


def fetch_manuscript(url: str, settings: Settings, reads: frozenset[str]) -> Manuscript:
    """Return a page's article, or the manuscript behind a URL.

    Raises ArticleUrlFailed, ManuscriptUnreadable, ManuscriptTooLong."""
    try:
        content, is_page = asyncio.run(_fetch(url, settings))
    except Unfetched as error:
        raise ArticleUrlFailed(error.message) from error
    except TimeoutError:
        raise ArticleUrlFailed(f"{shown(url)} took longer than {settings.fetch.limit_seconds:g} s.") from None
    if is_page:
        return read_article(content, url, reads)
    return read_manuscript(io.BytesIO(content), urlsplit(url).path, reads)


async def _fetch(url: str, settings: Settings) -> tuple[bytes, bool]:
    async with (
        asyncio.timeout(settings.fetch.limit_seconds),
        Web(settings.fetch, user_agent=USER_AGENT, per_host=settings.fetch.downloads_per_host) as web,
        web.open(url) as answer,
    ):
        if answer.status != 200:
            raise ArticleUrlFailed(f"{shown(answer.url)} answers with HTTP {answer.status}.")
        content = await answer.read(settings.fetch.max_bytes + 1)
        if len(content) > settings.fetch.max_bytes:
            raise ArticleUrlFailed(
                f"{shown(answer.url)} has more than the {settings.fetch.max_bytes:,} bytes that are downloaded."
                " Send it as a file."
            )
        content_type = answer.headers.get("Content-Type", PAGES[0]).partition(";")[0].strip().lower()
        return content, content_type in PAGES
