"""Sites: where an account publishes, and what was proposed and written there."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Identity,
    Index,
    LargeBinary,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlmodel import Field

from models.columns import Row, document, moment, one_of

#: The steps of a run that the sweep works on; the others wait for a person, or have ended.
WORKING = ("finding", "proposing", "writing", "undoing")
#: Those of a run that may still write.
OPEN = ("finding", "proposing", "review", "writing")
RUN_STATES = (*WORKING, "review", "done", "undone")
#: `conflict`: somebody else's edit stands there. `gone`: the object was deleted. `skipped`: a person decided so.
CHANGE_STATES = (
    "found",
    "proposed",
    "accepted",
    "writing",
    "written",
    "undone",
    "skipped",
    "conflict",
    "gone",
    "failed",
)


def _owned_by(table: str, **options: Any) -> Column[Any]:
    return Column(Uuid, ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=False, **options)


class SiteRow(Row, table=True):
    """A site that an account publishes on."""

    __table_args__ = (UniqueConstraint("account_id", "name"),)

    id: UUID = Field(primary_key=True)
    account_id: UUID = Field(foreign_key="account.id")
    name: str
    connector: str  # wordpress, or feed
    url: str
    credentials: bytes | None = Field(sa_column=Column(LargeBinary))  # encrypted (pipeline/accounts/secret_box.py)
    facts: dict[str, Any] = Field(sa_column=document(nullable=False))  # what was looked up: title, user, abilities
    watch: dict[str, Any] | None = Field(sa_column=document())  # what new posts get; null: it is not watched
    watched: dict[str, Any] | None = Field(sa_column=document())  # how far the watch has come
    watch_at: datetime | None = Field(sa_column=moment(nullable=True))  # when it is looked at next
    created_at: datetime = Field(sa_column=moment(now=True))


class SiteRunRow(Row, table=True):
    """One time that texts, or other parts of posts, are proposed for a site, reviewed, written and perhaps undone."""

    __table_args__ = (
        CheckConstraint(one_of("state", RUN_STATES), name="site_run_state_check"),
        Index("site_run_site_idx", "site_id", "created_at"),
        # A command that is repeated goes on with the run that it finds.
        Index("site_run_open_idx", "site_id", "task", unique=True, postgresql_where=text(one_of("state", OPEN))),
        Index("site_run_due_idx", "due_at", postgresql_where=text(f"fault IS NULL AND {one_of('state', WORKING)}")),
    )

    id: UUID = Field(primary_key=True)
    site_id: UUID = Field(sa_column=_owned_by("site"))
    task: str  # alt_text or posts
    options: dict[str, Any] = Field(sa_column=document(nullable=False))
    state: str = Field(sa_column_kwargs={"server_default": text("'finding'")})
    fault: str | None  # why it stopped; it goes on when somebody asks for it
    due_at: datetime = Field(sa_column=moment(now=True))  # when the sweep takes it next; a lost claim ends then
    created_at: datetime = Field(sa_column=moment(now=True))
    finished_at: datetime | None = Field(sa_column=moment(nullable=True))


class SiteChangeRow(Row, table=True):
    """One field of one object of a site: what stood there, what is proposed, and what was written."""

    __table_args__ = (
        CheckConstraint(one_of("state", CHANGE_STATES), name="site_change_state_check"),
        UniqueConstraint("run_id", "target", "field"),
        Index("site_change_job_idx", "job_id", postgresql_where=text("state = 'found' AND job_id IS NOT NULL")),
        # Podcasts are looked up by it each second.
        Index("site_change_audio_idx", "run_id", postgresql_where=text("field = 'audio' AND state = 'written'")),
        # An episode shows what was written to its post by any run.
        Index(
            "site_change_part_idx",
            "target",
            "field",
            postgresql_where=text("field IN ('excerpt', 'cover') AND state = 'written'"),
        ),
    )

    id: int = Field(sa_column=Column(BigInteger, Identity(always=True), primary_key=True))
    run_id: UUID = Field(sa_column=_owned_by("site_run"))
    target: str  # the object, as its connector names it: media/12, posts/7
    field: str
    about: dict[str, Any] = Field(
        sa_column=document(nullable=False)
    )  # to show, and for the model: names, URLs, context
    state: str = Field(sa_column_kwargs={"server_default": text("'found'")})
    job_id: UUID | None  # the job that makes the proposal, and the place of its item
    job_index: int | None
    confidence: float | None = Field(sa_column=Column(Float))
    draft: bool = Field(sa_column_kwargs={"server_default": text("false")})
    before: Any = Field(sa_column=document())
    proposed: Any = Field(sa_column=document())
    written: Any = Field(sa_column=document())
    note: str | None  # why it was not written, or what stands there instead
    updated_at: datetime = Field(sa_column=moment(now=True))


class SitePostRow(Row, table=True):
    """A post that was published while its site was watched, on its way to a search engine's list."""

    __table_args__ = (
        UniqueConstraint("site_id", "target"),
        Index("site_post_open_idx", "site_id", postgresql_where=text("done_at IS NULL")),
    )

    id: int = Field(sa_column=Column(BigInteger, Identity(always=True), primary_key=True))
    site_id: UUID = Field(sa_column=_owned_by("site"))
    target: str
    url: str
    title: str
    runs: list[str] = Field(sa_column=document(nullable=False))  # those that give it what was chosen
    submission_id: UUID | None  # the job that told search engines
    monitor_id: UUID | None  # what checks it until it is found; the user may have deleted it
    seen_at: datetime = Field(sa_column=moment(now=True))
    done_at: datetime | None = Field(sa_column=moment(nullable=True))  # when its runs had ended


class SiteFeedRow(Row, table=True):
    """The podcast of a site's spoken posts."""

    site_id: UUID = Field(
        sa_column=Column(Uuid, ForeignKey("site.id", ondelete="CASCADE"), primary_key=True, nullable=False)
    )
    token: str | None = Field(unique=True)  # in its address; null: it was ended
    guid: UUID  # stays when the address changes
    options: dict[str, Any] = Field(sa_column=document(nullable=False))  # category, image
    created_at: datetime = Field(sa_column=moment(now=True))


class SiteEpisodeRow(Row, table=True):
    """An episode: the copy of a post's audio that lives as long as the feed."""

    id: UUID = Field(primary_key=True)
    change_id: int = Field(
        sa_column=Column(BigInteger, ForeignKey("site_change.id", ondelete="CASCADE"), nullable=False, unique=True)
    )
    audio_bytes: int | None = Field(sa_column=Column(BigInteger))  # null: it is not copied yet
    cover: str | None  # the name of its picture's file
    created_at: datetime = Field(sa_column=moment(now=True))
