"""Search settings: what an operator may change of index checks, and of what is submitted to search engines."""

from datetime import timedelta
from typing import NamedTuple

from pydantic import BaseModel, Field, SecretStr, field_validator

from pipeline.settings.fields import Section, WebUrl, engines_field


class ProviderSettings(BaseModel):
    """A search provider."""

    url: WebUrl | None = Field(None, description="Address that is asked.")
    api_key: SecretStr | None = Field(None, description="Key, for those that want one.")
    interval_seconds: float = Field(6.0, ge=0, description="Mean time between two queries; 0: no pacing.")
    jitter: float = Field(0.5, ge=0, le=1, description="How far an interval may differ from the mean, as a share.")


class SearxngSettings(ProviderSettings):
    """An instance of SearXNG of one's own."""

    interval_seconds: float = Field(3.0, ge=0, description="Mean time between two queries; 0: no pacing.")
    jitter: float = Field(0.0, ge=0, le=1, description="How far an interval may differ from the mean, as a share.")
    engines: str = Field(
        "", description="Which engines the instance asks, such as google,bing; by default those that it is set to."
    )


class Reuse(NamedTuple):
    """How long an answer about a page is used again; zero: never."""

    indexed: timedelta
    not_indexed: timedelta

    @property
    def longest(self) -> timedelta:
        """How long any answer is worth keeping."""
        return max(self)


#: Search providers as users rank them. Google's own pages come with JavaScript alone, and are asked where named.
RANKED = ("serper", "serpapi", "dataforseo", "brave_api", "searxng", "duckduckgo", "bing")
#: Those of them that want a key.
KEYED = RANKED[:4]


class SitemapSettings(BaseModel):
    """Sitemaps that stand for a list of URLs."""

    user_agent: str = Field("Pressroom/0.1 (sitemap reader)", description="Who we say that we are.")
    files: int = Field(200, ge=1, description="Sitemaps of one index, and of the indexes in it, that are read.")
    file_bytes: int = Field(50 * 2**20, ge=1, description="Largest sitemap, unpacked.")
    seconds: float = Field(20.0, gt=0, description="Longest time for a sitemap and all that it names.")
    per_host: int = Field(4, ge=1, description="Sitemaps that are read at once from the same host.")
    at_once: int = Field(4, ge=1, description="Requests of a process whose sitemaps are read at once.")


class DiagnosisSettings(BaseModel):
    """What is looked at when a request wants to know why a page is in no results."""

    user_agent: str = Field("Pressroom/0.1 (index diagnosis)", description="Who we say that we are.")
    seconds: float = Field(20.0, gt=0, description="Longest time for a page; as long for the rest of its site.")
    page_bytes: int = Field(2 * 2**20, ge=1, description="So much of a page is read.")
    per_host: int = Field(2, ge=1, description="Requests at once of a process to the same host.")
    sites: int = Field(32, ge=1, description="Sites of a process whose robots.txt and sitemaps are remembered.")
    sitemap_files: int = Field(20, ge=0, description="Sitemaps of a site that are read; 0: none.")
    sitemap_urls: int = Field(50_000, ge=1, description="URLs of a site's sitemaps that are read.")


def _provider(url: str | None, interval: float, jitter: float = 0.0) -> ProviderSettings:
    return ProviderSettings(url=url, interval_seconds=interval, jitter=jitter)


class SiteServiceSettings(BaseModel):
    """A service that tells site owners of their own sites."""

    per_day: int = Field(2_000, ge=1, description="Requests a day about a site; Search Console allows 2,000.")
    per_minute: int = Field(600, ge=1, description="Requests a minute about a site; Search Console allows 600.")


class SearchConsoleSettings(SiteServiceSettings):
    """Google Search Console."""

    url: WebUrl = Field(
        "https://searchconsole.googleapis.com/v1/urlInspection/index:inspect", description="URL Inspection."
    )
    sites_url: WebUrl = Field("https://www.googleapis.com/webmasters/v3/sites", description="The list of sites.")
    token_url: WebUrl = Field("https://oauth2.googleapis.com/token", description="Where access tokens come from.")
    consent_url: WebUrl = Field("https://accounts.google.com/o/oauth2/v2/auth", description="Where a user consents.")


class BingWebmasterSettings(SiteServiceSettings):
    """Bing Webmaster Tools."""

    url: WebUrl = Field("https://ssl.bing.com/webmaster/api.svc/json", description="The API.")


