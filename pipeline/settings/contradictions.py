"""Contradictions: settings that are right by themselves, and can't be obeyed together."""

import math
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from pipeline.errors import InvalidSetting

#: A lease outlasts as many heartbeats, or one that comes a little late loses the work.
BEATS_PER_LEASE = 2
#: Days for each unit of the settings that must not exceed the summary's.
KEPT = {"result_hours": 1 / 24, "picture_days": 1.0, "index_days": 1.0}


def check(settings: Any) -> None:
    """Raise InvalidSetting for a number that is none, or the first pair of settings that contradict each other."""
    for name, value in _numbers(settings):
        if not math.isfinite(value):
            raise InvalidSetting(f"{_variable(name)} is {value}. Give it a number.")
    work, store = settings.work, settings.store
    if work.lease_seconds < BEATS_PER_LEASE * work.heartbeat_seconds:
        raise InvalidSetting(
            f"PRESSROOM_WORK__HEARTBEAT_SECONDS is {work.heartbeat_seconds:g} and PRESSROOM_WORK__LEASE_SECONDS"
            f" {work.lease_seconds}: leases would run out between heartbeats. Set the heartbeat to"
            f" {work.lease_seconds / BEATS_PER_LEASE:g} at most."
        )
    for name, days in KEPT.items():
        kept = getattr(settings.retention, name) * days
        if kept > settings.retention.summary_days:
            raise InvalidSetting(
                f"{_variable(f'retention.{name}')} is longer than PRESSROOM_RETENTION__SUMMARY_DAYS"
                f" ({settings.retention.summary_days:g} days), after which the job itself is gone."
            )
    if (store.access_key_id is None) != (store.secret_access_key is None):
        raise InvalidSetting(
            "Set both PRESSROOM_STORE__ACCESS_KEY_ID and PRESSROOM_STORE__SECRET_ACCESS_KEY, or neither."
        )
    if (settings.marks.certificate is None) != (settings.marks.key is None):
        raise InvalidSetting("Set both PRESSROOM_MARKS__CERTIFICATE and PRESSROOM_MARKS__KEY, or neither.")
    oidc = settings.oidc
    if (oidc.issuer is None) != (oidc.client_id is None):
        raise InvalidSetting("Set both PRESSROOM_OIDC__ISSUER and PRESSROOM_OIDC__CLIENT_ID, or neither.")
    if oidc.issuer and oidc.issuer.startswith("http:") and not oidc.allow_networks:
        raise InvalidSetting(
            f"PRESSROOM_OIDC__ISSUER is {oidc.issuer}. Use https: http is for PRESSROOM_OIDC__ALLOW_NETWORKS alone."
        )
    if settings.mail.host and not (settings.mail.sender and settings.api.public_url):
        raise InvalidSetting(
            "PRESSROOM_MAIL__HOST is set. Mails also need PRESSROOM_MAIL__SENDER and PRESSROOM_API__PUBLIC_URL."
        )
    if store.endpoint and not (store.url or "").startswith("s3://"):
        raise InvalidSetting("PRESSROOM_STORE__ENDPOINT is set, but PRESSROOM_STORE__URL is not an s3:// address.")


def _numbers(model: BaseModel, above: str = "") -> Iterator[tuple[str, float]]:
    for name, value in model:
        if isinstance(value, BaseModel):
            yield from _numbers(value, f"{above}{name}.")
        elif isinstance(value, float):
            yield f"{above}{name}", value


def _variable(name: str) -> str:
    return "PRESSROOM_" + name.replace(".", "__").upper()
