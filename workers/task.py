"""Task: one item in its handler's hands, over its lease."""

import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import IO, Any, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel

from pipeline import lifecycle
from pipeline.database import Database
from pipeline.errors import Gone, InsufficientCredits, KeyCreditsUsed
from pipeline.lifecycle import Beat, ClaimedItem
from pipeline.storage.artifacts import Artifacts, artifact_key, upload_key
from pipeline.storage.resumable import find_part_keys
from pipeline.storage.streams import Parts
from workers.engines import Stopped
from workers.engines.tokens import Tokens
from workers.media.marks.marking import Made, Marker

I_co = TypeVar("I_co", bound=BaseModel, covariant=True)

#: Bytes of a file that are hashed at once.
HASHED_BYTES = 2**20
#: Artifacts are kept this much longer than their job's result, whose clock starts only when the job ends.
ARTIFACT_MARGIN = timedelta(days=1)


class Task(Generic[I_co]):
    """One item in its handler's hands."""

    def __init__(
        self,
        item: ClaimedItem,
        model: type[I_co],
        *,
        database: Database,
        artifacts: Artifacts,
        keep_for: timedelta,
        lease_for: timedelta,
        announce: Callable[[UUID, Parts], None],
        marker: Marker,
    ) -> None:
        self.item = item
        self.item_id = item.item_id
        self.job_id = item.job_id
        self.account_id = item.account_id
        self.lane = item.lane
        self.index = item.index
        self.price = item.price
        self.attempts = item.attempts
        self.checkpoint: Mapping[str, Any] | None = item.checkpoint
        self._model = model
        self._database = database
        self._artifacts = artifacts
        self._keep_for = keep_for
        self._lease_for = lease_for
        self._announce = announce
        self._marker = marker
        self.tokens = Tokens()
        self._hashes: dict[str, Any] = {}
        self._parts = Parts()
        self._is_stopped = False
        self._beat = Beat(item.lease_id, item.item_id)
        #: When the work last moved on, or asked whether to, in monotonic seconds.
        self.moved = time.monotonic()

    @cached_property
    def input(self) -> I_co:
        """The stored input, validated at first use so that a bad one fails its own item alone."""
        return self._model.model_validate(self.item.input)

    def is_stopped(self) -> bool:
        """Return whether the item was cancelled, expired or lost, so that more work is in vain.

        Work that asks has not hung, even while it waits for its turn at an engine."""
        self.moved = time.monotonic()
        return self._is_stopped

    def stop(self) -> None:
        """Tell the handler to stop."""
        self._is_stopped = True

    def progress(
        self, done: float, total: float, *, credits: int | None = None, checkpoint: Mapping[str, Any] | None = None
    ) -> None:
        """Note the item's progress, in the kind's unit; the next heartbeat writes it."""
        if credits is not None and not 0 <= credits <= self.price:
            raise ValueError(f"{credits} credits were earned of an item that costs {self.price}.")
        self.moved = time.monotonic()
        self._beat = Beat(
            self.item.lease_id, self.item_id, {"done": done, "total": total}, credits, checkpoint or self.checkpoint
        )
        self.checkpoint = self._beat.checkpoint

    def beat(self) -> Beat:
        """Return the heartbeat to write next."""
        return self._beat

    def raise_hold(self, credits: int) -> None:
        """Hold `credits` in total before going on. Raises InsufficientCredits, KeyCreditsUsed, Stopped."""
        raised = self._database.run(lifecycle.raise_hold(self.item.lease_id, self.item_id, credits))
        if raised.outcome == "lost":
            self.stop()
            raise Stopped
        if raised.outcome == "insufficient":
            # The failure releases the credits that the item holds.
            raise InsufficientCredits(required=credits, remaining=(raised.available or 0) + self.price)
        if raised.outcome == "key_limit":
            raise KeyCreditsUsed(required=credits, remaining=(raised.available or 0) + self.price)
        self.price = max(self.price, credits)

    def save(self, checkpoint: Mapping[str, Any]) -> None:
        """Write the checkpoint now, for an attempt elsewhere. Raises Stopped."""
        self.checkpoint = checkpoint
        self._beat = replace(self._beat, checkpoint=checkpoint)
        if not self._database.run(lifecycle.heartbeat([self._beat], lease_for=self._lease_for)):
            self.stop()
            raise Stopped

    def store(
        self, data: bytes | IO[bytes], *, suffix: str = "", keep_for: timedelta | None = None, made: Made | None = None
    ) -> str:
        """Store bytes or an open file under a key that only this lease writes, marked if a machine `made` it.

        Returns the key. It is kept as long as the result, or for `keep_for` if that is longer. Raises NotMarked."""
        key = self._key(suffix, keep_for)
        marked = self._marker.mark(data, suffix, made, self.job_id) if made else data
        self._hashes[key] = hashed = hashlib.sha256(marked if isinstance(marked, bytes) else b"")
        if not isinstance(marked, bytes):
            while piece := marked.read(HASHED_BYTES):
                hashed.update(piece)
            marked.seek(0)
        self._artifacts.put(key, marked)
        if marked is not data and not isinstance(marked, bytes):
            marked.close()
        return key

    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of what was stored, by its key; of a stream, by the prefix of its parts."""
        return {key: digest.hexdigest() for key, digest in self._hashes.items()}

    def add_part(self, data: bytes, *, done: float, total: float, credits: int, engine: str, **about: str) -> Parts:
        """Store the next part of a stream and announce it. Raises Stopped.

        Its credits are written first, so that no client gets a part unpaid."""
        if not self._parts.prefix:
            self._parts = Parts(prefix=self._key())
        parts = self._parts.model_copy(update={"count": self._parts.count + 1, "engine": engine, **about})
        self._artifacts.put(parts.key(self._parts.count), data)
        self._hashes.setdefault(parts.prefix, hashlib.sha256()).update(data)
        has_earned = credits > (self._beat.credits or 0)
        self.progress(done, total, credits=credits, checkpoint=parts.checkpoint())
        if has_earned and not self._database.run(lifecycle.heartbeat([self._beat], lease_for=self._lease_for)):
            self.stop()
            raise Stopped
        self._parts = parts
        self._announce(self.job_id, parts)
        return parts

    def stored(self, key: str) -> bytes:
        """Return an artifact that an earlier attempt stored. Raises Gone, ServiceUnavailable."""
        return self._artifacts.get(key)

    def pieces(self, key: str) -> Iterator[bytes]:
        """Return the same in pieces, since memory has no room for hours of sound. Raises Gone, ServiceUnavailable."""
        return self._artifacts.read(key)[1]

    def delete(self, keys: Sequence[str]) -> None:
        """Delete artifacts that this item has stored, and that its result does not name. Raises ServiceUnavailable."""
        for key in keys:
            self._artifacts.delete(key)
            self._hashes.pop(key, None)

    @contextmanager
    def upload(self, field: str) -> Iterator[IO[bytes]]:
        """Open an uploaded file, copied to an unnamed temporary one. Raises Gone, ServiceUnavailable.

        It is never whole in memory: the allocator would keep several times 25 MB."""
        with self._copied([upload_key(self.job_id, field)]) as file:
            yield file

    @contextmanager
    def resumable_upload(self) -> Iterator[IO[bytes]]:
        """Open the resumable upload that the job uses, copied likewise. Raises Gone, ServiceUnavailable."""
        if not (keys := self._database.run(find_part_keys(self.job_id))):
            raise Gone("The upload has been deleted; send it again.", code="upload_gone")
        with self._copied(keys) as file:
            yield file

    def keep_upload(self, field: str, file: IO[bytes]) -> None:
        """Store a file as if it had been uploaded, so that another attempt finds it. Raises ServiceUnavailable."""
        self._artifacts.put(upload_key(self.job_id, field), file)

    @contextmanager
    def _copied(self, keys: Sequence[str]) -> Iterator[IO[bytes]]:
        with tempfile.TemporaryFile(prefix="pressroom-") as file:
            for key in keys:
                file.writelines(self._artifacts.read(key)[1])
            file.seek(0)
            yield file

    def _key(self, suffix: str = "", keep_for: timedelta | None = None) -> str:
        expires_on = (datetime.now(UTC) + max(self._keep_for, keep_for or self._keep_for) + ARTIFACT_MARGIN).date()
        return artifact_key(
            expires_on=expires_on, job_id=self.job_id, index=self.index, lease_id=self.item.lease_id, suffix=suffix
        )
