"""Credentials of other services are stored encrypted, and a wrong or lost key says so."""

from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from pipeline.accounts.secret_box import SecretBox, SecretsUnavailable
from pipeline.settings import Settings


def box(data: Path, *keys: bytes) -> SecretBox:
    named = {"secrets_key": b",".join(keys).decode()} if keys else {}
    return SecretBox(Settings(data=data, **named))


def test_what_is_sealed_is_opened_with_the_same_key_and_shows_nothing(tmp_path: Path) -> None:
    sealed = box(tmp_path).seal(b"refresh-token")

    assert b"refresh-token" not in sealed
    assert box(tmp_path).open(sealed) == b"refresh-token"


def test_the_key_in_the_folder_is_made_once_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    box(tmp_path / "new").seal(b"one")
    (key,) = (tmp_path / "new").iterdir()
    made = key.read_bytes()
    box(tmp_path / "new").seal(b"two")

    assert key.read_bytes() == made
    assert key.stat().st_mode & 0o077 == 0


def test_several_keys_open_and_the_first_one_seals(tmp_path: Path) -> None:
    old, new = Fernet.generate_key(), Fernet.generate_key()
    sealed = box(tmp_path, old).seal(b"secret")

    assert box(tmp_path, new, old).open(sealed) == b"secret"
    assert Fernet(new).decrypt(box(tmp_path, new, old).seal(b"later")) == b"later"


def test_another_key_says_what_to_do(tmp_path: Path) -> None:
    sealed = box(tmp_path).seal(b"secret")

    with pytest.raises(SecretsUnavailable, match="Set PRESSROOM_SECRETS_KEY to the key that they were stored with"):
        box(tmp_path, Fernet.generate_key()).open(sealed)


def test_a_lost_key_says_where_it_was(tmp_path: Path) -> None:
    sealed = box(tmp_path).seal(b"secret")
    (tmp_path / "secrets.key").unlink()

    with pytest.raises(SecretsUnavailable, match=r"secrets\.key can't be read .* Copy the file"):
        box(tmp_path).open(sealed)


@pytest.mark.parametrize("key", [b"short", b"x" * 44, b"\xc3\xa9" * 22])
def test_what_is_no_key_is_told_as_such(tmp_path: Path, key: bytes) -> None:
    with pytest.raises(SecretsUnavailable, match="32 random bytes"):
        box(tmp_path, key).seal(b"secret")
