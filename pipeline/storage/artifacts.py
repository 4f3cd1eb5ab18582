"""Artifacts: bytes kept under a key, in a folder or an S3-compatible store."""

import contextlib
import re
import shutil
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING
from uuid import UUID

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import LocalStore, S3Store

from pipeline.errors import Gone, NotReady, ServiceUnavailable
from pipeline.settings import Settings
from pipeline.storage import upload_folders
from pipeline.storage.upload_folders import refuse_foreign, without_links

if TYPE_CHECKING:
    from obstore import GetResult
    from obstore.store import ObjectStore

#: Errors of obstore for a missing key, depending on the store and the call.
MISSING = (NotFoundError, FileNotFoundError)
#: Bytes read at a time when an artifact is sent to a client.
CHUNK_BYTES = 256 * 1024
#: Bytes of an upload that are buffered before they are written. A folder takes parts of any size; S3 takes none under
#: 5 MiB but the last. obstore's default is 10 MiB for each upload.
FOLDER_BUFFER_BYTES = 512 * 1024
S3_BUFFER_BYTES = 5 * 2**20
CONNECT_TIMEOUT = timedelta(seconds=5)
UPLOADS = "uploads"
#: Files of podcasts, a folder an episode. They have no day: they stay until their episode is deleted.
EPISODES = "episodes"
#: The beginning of an `artifact_key`; a bucket or folder may have other things in it.
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def artifact_key(*, expires_on: date, job_id: UUID, index: int, lease_id: UUID, suffix: str = "") -> str:
    """Return the key of a lease's result; another lease of the same item never overwrites it."""
    return f"{expires_on:%Y-%m-%d}/{job_id}/{index}/{lease_id}{suffix}"


def upload_key(job_id: UUID, field: str) -> str:
    """Return the key of a file that was uploaded with a request."""
    return f"{UPLOADS}/{job_id}/{field}"


def episode_key(episode_id: UUID, name: str) -> str:
    """Return the key of a file of a podcast's episode."""
    return f"{EPISODES}/{episode_id}/{name}"


def store_url(settings: Settings) -> str:
    """Return where artifacts are kept."""
    return settings.store.url or str(settings.data.absolute() / "artifacts")


def open_store(settings: Settings) -> "ObjectStore":
    """Return the store that the settings name: a folder, which is made if need be, or `s3://bucket/prefix`.

    Raises NotReady for a folder that others could change."""
    url = store_url(settings)
    if not url.startswith("s3://"):
        if settings.store.url is None:
            refuse_foreign(settings.data)
        folder = Path(url.removeprefix("file://"))
        if folder.is_symlink() and settings.store.url is None:
            raise NotReady(f"{folder} is a link, which is not followed. Set PRESSROOM_STORE__URL to its target.")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return LocalStore(folder, automatic_cleanup=True)
    secret = settings.store.secret_access_key
    options = {
        "endpoint": settings.store.endpoint,
        "access_key_id": settings.store.access_key_id,
        "secret_access_key": secret.get_secret_value() if secret else None,
        "region": settings.store.region,
    }
    client = {
        "connect_timeout": CONNECT_TIMEOUT,
        "read_timeout": timedelta(seconds=settings.store.silence_seconds),
        # For a whole request; the default of 30 s would cut off slow readers of long recordings.
        "timeout": timedelta(days=1),
        **({"allow_http": True} if (settings.store.endpoint or "").startswith("http://") else {}),
    }
    return S3Store.from_url(
        url,
        # obstore retries for three minutes by default, while a client waits.
        retry_config={"max_retries": 4, "retry_timeout": timedelta(seconds=15)},
        client_options=client,  # type: ignore[arg-type]  # obstore's TypedDict
        **{name: value for name, value in options.items() if value is not None},  # type: ignore[arg-type]
    )


class StoreUnavailable(ServiceUnavailable):
    """The artifact store does not answer, or can't take what it is given."""

    code = "store_unavailable"
    passes = True


