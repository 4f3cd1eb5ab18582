"""Settings: every number and address that an operator may change, from PRESSROOM_… variables and `pressroom.toml`.

Levels are joined by two underscores: `PRESSROOM_API__PORT=9000` sets `settings.api.port`, as does `port = 9000` under
`[api]` in the file."""

import os
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, cast

from pydantic import AliasChoices, BaseModel, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from pipeline.errors import NotReady
from pipeline.settings.contradictions import check
from pipeline.settings.endpoints import Endpoints
from pipeline.settings.fields import FetchSettings, ModelsSettings, Networks, Section, WebUrl
from pipeline.settings.sections import complete
from pipeline.settings.settings_sources import check_environment, read_config

DSN_WRONG = (
    "it is not a PostgreSQL address, such as postgresql://user:password@host:5432/name; write special characters of "
    "the password as %XX"
)
REDIS_URL_WRONG = (
    "it is not a Redis address, such as redis://:password@host:6379/0; write special characters of the password as %XX"
)


S = TypeVar("S", bound=Section)


class TierLimits(BaseModel):
    """Requests that an account of a tier may make (0: no limit), and jobs that it may keep past expiry."""

    per_day: int = Field(ge=0)
    per_minute: int = Field(ge=0)
    kept_jobs: int = Field(20, ge=0)


class ApiSettings(BaseModel):
    """The HTTP service."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65_535, description="Port to listen on.")
    processes: int = Field(2, ge=1, description="API processes.")
    public_url: str | None = Field(
        None, pattern=r"^https?://[^\s?#]+$", description="Base URL of links to files; by default the request's own."
    )
    trusted_proxies: Networks = Field(
        "", description="CIDRs, separated by commas, whose X-Forwarded-For, -Proto and -Host are believed."
    )
    cors_origins: str = Field(
        "",
        pattern=r"^$|^\s*(\*|https?://[^\s/,*]+)(\s*,\s*(\*|https?://[^\s/,*]+))*\s*$",
        description="Origins of pages, such as https://example.org, that may use the API with a key; * for all.",
    )
    compress_from_bytes: int = Field(
        1_024, ge=0, description="JSON of this size and more is compressed for who takes gzip; 0: never."
    )
    max_json_bytes: int = Field(2**20, ge=1, description="Largest JSON body.")
    max_upload_bytes: int = Field(25 * 2**20, ge=1, description="Largest uploaded file.")
    max_drained_bytes: int = Field(64_000_000, ge=0, description="A refused body is read and dropped up to this size.")
    max_waiting: int = Field(5_000, ge=0, description="Requests that may wait at once in a process.")
    database_connections: int = Field(8, ge=1, description="Database connections of a process.")
    offers_max_age_seconds: float = Field(
        5.0, ge=0, description="Age at which a process renews its copy of the offers."
    )
    key_max_age_seconds: float = Field(
        3.0, ge=0, le=5.0, description="How long a process trusts a key it has looked up."
    )
    header_seconds: float = Field(10.0, gt=0, description="Longest wait for the head of a request.")
    unread_seconds: float = Field(
        120.0, gt=0, description="How long a connection is kept whose client reads nothing of its answer."
    )
    connections_per_address: int = Field(
        256,
        ge=0,
        description="Most connections from one address to one process; this machine and trusted proxies are exempt."
        " 0: no limit.",
    )
    keep_alive_seconds: int = Field(
        75, ge=1, description="How long an idle connection is kept; a load balancer must drop its own earlier."
    )
    drain_seconds: int = Field(10, ge=0, description="Time that requests in flight have to end when a process stops.")


class DashboardSettings(BaseModel):
    """Sign-in at the dashboard."""

    session_idle_hours: float = Field(24, gt=0, description="A session that is not used for so long ends.")
    session_days: float = Field(14, gt=0, description="Longest time that a session lasts.")
    sign_in_link_hours: float = Field(24, gt=0, description="How long a sign-in link can be used.")
    invitation_days: float = Field(7, gt=0, description="How long an invitation to an account can be accepted.")
    sign_ins_per_minute: int = Field(
        10, ge=1, description="Sign-ins that an address, or an e-mail, may try in a minute."
    )
    sign_ins_per_day: int = Field(200, ge=1, description="The same in a UTC day.")


class OidcSettings(BaseModel):
    """Sign-in at the dashboard by an OpenID provider."""

    issuer: WebUrl | None = Field(None, description="The provider's issuer, as it writes it; by default there is none.")
    client_id: str | None = Field(None, description="The client that was registered there.")
    client_secret: SecretStr | None = Field(None, description="Its secret.")
    name: str = Field("single sign-on", min_length=1, max_length=40, description="Sign in with ..., says its button.")
    trusted_domains: str = Field(
        "", description="Domains, separated by commas, whose verified e-mail addresses it may link with people here."
    )
    allow_networks: Networks = Field(
        "", description="CIDRs, separated by commas, where it may be although they are private, on any port."
    )


class LimitSettings(BaseModel):
    """Rate limits and other upper bounds of an account."""

    free: TierLimits = TierLimits(per_day=100, per_minute=10)
    pro: TierLimits = TierLimits(per_day=10_000, per_minute=120, kept_jobs=1_000)
    enterprise: TierLimits = TierLimits(per_day=0, per_minute=600, kept_jobs=10_000)
    invalid_keys_per_minute: int = Field(20, ge=1, description="Invalid keys an address may send in a minute.")
    open_items: int = Field(100_000, ge=1, description="Items of an account that may be unfinished at once.")
    idempotency_hours: int = Field(24, ge=1, description="How long an Idempotency-Key is remembered.")
    api_keys: int = Field(100, ge=1, description="Valid API keys of an account.")


class WorkSettings(BaseModel):
    """Leases, rounds and deadlines."""

    lease_seconds: int = Field(30, gt=0, description="An item not heard of for so long is taken from its worker.")
    heartbeat_seconds: float = Field(1.0, gt=0, description="How often a worker renews its leases and writes progress.")
    drain_seconds: int = Field(20, ge=0, description="Time that a stopping worker has to finish what it holds.")
    oldest_first_every: int = Field(
        16, ge=1, description="Every so many claims take the oldest item, whatever its round."
    )
    deadline_hours: float = Field(1.0, gt=0, description="A job not finished by then expires.")
    sweep_seconds: float = Field(1.0, gt=0, description="Pause between two sweeps.")
    rest_minutes: float = Field(
        15.0,
        gt=0,
        description="Under `pressroom up`, a process that models made large starts anew when it rests.",
    )
    upload_orphan_minutes: int = Field(60, ge=0, description="An upload without a job is deleted after so long.")


class UploadSettings(BaseModel):
    """Resumable uploads."""

    max_bytes: int = Field(2 * 2**30, ge=1, description="Largest file.")
    account_bytes: int = Field(8 * 2**30, ge=1, description="Most bytes of an account's uploads, until their jobs end.")
    expire_minutes: float = Field(60.0, gt=0, description="An upload without progress is deleted after so long.")


class RetentionSettings(BaseModel):
    """How long finished work is kept."""

    result_hours: float = Field(24, gt=0, description="Results and submitted texts.")
    summary_days: float = Field(90, gt=0, description="A job's summary row.")
    sample_days: float = Field(7, gt=0, le=90, description="How queues were, one row a queue and minute.")
    function_days: float = Field(
        30, gt=0, description="The database's functions of another version, once no process uses them."
    )
    delivery_days: float = Field(30, gt=0, description="Deliveries to webhooks.")
    audit_days: float = Field(400, gt=0, description="Accounts' logs of what people and keys have done.")


class WebhookSettings(BaseModel):
    """How events are sent to users' addresses."""

    timeout_seconds: float = Field(15.0, gt=0, description="Longest wait for a webhook's answer.")
    retry_hours: float = Field(24.0, ge=0, description="How long an event is sent again that was not taken.")
    at_once: int = Field(64, ge=1, description="Events that a sweep sends at once.")
    at_once_per_account: int = Field(16, ge=1, description="Events of one account at once, by all sweeps together.")
    at_once_per_host: int = Field(4, ge=1, description="Events to one host at once, by all sweeps together.")
    secret_overlap_hours: float = Field(24.0, ge=0, description="How long the secret before a new one signs as well.")


