"""Settings of index checks, and of submissions to search engines."""

from datetime import timedelta
from typing import NamedTuple

from pydantic import BaseModel, Field, SecretStr, field_validator

from pipeline.settings.fields import Section, WebUrl, engines_field


class ProviderSettings(BaseModel):
    """A search provider."""

    url: WebUrl | None = Field(None, description="Address of the provider.")
    api_key: SecretStr | None = Field(None, description="API key.")
    interval_seconds: float = Field(6.0, ge=0, description="Mean time between two queries; 0: no pacing.")
    jitter: float = Field(0.5, ge=0, le=1, description="Share by which an interval may differ from the mean.")


class SearxngSettings(ProviderSettings):
    """An instance of SearXNG."""

    interval_seconds: float = Field(3.0, ge=0, description="Mean time between two queries; 0: no pacing.")
    jitter: float = Field(0.0, ge=0, le=1, description="Share by which an interval may differ from the mean.")
    engines: str = Field(
        "", description="Engines that the instance asks, such as google,bing; by default its own choice."
    )


class Reuse(NamedTuple):
    """Time for which answers about a page are reused; zero: never."""

    indexed: timedelta
    not_indexed: timedelta

    @property
    def longest(self) -> timedelta:
        return max(self)


RANKED = ("serper", "serpapi", "brave_api", "searxng", "duckduckgo", "bing")
KEYED = RANKED[:3]


class SitemapSettings(BaseModel):
    """Sitemaps in place of URLs."""

    user_agent: str = Field("Pressroom/0.1 (sitemap reader)", description="User-Agent header.")
    files: int = Field(200, ge=1, description="Most sitemaps in an index and its indexes.")
    file_bytes: int = Field(50 * 2**20, ge=1, description="Largest sitemap, unpacked.")
    seconds: float = Field(20.0, gt=0, description="Longest time for a sitemap and the sitemaps in it.")
    per_host: int = Field(4, ge=1, description="Sitemaps that are read at once from a host.")
    at_once: int = Field(4, ge=1, description="Requests whose sitemaps a process reads at once.")


class DiagnosisSettings(BaseModel):
    """Diagnoses of pages that are not indexed."""

    user_agent: str = Field("Pressroom/0.1 (index diagnosis)", description="User-Agent header.")
    seconds: float = Field(20.0, gt=0, description="Longest time for a page, and for the rest of its site.")
    page_bytes: int = Field(2 * 2**20, ge=1, description="Bytes of a page that are read.")
    per_host: int = Field(2, ge=1, description="Requests of a process to a host at once.")
    sites: int = Field(32, ge=1, description="Sites whose robots.txt and sitemaps a process remembers.")
    sitemap_files: int = Field(20, ge=0, description="Sitemaps of a site that are read; 0: none.")
    sitemap_urls: int = Field(50_000, ge=1, description="URLs of a site's sitemaps that are read.")


def _provider(url: str | None, interval: float, jitter: float = 0.0) -> ProviderSettings:
    return ProviderSettings(url=url, interval_seconds=interval, jitter=jitter)


class SearchConsoleSettings(BaseModel):
    """Google Search Console."""

    per_day: int = Field(2_000, ge=1, description="Requests a day about a site; Search Console allows 2,000.")
    per_minute: int = Field(600, ge=1, description="Requests a minute about a site; Search Console allows 600.")
    url: WebUrl = Field(
        "https://searchconsole.googleapis.com/v1/urlInspection/index:inspect", description="URL Inspection."
    )
    sites_url: WebUrl = Field("https://www.googleapis.com/webmasters/v3/sites", description="The list of sites.")
    token_url: WebUrl = Field("https://oauth2.googleapis.com/token", description="Source of access tokens.")
    consent_url: WebUrl = Field("https://accounts.google.com/o/oauth2/v2/auth", description="Page of the consent.")
    client_id: str | None = Field(
        None, description="OAuth client (web application): accounts connect by signing in to Google in the dashboard."
    )
    client_secret: SecretStr | None = Field(None, description="Its secret.")