class SearchSettings(Section):
    """The search family: which providers are asked, how often, and what is made of their answers."""

    section = "search"

    providers: str = Field(
        "",
        description="Providers in order of preference; by default all that are set up, "
        f"in the order {', '.join(RANKED)}.",
    )
    slots: int = Field(8, ge=1, description="URLs that a process checks at once.")
    user_agent: str = Field("Mozilla/5.0 (compatible; Pressroom/0.1)", description="Who we say that we are.")
    connect_seconds: float = Field(10.0, gt=0, description="Longest wait for a connection.")
    limit_seconds: float = Field(30.0, gt=0, description="Longest wait for an answer, in all.")
    max_page_bytes: int = Field(4 * 2**20, ge=1, description="Largest page that is read.")
    tries: int = Field(3, ge=1, description="Tries after a lost connection or a server's error.")
    unreachable_seconds: float = Field(15.0, ge=0, description="How long one that can't be reached is left alone.")
    rounds: int = Field(3, ge=1, description="A URL blocked so often has failed.")
    fresh_days: float = Field(7.0, ge=0, description="That a page is indexed is used again for so long; 0: never.")
    fresh_hours: float = Field(1.0, ge=0, description="That a page is not indexed is used again so long; 0: never.")
    control_site: str = Field(
        "wikipedia.org",
        description="A site that every engine lists: one that shows no row of it gives empty pages to machines.",
    )
    accept_variants: bool = Field(False, description="Take a mobile, AMP or upper-case variant for a match.")
    captcha_minutes: str = Field("15,60,360,1440", description="How long a provider rests after a captcha, each time.")
    throttle_minutes: str = Field("5,15,60", description="How long it rests after HTTP 429, each time.")
    max_rest_hours: float = Field(24.0, gt=0, description="Longest rest, whatever Retry-After says.")
    sitemap: SitemapSettings = SitemapSettings()
    diagnosis: DiagnosisSettings = DiagnosisSettings()
    strikes: int = Field(3, ge=1, description="So many unusable pages in a row, and a job does not ask for more.")
    off_minutes: float = Field(60.0, gt=0, description="How long one that refuses our key or request is not asked.")
    duckduckgo: ProviderSettings = _provider("https://html.duckduckgo.com/html/", 6.0, 0.5)
    bing: ProviderSettings = _provider("https://www.bing.com/search", 6.0, 0.5)
    google: ProviderSettings = _provider("https://www.google.com/search", 45.0, 0.3)
    searxng: SearxngSettings = SearxngSettings()
    brave_api: ProviderSettings = _provider("https://api.search.brave.com/res/v1/web/search", 0.2)
    serper: ProviderSettings = _provider("https://google.serper.dev/search", 0.1)
    serpapi: ProviderSettings = _provider("https://serpapi.com/search.json", 0.1)
    dataforseo: ProviderSettings = _provider("https://api.dataforseo.com/v3/serp/google/organic/live/advanced", 0.1)
    search_console: SearchConsoleSettings = SearchConsoleSettings()
    bing_webmaster: BingWebmasterSettings = BingWebmasterSettings(per_day=10_000, per_minute=300)

    @field_validator("captcha_minutes", "throttle_minutes")
    @classmethod
    def _check_ladder(cls, minutes: str) -> str:
        # Checked here: otherwise a pool would not start, or a breaker would never open.
        try:
            is_ladder = all(0 < float(step) < float("inf") for step in minutes.split(","))
        except ValueError:
            is_ladder = False
        if not is_ladder:
            raise ValueError("it takes minutes above 0, separated by commas, such as 15,60,360")
        return minutes

    @property
    def engines(self) -> str:
        """Return the providers in order: as set, or else all that have what they need."""
        return self.providers or ",".join(name for name in RANKED if self._is_set_up(name))

    @property
    def reuse(self) -> Reuse:
        """Return how long answers are used again."""
        return Reuse(timedelta(days=self.fresh_days), timedelta(hours=self.fresh_hours))

    def _is_set_up(self, name: str) -> bool:
        provider: ProviderSettings = getattr(self, name)
        # An empty key, as a template of settings has it, is none.
        has_key = provider.api_key is not None and bool(provider.api_key.get_secret_value())
        return bool(provider.url) and (has_key or name not in KEYED)


class IndexNowSettings(BaseModel):
    """IndexNow: one call tells Bing, Yandex, Seznam, Naver and Yep."""

    url: WebUrl = Field("https://api.indexnow.org/indexnow", description="Address that URLs are submitted to.")
    key: SecretStr | None = Field(None, description="Key of every site that has none of its own in KEYS.")
    keys: SecretStr | None = Field(
        None,
        description="Keys of sites, HOST=KEY with commas between; HOST=KEY=URL where its file is not HOST/KEY.txt.",
    )

    @property
    def is_set_up(self) -> bool:
        """Whether there is a key; an empty one, as a template of settings has it, is none."""
        return bool(self.key or self.keys)


class BingSubmitSettings(BaseModel):
    """Bing Webmaster's URL submission."""

    url: WebUrl = Field("https://ssl.bing.com/webmaster/api.svc/json", description="Address of the API.")
    api_key: SecretStr | None = Field(None, description="Key of the account at Bing Webmaster that has the sites.")

    @property
    def is_set_up(self) -> bool:
        """Whether there is a key."""
        return bool(self.api_key)


class SubmissionSettings(Section):
    """The submission family: who is told of URLs that are to be crawled; off until a key is set."""

    section = "submission"

    engines: str | None = engines_field()
    calls: int = Field(4, ge=1, description="Sites that a process submits URLs of at once.")
    tries: int = Field(4, ge=1, description="Tries of a URL whose engine can't be reached, or asks for patience.")
    wait_seconds: float = Field(
        60.0,
        gt=0,
        description="Pause before the second try, twice that before each next; or Retry-After, if longer.",
    )
    max_wait_hours: float = Field(24.0, gt=0, description="Longest such pause, whatever Retry-After says.")
    indexnow: IndexNowSettings = IndexNowSettings()
    bing_submit: BingSubmitSettings = BingSubmitSettings()

    @property
    def set_up(self) -> list[str]:
        """Return the engines that have their keys; one of another package has to be named in `engines`."""
        order = [name.strip() for name in (self.engines or "indexnow,bing_submit").split(",") if name.strip()]
        return [name for name in order if getattr(getattr(self, name, None), "is_set_up", True)]


SECTIONS = (SearchSettings, SubmissionSettings)
