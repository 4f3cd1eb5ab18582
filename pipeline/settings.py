"""Settings: every number and address that an operator may change, read from PRESSROOM_… environment variables.

Levels are joined by two underscores: `PRESSROOM_API__PORT=9000` sets `settings.api.port`.
"""

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, BaseModel, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from pipeline.errors import NotReady


class TierLimits(BaseModel):
    """How many requests an account of a tier may make; 0 is no limit."""

    per_day: int
    per_minute: int


class ApiSettings(BaseModel):
    """The HTTP service."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, description="Port to listen on.")
    processes: int = Field(2, ge=1, description="API processes.")
    public_url: str | None = Field(None, description="Base URL of links to files, which come with a later release.")
    trusted_proxies: str = Field("", description="CIDRs, separated by commas, whose X-Forwarded-For is believed.")
    max_json_bytes: int = Field(2**20, description="Largest JSON body.")
    max_upload_bytes: int = Field(25 * 2**20, description="Largest uploaded file.")
    max_drained_bytes: int = Field(64_000_000, description="A refused body is read and dropped up to this size.")
    max_waiting: int = Field(5_000, description="Requests that may wait at once in a process.")
    database_connections: int = Field(8, ge=1, description="Database connections of a process.")
    offers_max_age_seconds: float = Field(5.0, description="How old a process's copy of the offers may be.")
    key_max_age_seconds: float = Field(3.0, le=5.0, description="How long a process trusts a key it has looked up.")
    drain_seconds: int = Field(10, description="Time that requests in flight have to end when a process stops.")


class LimitSettings(BaseModel):
    """Rate limits and other upper bounds of an account."""

    free: TierLimits = TierLimits(per_day=100, per_minute=10)
    pro: TierLimits = TierLimits(per_day=10_000, per_minute=120)
    enterprise: TierLimits = TierLimits(per_day=0, per_minute=600)
    invalid_keys_per_minute: int = Field(20, description="Invalid keys an address may send in a minute.")
    open_items: int = Field(100_000, description="Items of an account that may be unfinished at once.")
    idempotency_hours: int = Field(24, description="How long an Idempotency-Key is remembered.")


class WorkSettings(BaseModel):
    """Leases, rounds and deadlines."""

    lease_seconds: int = Field(30, description="An item not heard of for so long is taken from its worker.")
    heartbeat_seconds: float = Field(1.0, description="How often a worker renews its leases and writes progress.")
    drain_seconds: int = Field(20, description="Time that a stopping worker has to finish what it holds.")
    oldest_first_every: int = Field(
        16, ge=1, description="Every so many claims take the oldest item, whatever its round."
    )
    deadline_hours: float = Field(1.0, description="A job not finished by then expires (index jobs: 7 days).")
    sweep_seconds: float = Field(1.0, description="Pause between two sweeps.")
    upload_orphan_minutes: int = Field(60, description="An upload without a job is deleted after so long.")


class RetentionSettings(BaseModel):
    """How long finished work is kept."""

    result_hours: float = Field(24, description="Results and submitted texts.")
    summary_days: float = Field(90, description="A job's summary row.")


class StoreSettings(BaseModel):
    """Where artifacts are kept."""

    url: str | None = Field(None, description="s3://bucket/prefix, or a folder; by default DATA/artifacts.")
    endpoint: str | None = Field(None, description="Address of an S3-compatible server.")
    access_key_id: str | None = Field(None, description="S3 access key.")
    secret_access_key: SecretStr | None = Field(None, description="S3 secret key.")
    region: str | None = Field(None, description="S3 region.")


class DatabaseSettings(BaseModel):
    """How PostgreSQL is used."""

    prepare: bool = Field(True, description="Prepare statements; false behind a PgBouncer older than 1.21.")


class EdgeSettings(BaseModel):
    """The edge engine: the speech service of Microsoft's browser."""

    url: str | None = Field(None, description="Address of the service (ws or wss); by default Microsoft's.")
    voices_url: str | None = Field(None, description="Address of its list of voices; by default Microsoft's.")
    connections: int = Field(4, ge=1, description="Connections at once of a process; the service refuses hundreds.")
    connect_seconds: int = Field(10, ge=1, description="Longest wait for a connection.")
    stall_seconds: float = Field(15.0, gt=0, description="Longest wait for the next message.")
    limit_seconds: float = Field(60.0, gt=0, description="Longest wait for 1,000 characters, or less, in all.")
    pause_seconds: float = Field(300.0, gt=0, description="After a failure the service is left alone for so long.")


class SynthesisSettings(BaseModel):
    """The synthesis family."""

    engines: str = Field(
        "edge,espeak",
        description="Engines in order of preference, separated by commas; espeak alone keeps texts on this machine.",
    )
    slots: int = Field(24, ge=1, description="Texts that a process works on at once, chunk by chunk in turn.")
    edge: EdgeSettings = EdgeSettings()
    max_recording_minutes: int = Field(60, description="Longest recording that /tts/add-music takes.")


class ProviderSettings(BaseModel):
    """A search provider."""

    url: str | None = Field(None, description="Address that is asked.")
    api_key: SecretStr | None = Field(None, description="Key, for those that want one.")
    interval_seconds: float = Field(6.0, ge=0, description="Mean time between two queries; 0: no pacing.")
    jitter: float = Field(0.5, ge=0, le=1, description="How far an interval may differ from the mean, as a share.")


