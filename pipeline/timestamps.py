"""Timestamps: points in time as every document shows them, in UTC, with milliseconds and Z."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import PlainSerializer, WithJsonSchema


def timestamp(moment: datetime) -> str:
    """Return a time as ISO 8601, as in 2026-05-04T12:30:00.000Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


#: A field of a pydantic model that is shown so.
Timestamp = Annotated[datetime, PlainSerializer(timestamp), WithJsonSchema({"type": "string", "format": "date-time"})]