class MailSettings(BaseModel):
    """The SMTP server that sends notices; without a host none are sent. Needs PRESSROOM_API__PUBLIC_URL, for links."""

    host: str | None = Field(None, description="Name of the SMTP server.")
    port: int = Field(587, ge=1, le=65_535, description="Its port.")
    security: Literal["starttls", "tls", "none"] = Field("starttls", description="How the connection is encrypted.")
    user: str | None = Field(None, description="User name at the server.")
    password: SecretStr | None = Field(None, description="Password at the server.")
    sender: str | None = Field(
        None, pattern=r"^[^\r\n]*[^@\s]+@[^@\s]+$", description="From: Pressroom <pressroom@example.org>."
    )
    timeout_seconds: float = Field(20.0, gt=0, description="Longest wait for each of the server's answers.")
    ca_file: Path | None = Field(None, description="Certificates that the server's is checked with, in PEM.")


class TracingSettings(BaseModel):
    """OpenTelemetry traces, one from each request to its result."""

    endpoint: WebUrl | None = Field(None, description="Where spans are sent by OTLP: http://collector:4318/v1/traces.")
    share: float = Field(1.0, ge=0, le=1, description="Share of the requests that are traced.")


class StoreSettings(BaseModel):
    """Where artifacts are kept."""

    url: str | None = Field(
        None,
        pattern="^(s3://[^/]|file://|[^:]*$)",
        description="s3://bucket/prefix, or a folder; by default DATA/artifacts.",
    )
    endpoint: WebUrl | None = Field(None, description="Address of an S3-compatible server.")
    access_key_id: str | None = Field(None, description="S3 access key.")
    secret_access_key: SecretStr | None = Field(None, description="S3 secret key.")
    region: str | None = Field(None, description="S3 region.")
    silence_seconds: float = Field(
        10.0, gt=0, description="Longest silence of an S3 store in a request, which is then sent again."
    )


