"""Preferences: the headers Prefer and Idempotency-Key."""

import re
from dataclasses import dataclass
from datetime import timedelta

import falcon.asgi

from pipeline.accounts.keys import PREFIX
from pipeline.errors import InvalidRequest

#: An Idempotency-Key: printable ASCII.
IDEMPOTENCY_KEY = re.compile(r"[\x20-\x7e]{1,255}")
WAIT = re.compile(r"wait\s*=\s*\"?(\d{1,9})\"?")


class PreferInvalid(InvalidRequest):
    """The header Prefer names no number of seconds."""

    code = "prefer_invalid"
    field = "Prefer"
    message = "Prefer: wait=N takes whole seconds, as in wait=30."


@dataclass(frozen=True, slots=True)
class Preference:
    """How long a client waits; None means until the job ends. `applied` is the answer's Preference-Applied."""

    patience: timedelta | None = None
    applied: str = ""

    @property
    def is_immediate(self) -> bool:
        """Return whether the client does not wait at all."""
        return self.patience is not None and not self.patience


def read_preference(req: falcon.asgi.Request) -> Preference:
    """Return the preference in `Prefer` (RFC 7240), without unknown ones. Raises PreferInvalid."""
    header = req.get_header("Prefer")
    if header is None:
        return Preference()
    # Parameters after a semicolon are ignored; none is defined here.
    preferences = [preference.partition(";")[0].strip().lower() for preference in header.split(",")]
    for preference in preferences:
        if preference.partition("=")[0].strip() == "wait":
            found = WAIT.fullmatch(preference)
            if found is None:
                raise PreferInvalid
            return Preference(timedelta(seconds=int(found[1])), f"wait={found[1]}")
    if "respond-async" in preferences:
        return Preference(timedelta(), "respond-async")
    return Preference()


def read_idempotency_key(req: falcon.asgi.Request) -> str | None:
    """Return the Idempotency-Key. Raises InvalidRequest."""
    key = req.get_header("Idempotency-Key")
    if key is None:
        return None
    if not IDEMPOTENCY_KEY.fullmatch(key) or PREFIX in key:
        raise InvalidRequest(
            "An Idempotency-Key has 1 to 255 printable ASCII characters, and no API key in it.",
            code="idempotency_key_invalid",
            field="Idempotency-Key",
        )
    return key
