"""Secret box: credentials of other services, encrypted before they are stored.

The key is not in the database: who reads a copy of that has nothing. It is PRESSROOM_SECRETS_KEY, the same on all
machines, or else a file in DATA, made when something is stored for the first time."""

import os
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

from pipeline.errors import NotReady
from pipeline.settings import Settings
from pipeline.settings.installing import install_command
from pipeline.storage.upload_folders import sync_folder

#: The name of the key's file in DATA.
KEY_FILE = "secrets.key"
#: The extra with what encryption needs beside the base install.
EXTRA = "search-console"


class SecretsUnavailable(NotReady):
    """There is no key here, or not the one that something was encrypted with."""

    code = "secrets_unavailable"


class SecretBox:
    """Encrypts and decrypts with Fernet (AES-128 in CBC mode, and HMAC-SHA256)."""

    def __init__(self, settings: Settings) -> None:
        self._set = settings.secrets_key.get_secret_value() if settings.secrets_key else ""
        self._file = settings.data / KEY_FILE

    def check(self) -> None:
        """Raise SecretsUnavailable where its key can't be read, or is none."""
        self._fernet()

    def seal(self, secret: bytes) -> bytes:
        """Encrypt with the first key; makes the file's key if there is none. Raises SecretsUnavailable."""
        if not self._set and not self._file.exists():
            _make_key(self._file)
        sealed: bytes = self._fernet().encrypt(secret)
        return sealed

    def open(self, sealed: bytes) -> bytes:
        """Decrypt bytes that one of the keys has encrypted. Raises SecretsUnavailable."""
        fernet = self._fernet()
        try:
            secret: bytes = fernet.decrypt(sealed)
        except _import_fernet().InvalidToken:
            raise SecretsUnavailable(
                f"Stored credentials were encrypted with another key than that of {self._place()}. Set"
                " PRESSROOM_SECRETS_KEY to the key that they were stored with (of several, separated by commas, the"
                " first one encrypts), or connect again."
            ) from None
        return secret

    def _fernet(self) -> Any:
        keys = self._keys()
        fernet = _import_fernet()
        try:
            return fernet.MultiFernet([fernet.Fernet(key) for key in keys])
        except ValueError:
            raise SecretsUnavailable(
                f"{self._place()} has no key that can be used: a key is 32 random bytes in URL-safe base64, 44"
                " characters."
            ) from None

    def _keys(self) -> list[str]:
        if self._set:
            return [key.strip() for key in self._set.split(",") if key.strip()]
        try:
            return [self._file.read_text("utf-8", errors="replace").strip()]
        except OSError as error:
            raise SecretsUnavailable(
                f"{self._file} can't be read ({error.strerror}): stored credentials can't be decrypted here. Copy the"
                " file from the machine where they were stored, or set PRESSROOM_SECRETS_KEY to its content on all"
                " machines."
            ) from None

    def _place(self) -> str:
        return "PRESSROOM_SECRETS_KEY" if self._set else str(self._file)


def _make_key(file: Path) -> None:
    """Make a key that only its owner reads; of two that make one at once, the first one's counts."""
    key = _import_fernet().Fernet.generate_key()
    written = file.with_name(f"{file.name}.{uuid4().hex}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(key)
            opened.flush()
            os.fsync(descriptor)  # before anything is encrypted with it
        with suppress(FileExistsError):
            os.link(written, file)
        written.unlink()
        sync_folder(file.parent)
    except OSError as error:
        raise SecretsUnavailable(
            f"No key can be kept in {file} ({error.strerror}). Set PRESSROOM_SECRETS_KEY, or another --data."
        ) from error


def _import_fernet() -> ModuleType:
    try:
        from cryptography import fernet
    except ImportError:
        raise SecretsUnavailable(
            f"Stored credentials need the package cryptography: `{install_command(EXTRA)}`."
        ) from None
    return fernet