class Artifacts:
    """Reads and writes artifacts; blocking for workers, and async for the API."""

    def __init__(self, store: "ObjectStore") -> None:
        self._store = store
        self._root = Path(str(store.prefix)) if isinstance(store, LocalStore) else None
        self._folder = self._root / UPLOADS if self._root else None
        self._buffer_bytes = FOLDER_BUFFER_BYTES if self._folder else S3_BUFFER_BYTES

    def put(self, key: str, data: bytes | IO[bytes]) -> None:
        """Write bytes, or the rest of an open file, under a key. Raises ServiceUnavailable."""
        with _translated():
            obstore.put(self._store, self._checked(key), data)

    def get(self, key: str) -> bytes:
        """Return the bytes under a key. Raises Gone, ServiceUnavailable."""
        with _translated(key):
            return bytes(obstore.get(self._store, self._checked(key)).bytes())

    def read(self, key: str) -> tuple[int, Iterator[bytes]]:
        """Return the size of an artifact and its bytes, some at a time; both stay if another replaces it meanwhile.

        Raises Gone, ServiceUnavailable."""
        with _translated(key):
            found = obstore.get(self._store, self._checked(key))
        return found.meta["size"], _read(found)

    async def open(self, key: str, *, span: tuple[int, int] | None = None) -> tuple[int, AsyncIterator[bytes]]:
        """Return the size of an artifact and its bytes, read as they are asked for; `span` is [start, end) of them.

        Raises Gone, ServiceUnavailable."""
        with _translated(key):
            found = await obstore.get_async(self._store, self._checked(key), options={"range": span} if span else None)
        return found.meta["size"], _chunks(found.stream(min_chunk_size=CHUNK_BYTES))

    async def open_all(self, keys: Sequence[str]) -> tuple[int, AsyncIterator[bytes]]:
        """Return the size of several artifacts and their bytes, one after the other. Raises Gone, ServiceUnavailable.

        All of them are checked first: an answer that has begun can't report a missing one any more."""
        if len(keys) == 1:
            return await self.open(keys[0])
        sizes = await self.sizes(keys)
        return sum(sizes), self.open_span(list(zip(keys, sizes, strict=True)), 0, sum(sizes))

    async def open_span(self, parts: Sequence[tuple[str, int]], start: int, end: int) -> AsyncIterator[bytes]:
        """Yield the bytes [start, end) of several artifacts, which are given with their sizes, one after the other."""
        begins = 0
        for key, size in parts:
            first, last = max(start - begins, 0), min(end - begins, size)
            begins += size
            if first >= last:
                continue
            _, chunks = await self.open(key, span=None if (first, last) == (0, size) else (first, last))
            async for chunk in chunks:
                yield chunk

    async def sizes(self, keys: Sequence[str]) -> list[int]:
        """Return the sizes of artifacts in bytes. Raises Gone, ServiceUnavailable."""
        return [await self.size(key) for key in keys]

    async def size(self, key: str) -> int:
        """Return the size of an artifact in bytes. Raises Gone, ServiceUnavailable."""
        with _translated(key):
            return (await obstore.head_async(self._store, self._checked(key)))["size"]

    async def put_stream(self, key: str, chunks: AsyncIterator[bytes]) -> None:
        """Write a stream of bytes under a key, with only a part of it in memory. Raises ServiceUnavailable."""
        with _translated():
            async with obstore.open_writer_async(
                self._store, self._checked(key), buffer_size=self._buffer_bytes
            ) as writer:
                async for chunk in chunks:
                    await writer.write(chunk)

    def free_bytes(self) -> int | None:
        """Return how much a store that is a folder can still take; None for any other."""
        return None if self._root is None else shutil.disk_usage(self._root).free

    def delete(self, key: str) -> None:
        """Delete the artifact of a key, if it exists. Raises ServiceUnavailable."""
        self._delete([key])

    def delete_upload(self, job_id: UUID) -> None:
        """Delete the files of an upload, if they are still there, incomplete ones too. Raises ServiceUnavailable."""
        if self._folder is None:
            self._delete(self._list(f"{UPLOADS}/{job_id}"))
            return
        with _translated():
            upload_folders.delete(self._folder, job_id)

    def delete_results(self, job_id: UUID) -> int:
        """Delete all that a job has made; returns how many artifacts. Raises ServiceUnavailable."""
        return sum(self._delete_all(f"{day}/{job_id}") for day in self._days())

    def delete_expired(self, today: date, *, kept: Collection[UUID] = ()) -> int:
        """Delete all artifacts whose day has passed, but for those of kept jobs; returns how many.

        Raises ServiceUnavailable."""
        names = {str(job_id) for job_id in kept}
        gone = 0
        for day in self._days():
            if day >= f"{today:%Y-%m-%d}":
                continue
            jobs = self._folders(day) if names else []
            if names.isdisjoint(jobs):
                gone += self._delete_all(day)
            else:
                gone += sum(self._delete_all(f"{day}/{job}") for job in jobs if job not in names)
        return gone

    def episodes(self) -> set[str]:
        """Return the ids of the episodes that have files. Raises ServiceUnavailable."""
        return set(self._folders(EPISODES))

    def delete_episode(self, episode_id: str) -> None:
        """Delete the files of an episode. Raises ServiceUnavailable."""
        self._delete_all(f"{EPISODES}/{episode_id}")

    def keys(self) -> Iterator[str]:
        """Yield the keys of all artifacts, uploads and episodes. Raises ServiceUnavailable."""
        for prefix in (*self._days(), UPLOADS, EPISODES):
            yield from self._list(prefix)

    def _checked(self, key: str) -> str:
        return without_links(str(self._root), key) if self._root else key

    def _days(self) -> list[str]:
        return [day for day in self._folders() if DAY.fullmatch(day)]

    def _folders(self, within: str | None = None) -> list[str]:
        with _translated():
            folders = obstore.list_with_delimiter(self._store, within)["common_prefixes"]
        return [folder.rstrip("/").rpartition("/")[2] for folder in folders]

    def _list(self, prefix: str) -> list[str]:
        with _translated():
            return [entry["path"] for batch in obstore.list(self._store, prefix) for entry in batch]

    def _delete(self, keys: Sequence[str]) -> None:
        with _translated(), contextlib.suppress(*MISSING):
            obstore.delete(self._store, keys)

    def _delete_all(self, prefix: str) -> int:
        """Delete all under a prefix, also what a process left incomplete when it was killed; returns how many."""
        if self._root is None:
            keys = self._list(prefix)
            self._delete(keys)
            return len(keys)
        with _translated():
            return upload_folders.delete_all(self._root / prefix)

    def orphaned_uploads(self, older_than: timedelta) -> list[UUID]:
        """Return the jobs of uploads older than that; the caller checks which of them still need theirs.

        Raises ServiceUnavailable."""
        limit = datetime.now(UTC) - older_than
        with _translated():
            changes = upload_folders.changes(self._folder) if self._folder else self._uploads()
            old = {upload_folders.read_id(name) for name, changed_at in changes if changed_at < limit}
        return sorted(job_id for job_id in old if job_id is not None)

    def _uploads(self) -> Iterator[tuple[str, datetime]]:
        for batch in obstore.list(self._store, UPLOADS):
            for entry in batch:
                yield entry["path"].split("/")[1], entry["last_modified"]


def _read(found: "GetResult") -> Iterator[bytes]:
    with _translated():
        for chunk in found.stream(min_chunk_size=CHUNK_BYTES):
            yield bytes(chunk)


async def _chunks(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    with _translated():
        async for chunk in stream:
            yield bytes(chunk)


@contextlib.contextmanager
def _translated(key: str = "") -> Iterator[None]:
    """Raise Gone where there is nothing under the key that is read, and ServiceUnavailable for any other failure."""
    try:
        yield
    except (BaseError, OSError) as error:
        if key and isinstance(error, MISSING):
            raise Gone(
                "The result has been deleted; send the request again.", code="artifact_gone", artifact=key
            ) from error
        raise StoreUnavailable(
            f"The artifact store does not answer: {type(error).__name__}. Try again in a few seconds.",
            retry_after=timedelta(seconds=5),
        ) from error
