"""TOTP: codes of an authenticator app (RFC 6238), six digits each half minute, each good once."""

import time
from dataclasses import dataclass
from uuid import UUID

from pyotp import TOTP, random_base32
from pyotp.utils import strings_equal

from pipeline.database import SQL, Statement, row_of

#: The name that apps show above the code.
ISSUER = "Pressroom"
#: Time steps before and after the present one whose codes are taken, for clocks that differ (RFC 6238, section 5.2).
TOLERANCE = (0, -1, 1)


@dataclass(frozen=True, slots=True)
class Totp:
    """A person's authenticator app; `secret` is encrypted."""

    secret: bytes
    is_confirmed: bool


def new_secret() -> str:
    """Return a new secret in Base32: 160 bits."""
    return random_base32()


def enrolment_uri(secret: str, name: str) -> str:
    """Return the address that apps read from a picture."""
    return TOTP(secret).provisioning_uri(name=name, issuer_name=ISSUER)


def step_of(secret: str, code: str) -> int | None:
    """Return the time step that a code is of, now or a step beside; None where it is of none."""
    totp = TOTP(secret)
    now = int(time.time()) // totp.interval
    matching = [now + offset for offset in TOLERANCE if strings_equal(code, totp.generate_otp(now + offset))]
    return matching[0] if matching else None


def find_totp(person_id: UUID) -> Statement[Totp | None]:
    return Statement(
        "SELECT secret, confirmed_at IS NOT NULL AS is_confirmed FROM totp WHERE person_id = %(person)s",
        {"person": person_id},
        row_of(Totp),
    )


def begin_totp(person_id: UUID, sealed: bytes) -> Statement[bool]:
    """Keep an encrypted secret that a code has to confirm; returns false where one is confirmed already."""
    return Statement(
        "INSERT INTO totp (person_id, secret) VALUES (%(person)s, %(secret)s) ON CONFLICT (person_id)"
        " DO UPDATE SET secret = %(secret)s WHERE totp.confirmed_at IS NULL RETURNING 1 AS begun",
        {"person": person_id, "secret": sealed},
        bool,
    )


_USE = SQL(
    "UPDATE totp SET last_step = %(step)s, confirmed_at = coalesce(confirmed_at, now())"
    " WHERE person_id = %(person)s AND last_step < %(step)s AND confirmed_at IS {} NULL RETURNING 1 AS used"
)


def use_totp_step(person_id: UUID, step: int, *, confirms: bool = False) -> Statement[bool]:
    """Use a time step up, so that its code is good once; returns false where it, or a later one, was used."""
    return Statement(
        _USE.format(SQL("" if confirms else "NOT")), {"person": person_id, "step": step}, bool, repeatable=False
    )


def remove_totp(person_id: UUID) -> Statement[bool]:
    """Remove an app; returns whether there was a confirmed one."""
    return Statement(
        "DELETE FROM totp WHERE person_id = %(person)s RETURNING confirmed_at",
        {"person": person_id},
        lambda rows: bool(rows and rows[0]["confirmed_at"]),
    )
