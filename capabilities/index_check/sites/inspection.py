"""Inspection: what a service for site owners says of a URL of a connected site."""

from pydantic import BaseModel, Field


class Inspection(BaseModel):
    """What Search Console, or Bing Webmaster Tools, says; what it does not say is null.

    The words of Google are its own: verdict, coverage_state and the states that end in `_state`."""

    service: str = Field(description="search_console or bing_webmaster.")
    property: str = Field(description="The connected site, as the service writes it.")
    verdict: str | None = Field(None, description="PASS, NEUTRAL, FAIL or PARTIAL.")
    coverage_state: str | None = Field(None, description="Why it is indexed or not, in Google's words.")
    google_canonical: str | None = Field(None, description="The URL that Google lists in place of it, or itself.")
    user_canonical: str | None = Field(None, description="The canonical URL that the page names.")
    last_crawl_time: str | None = Field(None, json_schema_extra={"format": "date-time"})
    robots_txt_state: str | None = None
    indexing_state: str | None = None
    page_fetch_state: str | None = None
    discovered_time: str | None = Field(None, description="Bing's.", json_schema_extra={"format": "date-time"})
    http_status: int | None = Field(None, description="Of Bing's last crawl.")
    document_bytes: int | None = Field(None, description="Of Bing's last crawl.")
