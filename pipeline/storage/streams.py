"""Streams: results that are sent while they are made, part by part.

A part is an artifact; a notice in Redis only says "part n is there". A process that missed it reads the item's
checkpoint, which the worker writes with its heartbeat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from pipeline.database import Row, Statement

CHANNEL = "pressroom:parts"


class Parts(BaseModel):
    """A stream's progress: `count` parts are there, under keys made of `prefix` and their number.

    Another prefix is another run, which began from the start. It is the checkpoint of the stream's item, and in the end
    its output."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    prefix: str = ""
    count: int = Field(0, alias="parts")
    engine: str = ""
    voice: str = ""
    warning: str = ""

    def key(self, number: int) -> str:
        """Return the artifact's key of a part, numbered from 0."""
        return part_key(self.prefix, number)

    def checkpoint(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True)

    @classmethod
    def of(cls, checkpoint: Mapping[str, Any] | None) -> "Parts":
        return cls.model_validate(checkpoint or {})


def part_key(prefix: str, number: int) -> str:
    return f"{prefix}.{number:06d}"


def add_part_notice(pipe: Any, job_id: UUID, parts: Parts) -> None:
    """Add "this many parts are there" to a Redis pipeline, sync or async."""
    # One word for all: an API process of a release before voices reads three words, the last being the prefix.
    told = (parts.engine, *(quote(text, safe="") for text in (parts.voice, parts.warning)))
    speaker = "/".join(told).rstrip("/")
    pipe.publish(CHANNEL, job_id.bytes + f"{parts.count} {speaker} {parts.prefix}".encode())


def read_part_notice(payload: bytes) -> tuple[UUID, Parts]:
    """Return the number of parts of each stream."""
    count, speaker, prefix = payload[16:].decode().split(" ", 2)
    engine, voice, warning = (*map(unquote, speaker.split("/")), "", "")[:3]
    parts = Parts(prefix=prefix, count=int(count), engine=engine, voice=voice, warning=warning)
    return UUID(bytes=payload[:16]), parts


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """How far a stream is, and whether its job has ended."""

    parts: Parts
    has_ended: bool


def find_progress(job_ids: Sequence[UUID]) -> Statement[dict[UUID, StreamProgress]]:
    """Read how far streams are."""

    def read(rows: list[Row]) -> dict[UUID, StreamProgress]:
        return {row["job_id"]: StreamProgress(Parts.of(row["checkpoint"]), row["has_ended"]) for row in rows}

    return Statement(
        "SELECT i.job_id, i.checkpoint, j.finished_at IS NOT NULL AS has_ended"
        " FROM item i JOIN job j ON j.id = i.job_id WHERE i.job_id = ANY(%(ids)s)",
        {"ids": list(job_ids)},
        read,
    )
