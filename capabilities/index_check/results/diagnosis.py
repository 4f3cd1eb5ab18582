"""Diagnosis: what a look at a page, at its robots.txt and at its site's sitemaps says about why it is in no results."""

from pydantic import Field

from pipeline.kind import Stored


class Redirected(Stored):
    """A URL that answered with another one."""

    url: str
    status: int


class RobotsDirective(Stored):
    """What a page says to crawlers: in an element `meta`, or in the header X-Robots-Tag."""

    source: str = Field(description="meta or header.")
    agent: str = Field(description="robots for all of them, else the name of one, such as googlebot.")
    content: str


class RobotsFile(Stored):
    """What a site's robots.txt says of the page."""

    url: str
    http_status: int | None = Field(None, description="null: it could not be fetched.")
    blocked_agents: list[str] = Field(default_factory=list, description="Of *, Googlebot and Bingbot.")


class Diagnosis(Stored):
    """Why a page may be in no results (docs/indexing.md, Why not). What is missing could not be found out."""

    sentence: str = Field(description="What is likely to be the cause, and what can be done.")
    causes: list[str] = Field(default_factory=list, description="Codes, the most certain first.")
    checked_at: str = Field(json_schema_extra={"format": "date-time"})
    http_status: int | None = None
    final_url: str | None = Field(None, description="Where the redirects end.")
    redirects: list[Redirected] = Field(default_factory=list)
    robots: RobotsFile | None = None
    noindex: list[RobotsDirective] = Field(default_factory=list)
    canonical_url: str | None = None
    in_sitemap: bool | None = Field(None, description="null: there is none, or it was not read to its end.")
    sitemap_url: str | None = Field(None, description="The sitemap that names the page.")
