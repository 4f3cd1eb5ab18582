"""Archive: a backup as one tar file of a manifest, the dump, the secrets' key and the artifacts.

Artifacts are copied after the dump: they are older than the rows that name them, and so exist unless they expired."""

import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from pipeline.accounts.secret_box import KEY_FILE
from pipeline.errors import Gone, NotReady
from pipeline.storage.artifacts import DAY, EPISODES, UPLOADS, Artifacts
from pipeline.storage.upload_folders import sync_folder
from pipeline.timestamps import timestamp
from scripts.backup.database import dump
from scripts.backup.loading import load
from scripts.backup.seal import NOT_SIGNED, SEAL, check_seal, make_seal
from scripts.system.folders import write_private

#: Formats of earlier releases, without a seal, and of this one.
UNSEALED, FORMAT = 1, 2
MANIFEST, DUMP, ARTIFACTS = "pressroom.json", "database.dump", "artifacts/"


@dataclass(frozen=True, slots=True)
class Contents:
    """A backup's release, moment and sizes."""

    pressroom: str
    made_at: str
    artifacts: int
    artifact_bytes: int
    dump_bytes: int


def write_archive(
    file: Path, url: str, artifacts: Artifacts, data: Path, *, signing_keys: Sequence[str] = ()
) -> Contents:
    """Write a backup, signed with the first key; the file appears when it is complete.

    Raises NotReady, ServiceUnavailable."""
    made_at = datetime.now(UTC)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".pressroom-backup-") as folder:
        dumped, unfinished = Path(folder) / DUMP, Path(folder) / "unfinished"
        dump(url, dumped)
        unfinished.touch(mode=0o600)
        with unfinished.open("w+b") as written:
            with tarfile.open(fileobj=written, mode="w") as archive:
                heading = {"format": FORMAT, "pressroom": version("pressroom"), "made_at": timestamp(made_at)}
                _add(archive, MANIFEST, json.dumps(heading).encode())
                archive.add(dumped, DUMP, filter=_anonymous)
                if (data / KEY_FILE).exists():
                    archive.add(data / KEY_FILE, KEY_FILE, filter=_anonymous)
                copied = [_copy(archive, artifacts, key) for key in artifacts.keys()]  # noqa: SIM118  # no dict
                seal = make_seal(written, archive.offset, signing_keys)
                written.seek(archive.offset)
                _add(archive, SEAL, seal)
            written.flush()
            os.fsync(written.fileno())  # a backup that is told of survives a power cut
        unfinished.replace(file)
        sync_folder(file.parent)
        sizes = [size for size in copied if size is not None]
        return Contents(heading["pressroom"], heading["made_at"], len(sizes), sum(sizes), dumped.stat().st_size)  # type: ignore[arg-type]


def read_archive(
    file: Path, url: str, artifacts: Artifacts, data: Path, *, signing_keys: Sequence[str] = ()
) -> Contents:
    """Restore an empty system: the artifacts, then the database in one transaction.

    With keys it must be signed with one of them. Raises NotReady for a file that is no backup, was changed, or is of a
    later release; ServiceUnavailable."""
    sizes = []
    try:
        heading = _check(file, signing_keys)
        with tarfile.open(file) as archive, tempfile.TemporaryDirectory(dir=data) as folder:
            archive.next()  # the heading
            dumped = Path(folder) / DUMP
            with dumped.open("wb") as written:
                shutil.copyfileobj(_opened(archive, archive.next(), DUMP), written)
            for member in archive:
                if member.name == KEY_FILE:
                    write_private(data / KEY_FILE, _bytes(archive, member, KEY_FILE).decode())
                elif _is_artifact(member.name):
                    artifacts.put(member.name.removeprefix(ARTIFACTS), _opened(archive, member, member.name))
                    sizes.append(member.size)
            load(url, dumped)
            return Contents(heading["pressroom"], heading["made_at"], len(sizes), sum(sizes), dumped.stat().st_size)
    except (tarfile.TarError, ValueError, KeyError, TypeError, EOFError) as error:
        raise NotReady(f"{file} is not a complete backup of Pressroom: {error}.") from error


def _check(file: Path, signing_keys: Sequence[str]) -> dict[str, Any]:
    """Return a backup's heading, once its seal is found right."""
    with file.open("rb") as opened:
        with tarfile.open(fileobj=opened) as archive:
            heading: dict[str, Any] = json.loads(_bytes(archive, archive.next(), MANIFEST))
        if heading["format"] not in (UNSEALED, FORMAT):
            raise NotReady(f"{file} was made by Pressroom {heading['pressroom']}; this release can't read it.")
        if heading["format"] == FORMAT:
            opened.seek(0)
            check_seal(opened, signing_keys)
        elif signing_keys:
            raise NotReady(NOT_SIGNED)
    return heading


def describe(contents: Contents) -> str:
    found = asdict(contents)
    return (
        "of {made_at}, by Pressroom {pressroom}: the database ({dump_bytes:,} bytes) and {artifacts:,} artifacts "
        "({artifact_bytes:,} bytes)"
    ).format_map(found)


def _copy(archive: tarfile.TarFile, artifacts: Artifacts, key: str) -> int | None:
    """Add an artifact; returns its size, or None if it has expired."""
    try:
        size, chunks = artifacts.read(key)
    except Gone:
        return None
    archive.addfile(_info(f"{ARTIFACTS}{key}", size), _Chunks(chunks))
    return size


class _Chunks(io.RawIOBase):
    """Chunks as a file to be read once."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._rest = b""
        self._chunks = chunks

    def read(self, size: int = -1) -> bytes:
        while size > len(self._rest) and (more := next(self._chunks, b"")):
            self._rest += more
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    archive.addfile(_info(name, len(content)), io.BytesIO(content))


def _info(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info


def _anonymous(info: tarfile.TarInfo) -> tarfile.TarInfo:
    return _info(info.name, info.size)


def _is_artifact(name: str) -> bool:
    folder, _, rest = name.removeprefix(ARTIFACTS).partition("/")
    return (
        name.startswith(ARTIFACTS)
        and bool(rest)
        and (folder in (UPLOADS, EPISODES) or DAY.fullmatch(folder) is not None)
    )


def _opened(archive: tarfile.TarFile, member: tarfile.TarInfo | None, name: str) -> IO[bytes]:
    found = archive.extractfile(member) if member is not None and member.name == name else None
    if found is None:
        raise ValueError(f"it has no {name}")
    return found


def _bytes(archive: tarfile.TarFile, member: tarfile.TarInfo | None, name: str) -> bytes:
    return _opened(archive, member, name).read()