class SearchSettings(Section):
    """Search providers, how often they are asked, and how their answers are used."""

    section = "search"

    providers: str = Field(
        "",
        description="Providers in order of preference; by default all that are set up, "
        f"in the order {', '.join(RANKED)}.",
    )
    slots: int = Field(8, ge=1, description="URLs that a process checks at once.")
    user_agent: str = Field("Mozilla/5.0 (compatible; Pressroom/0.1)", description="User-Agent header.")
    connect_seconds: float = Field(10.0, gt=0, description="Longest wait for a connection.")
    limit_seconds: float = Field(30.0, gt=0, description="Longest wait for a whole answer.")
    max_page_bytes: int = Field(4 * 2**20, ge=1, description="Largest page that is read.")
    tries: int = Field(3, ge=1, description="Tries of a query after lost connections or server errors.")
    unreachable_seconds: float = Field(15.0, ge=0, description="Pause after a provider could not be reached.")
    rounds: int = Field(3, ge=1, description="Rounds of blocks after which a URL fails.")
    fresh_days: float = Field(7.0, ge=0, description='How long "indexed" is reused; 0: never.')
    fresh_hours: float = Field(1.0, ge=0, description='How long "not indexed" is reused; 0: never.')
    control_site: str = Field(
        "wikipedia.org",
        description="A site that every engine lists. An engine without a row of it gives us empty pages.",
    )
    captcha_minutes: str = Field("15,60,360,1440", description="Rests after a captcha, one after another.")
    throttle_minutes: str = Field("5,15,60", description="Rests after HTTP 429, one after another.")
    max_rest_hours: float = Field(24.0, gt=0, description="Longest rest, also for Retry-After.")
    sitemap: SitemapSettings = SitemapSettings()
    diagnosis: DiagnosisSettings = DiagnosisSettings()
    strikes: int = Field(3, ge=1, description="Unusable pages in a row after which a job asks a provider no more.")
    off_minutes: float = Field(60.0, gt=0, description="Rest after a provider refused our key.")
    duckduckgo: ProviderSettings = _provider("https://html.duckduckgo.com/html/", 6.0, 0.5)
    bing: ProviderSettings = _provider("https://www.bing.com/search", 6.0, 0.5)
    searxng: SearxngSettings = SearxngSettings()
    brave_api: ProviderSettings = _provider("https://api.search.brave.com/res/v1/web/search", 0.2)
    serper: ProviderSettings = _provider("https://google.serper.dev/search", 0.1)
    serpapi: ProviderSettings = _provider("https://serpapi.com/search.json", 0.1)
    search_console: SearchConsoleSettings = SearchConsoleSettings()

    @field_validator("captcha_minutes", "throttle_minutes")
    @classmethod
    def _check_ladder(cls, minutes: str) -> str:
        # Checked here: else a pool would not start, or a breaker would never open.
        try:
            is_ladder = all(0 < float(step) < float("inf") for step in minutes.split(","))
        except ValueError:
            is_ladder = False
        if not is_ladder:
            raise ValueError("it takes minutes above 0, separated by commas, such as 15,60,360")
        return minutes

    @property
    def engines(self) -> str:
        """The providers in order: as set, or all that are set up."""
        return self.providers or ",".join(name for name in RANKED if self._is_set_up(name))

    @property
    def reuse(self) -> Reuse:
        return Reuse(timedelta(days=self.fresh_days), timedelta(hours=self.fresh_hours))

    def _is_set_up(self, name: str) -> bool:
        provider: ProviderSettings = getattr(self, name)
        # A template of settings has empty keys.
        has_key = provider.api_key is not None and bool(provider.api_key.get_secret_value())
        return bool(provider.url) and (has_key or name not in KEYED)


class IndexNowSettings(BaseModel):
    """IndexNow: one call reaches Bing, Yandex, Seznam, Naver and Yep."""

    url: WebUrl = Field("https://api.indexnow.org/indexnow", description="Address of the endpoint.")
    key: SecretStr | None = Field(None, description="Key of every site without one in KEYS.")
    keys: SecretStr | None = Field(
        None,
        description="Keys of sites, HOST=KEY separated by commas.",
    )

    @property
    def is_set_up(self) -> bool:
        """True if there is a key; a template of settings has an empty one."""
        return bool(self.key or self.keys)


class SubmissionSettings(Section):
    """Submission of URLs to search engines; off until a key is set."""

    section = "submission"

    engines: str | None = engines_field()
    calls: int = Field(4, ge=1, description="Sites that a process submits to at once.")
    tries: int = Field(4, ge=1, description="Tries of a URL whose engine can't be reached, or throttles.")
    wait_seconds: float = Field(
        60.0,
        gt=0,
        description="Pause before the second try, doubled before each next; or Retry-After, if longer.",
    )
    max_wait_hours: float = Field(24.0, gt=0, description="Longest pause, also for Retry-After.")
    indexnow: IndexNowSettings = IndexNowSettings()

    @property
    def set_up(self) -> list[str]:
        """The engines that have their keys; a plug-in's has to be named in `engines`."""
        order = [name.strip() for name in (self.engines or "indexnow").split(",") if name.strip()]
        return [name for name in order if getattr(getattr(self, name, None), "is_set_up", True)]


class IndexLimits(Section):
    """Upper bounds of an account."""

    section = "limits"

    index_monitors: int = Field(100, ge=0, description="Unfinished index monitors of an account.")


class IndexWork(Section):
    """The deadline of index jobs."""

    section = "work"

    index_deadline_days: float = Field(7.0, gt=0, description="An index job not finished by then expires.")


class IndexRetention(Section):
    """How long results of index checks are kept."""

    section = "retention"

    index_days: float = Field(30, gt=0, description="URLs of index jobs, and what was found out about them.")
    change_days: float = Field(365, gt=0, description="Changes that index monitors have found.")


SECTIONS = (SearchSettings, SubmissionSettings, IndexLimits, IndexWork, IndexRetention)
