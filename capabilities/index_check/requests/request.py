"""The request for an index check: its fields, and the lanes of its URLs."""

from typing import Literal

from pydantic import ConfigDict, Field

from capabilities.index_check.requests.given import BOTH, NEITHER, SitemapUrl
from capabilities.index_check.results.jobs import KIND, OWNED_LANE, PROVIDERS
from capabilities.index_check.sites.connections import SEARCH_CONSOLE
from pipeline.downloads.urls import MAX_CHARACTERS
from pipeline.errors import InvalidRequest
from pipeline.kind import Request, Source

#: URLs of one job (docs/api.md, Limits).
MAX_URLS = 10_000
#: Characters of a job's name.
MAX_NAME = 200
#: What it is made of: no control characters.
NAME = r"^[^\x00-\x1f\x7f]+$"
#: Faulty URLs that a refusal names.
MAX_NAMED = 20
#: Room for so many of the longest URLs.
MAX_BODY_BYTES = 32 * 2**20
#: The indexes that the providers answer from (jobs.py).
INDEXES = tuple(dict.fromkeys(PROVIDERS.values()))
#: The lane of URLs that name a provider, or an index; those that name neither have the kind's.
ENGINE_LANES = {provider: f"{KIND}_{provider}" for provider in PROVIDERS}
INDEX_LANES = {index: f"{KIND}_index_{index}" for index in INDEXES}
#: Services for site owners that a request may name, and the index of each. Bing's gives no verdict.
OWNED_ENGINES = {SEARCH_CONSOLE: "google"}
#: The lane of URLs that can't be checked, which no provider is asked about, and which wait for none.
FAULTY_LANE = f"{KIND}_faulty"


class UrlsInvalid(InvalidRequest):
    """Some URLs can't be checked; nothing was charged for the others."""

    code = "urls_invalid"


class UrlsMissing(InvalidRequest):
    """There is nothing to check."""

    message = "urls: This field is required, or else sitemap_url."

    def __init__(self) -> None:
        super().__init__(details=[{"field": "urls", "message": "This field is required.", "code": "field_missing"}])


class IndexCheckRequest(Request):
    """Which URLs, and, if it matters, in whose results."""

    model_config = ConfigDict(json_schema_extra={"not": {"anyOf": [NEITHER, BOTH]}})

    type: Literal["check", "submit"] = Field(description="check, or submit where the operator has turned it on.")
    urls: list[str] = Field(
        default_factory=list,
        min_length=1,
        max_length=MAX_URLS,
        description="URLs; the same one twice counts once, and example.org/a stands for https://example.org/a.",
    )
    sitemap_url: SitemapUrl | None = Field(
        None, max_length=MAX_CHARACTERS, description="A sitemap, or an index of sitemaps, instead of urls."
    )
    skip_invalid: bool = Field(
        False, description="A URL that can't be checked fails alone; by default all are refused for it."
    )
    name: str | None = Field(
        None,
        min_length=1,
        max_length=MAX_NAME,
        pattern=NAME,
        description="Of the job, to find it again.",
    )
    source: Literal[Source, "tts"] = Field("web", description="Where the request comes from.")
    engine: str | None = Field(None, description="A configured search provider; by default the operator's order.")
    index: str | None = Field(
        None, description="Whose index has to answer: google, bing, brave, duckduckgo …; by default any."
    )
    fresh: bool = Field(False, description="Ask now, whatever was answered lately.")
    diagnose: bool = Field(False, description="Look at pages without a good answer, and say why; it costs nothing.")


def lane_of(engine: str | None, index: str | None = None) -> str:
    """Return the lane of URLs that name a provider, an index or neither; one from elsewhere has none of its own."""
    if engine in OWNED_ENGINES:
        return OWNED_LANE
    if engine:
        return ENGINE_LANES.get(engine, KIND)
    return INDEX_LANES.get(index, KIND) if index else KIND
