"""Arriving: the bytes of one PATCH, written in parts and counted as they come."""

import hashlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import falcon.asgi

from api.http.bodies.bodies import CHUNK_BYTES, Take, coming
from api.services.services import Services
from api.uploads.errors import UploadElsewhere, UploadTooLarge
from pipeline.errors import InvalidRequest
from pipeline.storage.artifacts import upload_key
from pipeline.storage.resumable import ResumableUpload, add_part, part_name

#: A part is written when it has so many bytes, or when so many seconds have passed since the last one.
PART_BYTES = 4 * 2**20
PART_SECONDS = 20.0
ALGORITHMS = ("sha1", "sha256")


class ChecksumUnreadable(InvalidRequest):
    """The checksum of a body has a form that is not known here."""

    code = "checksum_unreadable"
    field = "Upload-Checksum"


class ChecksumMismatch(InvalidRequest):
    """The body is not the one that was sent; nothing of it is kept."""

    title = "Checksum Mismatch"
    status = 460  # type: ignore[assignment]  # tus's own, which HTTPStatus does not have
    code = "checksum_mismatch"
    field = "Upload-Checksum"
    message = "The body does not have the digest in Upload-Checksum, and was dropped. Send it again."


@dataclass(frozen=True, slots=True)
class Checksum:
    """The digest that a body must have."""

    algorithm: str
    digest: bytes


class Arriving:
    """Receives the body of one request into an upload."""

    def __init__(
        self, services: Services, upload: ResumableUpload, *, lifetime: timedelta, checksum: Checksum | None
    ) -> None:
        self._services = services
        self._upload = upload
        self._lifetime = lifetime
        self._checksum = checksum
        self._digest = hashlib.new(checksum.algorithm, usedforsecurity=False) if checksum else None
        self._buffer = bytearray()
        #: Parts that are written and not counted yet, and their bytes.
        self._parts: list[str] = []
        self._written = 0

    async def receive(self, req: falcon.asgi.Request) -> ResumableUpload:
        """Return the upload with what has arrived, which may be less than was sent if the connection broke.

        A body with a checksum counts only as a whole. Raises UploadTooLarge, UploadElsewhere, ChecksumMismatch,
        ServiceUnavailable."""
        with coming.room() as take:
            began = time.monotonic()
            while chunk := await req.stream.read(CHUNK_BYTES):
                self._add(chunk, take)
                if len(self._buffer) >= PART_BYTES or time.monotonic() - began > PART_SECONDS:
                    await self._write(take)
                    began = time.monotonic()
            await self._write(take)
        if self._digest is not None and self._checksum is not None:
            if self._digest.digest() != self._checksum.digest:
                raise ChecksumMismatch
            await self._count()
        return self._upload

    def _add(self, chunk: bytes, take: Take) -> None:
        if self._upload.received + self._written + len(self._buffer) + len(chunk) > self._upload.length:
            raise UploadTooLarge.past_end(self._upload)
        take(len(chunk))
        self._buffer += chunk
        if self._digest is not None:
            self._digest.update(chunk)

    async def _write(self, take: Take) -> None:
        """Write what has arrived as a part."""
        if not self._buffer:
            return
        name = part_name(self._upload.received + self._written)
        await self._services.artifacts.put_stream(upload_key(self._upload.id, name), _once(bytes(self._buffer)))
        self._parts.append(name)
        self._written += len(self._buffer)
        take(-len(self._buffer))
        self._buffer.clear()
        if self._digest is None:
            await self._count()

    async def _count(self) -> None:
        """Count the written parts. A part that does not count is left: the count may have been made before the
        connection to the database broke."""
        counted = await self._services.database.run(
            add_part(
                self._upload.id,
                offset=self._upload.received,
                parts=self._parts,
                size=self._written,
                lifetime=self._lifetime,
            )
        )
        if counted is None:
            raise UploadElsewhere
        self._upload, self._parts, self._written = counted, [], 0


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data
