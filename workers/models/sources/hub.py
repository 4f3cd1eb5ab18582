"""Hub: files of a repository at the Hugging Face hub, by huggingface_hub, and what it says about them beforehand."""

import fnmatch
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from pipeline.errors import ServiceUnavailable
from workers.models.catalogue import File, Hub, is_safe

COMMIT = re.compile(r"[0-9a-f]{40}")
#: A download slower than this is given up: a server that sends a byte now and then would keep it for ever.
LEAST_BYTES_PER_SECOND = 1_000
#: How often a file's connection is taken up again after a break, and the pause before that. The next call goes on.
MOST_RECONNECTS = 5
RECONNECT_SECONDS = 0.5
#: Characters of what libraries say, in one line.
LONGEST_REASON = 300


class HubUnavailable(ServiceUnavailable):
    """The hub can't be reached, or does not give what is asked for."""

    code = "hub_unavailable"


class Unusable(HubUnavailable):
    """The answer is not the file, or comes too slowly: asking again would bring the same."""


def hub_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of huggingface_hub: of its HTTP library, and for answers that no hub gives."""
    from httpx2 import HTTPError, InvalidURL

    return HTTPError, InvalidURL, OSError, ValueError, LookupError, TypeError, AttributeError


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file as the hub describes it. (Its ETag is not looked at: it is a SHA-256 of large files, but not of all.)"""

    path: str
    commit: str
    size_bytes: int


class Repository:
    """A repository at one revision."""

    def __init__(self, hub: Hub, *, stall_seconds: float) -> None:
        # Read when the package is imported: nobody is told what runs here.
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        self._endpoint = os.environ.get("HF_ENDPOINT") or None
        self.hub = hub
        self._stall_seconds = stall_seconds

    def list_files(self, revision: str) -> tuple[str, Sequence[File]]:
        """Return the commit of a revision, and the files of it that belong to the model, large ones with their SHA-256.

        Raises HubUnavailable."""
        with self._translated(revision):
            from huggingface_hub import HfApi

            hub = HfApi(self._endpoint, token=False)
            info = hub.model_info(self.hub.repo, revision=revision, timeout=self._stall_seconds, files_metadata=True)
            files = [
                File(file.rfilename, file.lfs.sha256 if file.lfs else None, file.size) for file in info.siblings or ()
            ]
            return str(info.sha), [file for file in files if is_safe(file.name) and self._is_wanted(file.name)]

    def describe(self, path: str, revision: str) -> RemoteFile:
        """Return the hub's entry of a file. Raises HubUnavailable."""
        with self._translated(path):
            from huggingface_hub import get_hf_file_metadata, hf_hub_url

            url = hf_hub_url(self.hub.repo, path, revision=revision, endpoint=self._endpoint)
            found = get_hf_file_metadata(url, endpoint=self._endpoint, timeout=self._stall_seconds, token=False)
            if found.commit_hash is None or found.size is None:
                raise HubUnavailable(f"{url} answers, but not as a hub does: it names no commit, or no size.")
            return RemoteFile(path, found.commit_hash, found.size)

    def download(self, file: RemoteFile, target: Path, on_bytes: Callable[[int], None]) -> None:
        """Write a file, or what is missing of it. `on_bytes` is told how many bytes have come, each time some have.

        Raises HubUnavailable, OSError when the disk is full."""
        have = target.stat().st_size if target.exists() else 0
        if have > file.size_bytes:
            target.unlink()
            have = 0
        on_bytes(have)
        furthest, reconnects = have, 0
        with target.open("ab") as written:
            while have < file.size_bytes:
                try:
                    for offset, chunk in self._chunks(file, have):
                        if offset != have:
                            written.truncate(offset)
                            on_bytes(offset - have)
                        written.write(chunk)
                        have = offset + len(chunk)
                        on_bytes(len(chunk))
                except Unusable:
                    raise
                except HubUnavailable:
                    # A break is mended as long as each connection gets further than all before: a server without
                    # Range begins at the start each time.
                    if have <= furthest or reconnects == MOST_RECONNECTS:
                        raise
                    furthest, reconnects = have, reconnects + 1
                    time.sleep(RECONNECT_SECONDS)

    def _chunks(self, file: RemoteFile, start: int) -> Iterator[tuple[int, bytes]]:
        """Yield what comes from an offset on, each chunk with its own: the first has 0 if the server knows no Range.

        Raises HubUnavailable also when that ends before the file does, or goes on after it."""
        with self._translated(file.path):
            from huggingface_hub import get_session, hf_hub_url

            headers = {"Accept-Encoding": "identity"}
            if start:
                headers["Range"] = f"bytes={start}-"
            url = hf_hub_url(self.hub.repo, file.path, revision=file.commit, endpoint=self._endpoint)
            session: Any = get_session()
            with session.stream(
                "GET", url, headers=headers, timeout=self._stall_seconds, follow_redirects=True
            ) as response:
                response.raise_for_status()
                offset = start if response.status_code == HTTPStatus.PARTIAL_CONTENT else 0
                self._check_length(file, file.size_bytes - offset, response.headers.get("Content-Length"))
                for chunk in self._quick_enough(file, response.iter_bytes()):
                    if offset + len(chunk) > file.size_bytes:
                        raise Unusable(f"{self._named(file.path)} goes on after {file.size_bytes:,} bytes.")
                    yield offset, chunk
                    offset += len(chunk)
                if offset < file.size_bytes:
                    raise HubUnavailable(
                        f"{self._named(file.path)} ends after {offset:,} of {file.size_bytes:,} bytes."
                    )

    def _check_length(self, file: RemoteFile, expected: int, told: str | None) -> None:
        if told not in (None, str(expected)):
            raise Unusable(
                f"{self._named(file.path)} would bring {told} bytes, not {expected:,}: is it a proxy's page?"
            )

    def _quick_enough(self, file: RemoteFile, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield chunks. Raises Unusable when next to nothing came for as long as a stall may take."""
        began, came = time.monotonic(), 0
        for chunk in chunks:
            came += len(chunk)
            elapsed = time.monotonic() - began
            if elapsed > self._stall_seconds:
                if came < LEAST_BYTES_PER_SECOND * elapsed:
                    raise Unusable(f"{self._named(file.path)} comes too slowly: {came:,} bytes in {elapsed:.0f} s.")
                began, came = time.monotonic(), 0
            yield chunk

    def _is_wanted(self, name: str) -> bool:
        def matches(patterns: Sequence[str]) -> bool:
            return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)

        return matches(self.hub.patterns) and not matches(self.hub.without)

    def _named(self, path: str) -> str:
        return f"{self.hub.repo}/{path}"

    @contextmanager
    def _translated(self, what: str) -> Iterator[None]:
        try:
            yield
        except HubUnavailable:
            raise
        except hub_errors() as error:
            reason = " ".join(str(error).split())[:LONGEST_REASON] or type(error).__name__
            raise HubUnavailable(f"{self._named(what)} can't be downloaded from the hub: {reason}") from error