def _provider(url: str | None, interval: float, jitter: float = 0.0) -> ProviderSettings:
    return ProviderSettings(url=url, interval_seconds=interval, jitter=jitter)


class SearchSettings(BaseModel):
    """The search family: which providers are asked, how often, and what is made of their answers."""

    providers: str = Field("", description="Providers in order of preference; by default the first that is set up.")
    slots: int = Field(8, ge=1, description="URLs that a process checks at once.")
    user_agent: str = Field("Mozilla/5.0 (compatible; Pressroom/0.1)", description="Who we say that we are.")
    connect_seconds: float = Field(10.0, gt=0, description="Longest wait for a connection.")
    limit_seconds: float = Field(30.0, gt=0, description="Longest wait for an answer, in all.")
    max_page_bytes: int = Field(4 * 2**20, description="Largest page that is read.")
    tries: int = Field(3, ge=1, description="Tries after a lost connection or a server's error.")
    unreachable_seconds: float = Field(15.0, ge=0, description="How long one that can't be reached is left alone.")
    rounds: int = Field(3, ge=1, description="A URL blocked so often has failed.")
    fresh_days: float = Field(7.0, ge=0, description="An answer is used again for so long; 0: never.")
    accept_variants: bool = Field(False, description="Take a mobile, AMP or upper-case variant for a match.")
    captcha_minutes: str = Field("15,60,360,1440", description="How long a provider rests after a captcha, each time.")
    throttle_minutes: str = Field("5,15,60", description="How long it rests after HTTP 429, each time.")
    max_rest_hours: float = Field(24.0, gt=0, description="Longest rest, whatever Retry-After says.")
    strikes: int = Field(3, ge=1, description="So many unusable pages in a row put a provider out of use.")
    off_minutes: float = Field(60.0, gt=0, description="How long it, or one with a bad key, is out of use.")
    duckduckgo: ProviderSettings = _provider("https://html.duckduckgo.com/html/", 6.0, 0.5)
    bing: ProviderSettings = _provider("https://www.bing.com/search", 6.0, 0.5)
    google: ProviderSettings = _provider("https://www.google.com/search", 45.0, 0.3)
    searxng: ProviderSettings = _provider(None, 3.0)
    brave_api: ProviderSettings = _provider("https://api.search.brave.com/res/v1/web/search", 0.2)
    serper: ProviderSettings = _provider("https://google.serper.dev/search", 0.1)
    serpapi: ProviderSettings = _provider("https://serpapi.com/search.json", 0.1)

    @property
    def engines(self) -> str:
        """Return the providers in order: as set, or else an API with a key, or one's own SearXNG, or the free ones."""
        if self.providers:
            return self.providers
        for name in ("brave_api", "serper", "serpapi"):
            if getattr(self, name).api_key is not None:
                return name
        return "searxng" if self.searxng.url else "duckduckgo,bing"


class Settings(BaseSettings):
    """Everything that can be set; `pressroom settings` lists it."""

    model_config = SettingsConfigDict(
        env_prefix="PRESSROOM_",
        env_nested_delimiter="__",
        extra="ignore",
        populate_by_name=True,
        # One number of a tier can be set without the other.
        nested_model_default_partial_update=True,
    )

    data: Path = Field(Path(".pressroom"), description="Folder of an embedded system's data.")
    database_url: str | None = Field(
        None,
        validation_alias=AliasChoices("DATABASE_URL", "PRESSROOM_DATABASE_URL"),
        description="PostgreSQL to use; by default an embedded one in DATA.",
    )
    redis_url: str | None = Field(
        None,
        validation_alias=AliasChoices("REDIS_URL", "PRESSROOM_REDIS_URL"),
        description="Redis to use; by default an embedded one in DATA.",
    )
    kinds: str = Field("", description="More kinds, as package.module:Class, separated by commas.")
    ffmpeg: str | None = Field(None, description="Another ffmpeg (6 or newer); by default that of imageio-ffmpeg.")
    log_level: str = Field("INFO", description="DEBUG, INFO, WARNING or ERROR.")
    log_format: Literal["auto", "json", "text"] = Field("auto", description="auto: text on a terminal, else JSON.")
    api: ApiSettings = ApiSettings()
    limits: LimitSettings = LimitSettings()
    work: WorkSettings = WorkSettings()
    retention: RetentionSettings = RetentionSettings()
    store: StoreSettings = StoreSettings()
    database: DatabaseSettings = DatabaseSettings()
    synthesis: SynthesisSettings = SynthesisSettings()
    search: SearchSettings = SearchSettings()

    def server_urls(self) -> tuple[str, str]:
        """Return the addresses of PostgreSQL and Redis, for processes that need both. Raises NotReady."""
        if self.database_url is None or self.redis_url is None:
            missing = " and ".join(
                name
                for name, url in (("DATABASE_URL", self.database_url), ("REDIS_URL", self.redis_url))
                if url is None
            )
            raise NotReady(f"{missing} not set. Set it, or start everything with `pressroom up`.")
        return self.database_url, self.redis_url
