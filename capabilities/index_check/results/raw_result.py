"""Raw result: everything that is known about a checked URL, as its record shows it (docs/indexing.md, Records)."""

from typing import Literal, get_args

from pydantic import BaseModel, Field
from pydantic.config import JsonDict

from pipeline.kind import Stored

Reason = Literal["indexed", "not_indexed", "submitted", "rate_limited", "error"]
REASONS: tuple[Reason, ...] = get_args(Reason)

DATE_TIME: JsonDict = {"format": "date-time"}


class Inspection(BaseModel):
    """A site service's answer about a URL. Fields without an answer are null.

    `verdict`, `coverage_state` and the states that end in `_state` are Google's own words."""

    service: str = Field(description="search_console.")
    property: str = Field(description="The connected site, as the service writes it.")
    verdict: str | None = Field(None, description="PASS, NEUTRAL, FAIL or PARTIAL.")
    coverage_state: str | None = Field(None, description="Why it is indexed or not, in Google's words.")
    google_canonical: str | None = Field(None, description="The URL that Google lists for this page.")
    user_canonical: str | None = Field(None, description="The canonical URL that the page names.")
    last_crawl_time: str | None = Field(None, json_schema_extra=DATE_TIME)
    robots_txt_state: str | None = None
    indexing_state: str | None = None
    page_fetch_state: str | None = None


class Redirected(Stored):
    """A URL that redirected to another one."""

    url: str
    status: int


class RobotsDirective(Stored):
    """A page's instruction to crawlers, in an element `meta` or in the header X-Robots-Tag."""

    source: str = Field(description="meta or header.")
    agent: str = Field(description="robots for all crawlers, or the name of one, such as googlebot.")
    content: str


class RobotsFile(Stored):
    """The rules of a site's robots.txt for the page."""

    url: str
    http_status: int | None = Field(None, description="null: it could not be fetched.")
    blocked_agents: list[str] = Field(default_factory=list, description="Any of *, Googlebot and Bingbot.")


class Diagnosis(Stored):
    """Why a page may be missing from results (docs/indexing.md, Why not). Unknown fields are null."""

    sentence: str = Field(description="The likely cause, and what to do about it.")
    causes: list[str] = Field(default_factory=list, description="Codes, the most certain first.")
    checked_at: str = Field(json_schema_extra=DATE_TIME)
    http_status: int | None = None
    final_url: str | None = Field(None, description="Where the redirects end.")
    redirects: list[Redirected] = Field(default_factory=list)
    robots: RobotsFile | None = None
    noindex: list[RobotsDirective] = Field(default_factory=list)
    canonical_url: str | None = None
    in_sitemap: bool | None = Field(None, description="null: there is no sitemap, or it was not read to its end.")
    sitemap_url: str | None = Field(None, description="The sitemap that lists the page.")


class NearMatch(BaseModel):
    """A row of the results that is nearly the URL, and its relation to it."""

    url: str
    relation: str


class RawResult(Stored, extra="allow"):
    """The answer about a URL, or why there is none (docs/indexing.md, Records).

    The schema names no default for missing texts, since they are not shown."""

    reason: Reason
    code: str = Field(default_factory=str, description="The finer cause.")
    message: str = Field(default_factory=str, description="Why a failed URL has no answer, and what helps.")
    provider: str = Field(default_factory=str, description="The provider that was asked.")
    index: str = Field(default_factory=str, description="The index that answered: google, bing, brave, duckduckgo …")
    query: str = Field(default_factory=str)
    checked_at: str = Field(default_factory=str, json_schema_extra=DATE_TIME)
    matched_url: str | None = None
    proof_url: str = Field(default_factory=str, alias="proofUrl", description="A results page that shows the URL.")
    near_matches: list[NearMatch] = Field(default_factory=list)
    inspection: Inspection | None = Field(None, description="The answer of a service for site owners.")
    diagnosis: Diagnosis | None = Field(None, description="Why the URL is not indexed, if the job asked for it.")
    reused: bool = Field(False, description="An earlier answer about the same page was used, free of charge.")
    age_seconds: int = Field(default_factory=int, description="Age of a reused answer.")
