"""Passwords: kept as argon2id hashes (RFC 9106), and compared in the same time whether or not there is one."""

from functools import cache

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from pipeline.errors import InvalidRequest

#: NIST SP 800-63B asks for 8 at least, and wants 64 taken; longer ones cost nothing.
MIN_LENGTH = 10
MAX_LENGTH = 1_000
#: RFC 9106, section 4, second recommended option: 3 passes over 64 MiB, about 0.1 s of one core.
_HASHER = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4, type=Type.ID)


class PasswordInvalid(InvalidRequest):
    """The password is too short or too long to be one."""

    code = "password_invalid"


def hash_password(password: str) -> str:
    """Return the hash of a password; takes about 0.1 s. Raises PasswordInvalid."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise PasswordInvalid(
            f"A password has {MIN_LENGTH} to {MAX_LENGTH:,} characters; this one has {len(password):,}."
            " Some words that nobody else would put together are a good one."
        )
    return _HASHER.hash(password.encode("utf-8", "surrogatepass"))


def is_password(password: str, password_hash: str | None) -> bool:
    """Return whether it is the password of this hash; without a hash it is not, which takes as long to find out."""
    if len(password) > MAX_LENGTH:
        password = ""  # no password of ours, and a long text would take longer
    try:
        found = _HASHER.verify(password_hash or _nobodys_hash(), password.encode("utf-8", "surrogatepass"))
    except (VerificationError, InvalidHashError):
        return False
    return found and password_hash is not None


@cache
def _nobodys_hash() -> str:
    return _HASHER.hash(b"")
