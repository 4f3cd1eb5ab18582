"""Recovery codes: ten that stand in for a lost factor, each once. Only their hashes are kept."""

import hashlib
import secrets
from typing import Any
from uuid import UUID

from pipeline.accounts.audit import Action, Actor, noted
from pipeline.accounts.sessions import HAS_FACTOR
from pipeline.database import SQL, Statement, nothing

CODES = 10
#: Crockford's Base32, without letters that are read for digits.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
#: 24 characters are 120 bits: from 112 on, ASVS 5 (6.5.2) asks for no slow hash.
GROUPS, GROUP_LENGTH = 6, 4
_MISREAD = str.maketrans("oil", "011", " -")
_HAS_FACTOR = HAS_FACTOR.format(SQL("%(person)s"))
_END = SQL("DELETE FROM recovery_code WHERE person_id = %(person)s AND NOT {} RETURNING 1 AS ended").format(_HAS_FACTOR)
_ADD = SQL(
    "INSERT INTO recovery_code (hash, person_id) SELECT unnest(%(hashes)s::bytea[]), %(person)s WHERE {}"
    " AND NOT EXISTS (SELECT FROM recovery_code WHERE person_id = %(person)s) RETURNING 1 AS added"
).format(_HAS_FACTOR)


def make_codes() -> list[str]:
    """Return new random codes, as people see them."""
    return ["-".join(_group() for _ in range(GROUPS)) for _ in range(CODES)]


def _group() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(GROUP_LENGTH))


def _hash(code: str) -> bytes:
    return hashlib.sha256(code.lower().translate(_MISREAD).encode("utf-8", "replace")).digest()


def settle_codes(person_id: UUID, codes: list[str], actor: Actor) -> list[Statement[Any]]:
    """Return the statements after a change of a person's factors, for its transaction and after `lock_person`.

    Their codes go with the last factor; with one and no codes left, they get `codes`, which the last one returns."""
    keys = {"person": person_id, "hashes": [_hash(code) for code in codes]}
    return [
        Statement(_END, keys, nothing),
        noted(Statement(_ADD, keys, bool, repeatable=False), actor, Action.RECOVERY_CODES_MADE),
    ]


def remove_codes(person_id: UUID) -> Statement[int]:
    return Statement(
        "DELETE FROM recovery_code WHERE person_id = %(person)s RETURNING 1 AS removed", {"person": person_id}, len
    )


def use_code(person_id: UUID, code: str) -> Statement[bool]:
    """Use a code up; returns whether it was one of the person's."""
    return Statement(
        "DELETE FROM recovery_code WHERE hash = %(hash)s AND person_id = %(person)s RETURNING 1 AS used",
        {"person": person_id, "hash": _hash(code)},
        bool,
        repeatable=False,
    )


def count_codes(person_id: UUID) -> Statement[int]:
    return Statement(
        "SELECT count(*) AS codes FROM recovery_code WHERE person_id = %(person)s",
        {"person": person_id},
        lambda rows: int(rows[0]["codes"]),
    )
