"""Passwords: what is stored of them, and how they are compared."""

import pytest
from argon2 import extract_parameters

from pipeline.accounts.passwords import (
    MAX_LENGTH,
    MIN_LENGTH,
    PasswordInvalid,
    _nobodys_hash,
    hash_password,
    is_password,
)


def test_a_password_is_known_by_its_hash_alone() -> None:
    stored = hash_password("four words in a row")
    assert stored.startswith("$argon2id$")
    assert is_password("four words in a row", stored)
    assert not is_password("four words in a roW", stored)
    assert not is_password("x" * 100_000, stored)
    assert not is_password("four words in a row", "not a hash")


def test_nobody_has_no_password_and_finding_out_is_the_same_work() -> None:
    assert not is_password("", None)
    assert extract_parameters(_nobodys_hash()) == extract_parameters(hash_password("four words in a row"))


@pytest.mark.parametrize("length", [0, MIN_LENGTH - 1, MAX_LENGTH + 1])
def test_a_password_is_neither_short_nor_endless(length: int) -> None:
    with pytest.raises(PasswordInvalid, match=f"has {length:,}"):
        hash_password("x" * length)