class MarkSettings(BaseModel):
    """How made files are marked and signed."""

    enabled: bool = Field(True, description="Mark sounds and pictures as made by a machine.")
    certificate: Path | None = Field(
        None, description="The signer's certificates in PEM, its own first; by default one made at first use."
    )
    key: Path | None = Field(None, description="The signer's key in PEM: ECDSA on P-256, without a password.")


class DatabaseSettings(BaseModel):
    """How PostgreSQL is used."""

    prepare: bool = Field(True, description="Prepare statements; false behind a PgBouncer older than 1.21.")


class Settings(BaseSettings):
    """Everything that can be set; `pressroom settings` lists it."""

    model_config = SettingsConfigDict(
        env_prefix="PRESSROOM_",
        env_nested_delimiter="__",
        # Templates and compose files have empty values for what is not set.
        env_ignore_empty=True,
        extra="ignore",
        populate_by_name=True,
        # One number of a tier can be set without the other.
        nested_model_default_partial_update=True,
    )

    data: Path = Field(Path(".pressroom"), description="Folder of an embedded system's data.")
    database_url: str | None = Field(
        None,
        pattern="^postgres(ql)?://",
        validation_alias=AliasChoices("DATABASE_URL", "PRESSROOM_DATABASE_URL"),
        description="PostgreSQL to use; by default an embedded one in DATA.",
    )
    redis_url: str | None = Field(
        None,
        pattern="^(rediss?|unix)://",
        validation_alias=AliasChoices("REDIS_URL", "PRESSROOM_REDIS_URL"),
        description="Redis to use; by default an embedded one in DATA.",
    )
    secrets_key: SecretStr | None = Field(
        None, description="Key of stored credentials, on all machines the same; by default one kept in DATA."
    )
    kinds: str = Field("", description="More kinds, as package.module:Class, separated by commas.")
    ffmpeg: str | None = Field(None, description="Another ffmpeg (6 or newer); by default that of imageio-ffmpeg.")
    log_level: str = Field(
        "INFO", pattern="^(?i:debug|info|warning|error)$", description="DEBUG, INFO, WARNING or ERROR."
    )
    small: bool = Field(
        False, description="Save memory, as `pressroom up --small` does: models are loaded on use, and left when idle."
    )
    log_format: Literal["auto", "json", "text"] = Field("auto", description="auto: text on a terminal, else JSON.")
    api: ApiSettings = ApiSettings()
    dashboard: DashboardSettings = DashboardSettings()
    oidc: OidcSettings = OidcSettings()
    limits: LimitSettings = LimitSettings()
    work: WorkSettings = WorkSettings()
    retention: RetentionSettings = RetentionSettings()
    uploads: UploadSettings = UploadSettings()
    webhooks: WebhookSettings = WebhookSettings()
    mail: MailSettings = MailSettings()
    store: StoreSettings = StoreSettings()
    database: DatabaseSettings = DatabaseSettings()
    tracing: TracingSettings = TracingSettings()
    fetch: FetchSettings = FetchSettings()
    models: ModelsSettings = ModelsSettings()
    marks: MarkSettings = MarkSettings()
    endpoints: Endpoints = {}

    @field_validator("database_url")
    @classmethod
    def _is_dsn(cls, url: str | None) -> str | None:
        """Raise ValueError for what libpq can't read; its own message would show a part of the password."""
        if url is not None:
            from psycopg import ProgrammingError
            from psycopg.conninfo import conninfo_to_dict

            try:
                conninfo_to_dict(url)
            except ProgrammingError:
                raise ValueError(DSN_WRONG) from None
        return url

    @field_validator("redis_url")
    @classmethod
    def _is_redis_url(cls, url: str | None) -> str | None:
        """Raise ValueError for what redis-py can't read."""
        if url is not None:
            from redis.connection import parse_url

            try:
                parse_url(url)  # type: ignore[no-untyped-call]
            except ValueError:
                raise ValueError(REDIS_URL_WRONG) from None
        return url

    @model_validator(mode="after")
    def _agree(self) -> Self:
        """Raise InvalidSetting for settings that contradict each other."""
        check(self)
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the environment, then the file. Raises InvalidSetting for a name that is not a setting."""
        check_environment(settings_cls, os.environ)
        return init_settings, env_settings, InitSettingsSource(settings_cls, read_config(settings_cls))

    def __new__(cls, *args: Any, **values: Any) -> Self:
        """Return settings that have the sections of all capabilities as well."""
        return cast("Self", super().__new__(complete(cls)))

    def of(self, section: type[S]) -> S:
        """Return the settings of a family, or what a capability has added to a section of the core."""
        return cast("S", getattr(self, section.section))

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
