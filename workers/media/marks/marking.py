"""Marking: signed C2PA manifests in files, and tags in streams, that say which engine made them."""

import io
import json
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

from pipeline.database import Database
from pipeline.errors import NotReady, PressroomError
from pipeline.kind import Origin
from pipeline.log import get_logger
from pipeline.marks.identity import (
    Identity,
    add_identity,
    make_identity,
    needs_renewal,
    operators_identity,
    read_identity,
)
from pipeline.settings import MarkSettings

if TYPE_CHECKING:
    import c2pa

log = get_logger(__name__)

#: Content types of the files that can carry a manifest, by their suffix.
FORMATS = {
    ".wav": "audio/wav",
    ".mp3": "audio/mpeg",
    ".m4a": "audio/mp4",
    ".m4b": "audio/mp4",
    ".flac": "audio/flac",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
}
#: IPTC's vocabulary of digital source types, which C2PA uses.
SOURCES = "http://cv.iptc.org/newscodes/digitalsourcetype/"
TRAINED, BY_RULES, MIXED = "trainedAlgorithmicMedia", "algorithmicMedia", "composite"
#: The label of our own assertion.
ASSERTION = "org.pressroom.made"
#: Without pictures of pictures, and without reading the file again. By default, a file takes twice its size of memory:
#: so copies of more than 16 MB are on the disk, and the sound of an M4B is hashed in pieces of 4 MB.
C2PA_SETTINGS = {
    "builder": {"thumbnail": {"enabled": False}},
    "verify": {"verify_after_sign": False},
    "core": {"backing_store_memory_threshold_in_mb": 16, "merkle_tree_chunk_size_in_kb": 4_096},
}


class NotMarked(PressroomError):
    """A file that has to be marked could not be."""

    code = "not_marked"


@dataclass(frozen=True, slots=True)
class Made:
    """The maker of a file; `source` is the last part of a digital source type."""

    engine: str
    origin: Origin = "synthetic"
    source: str = TRAINED
    model: str | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that made it."""
        return (self.model,) if self.model else ()


def stream_tags(source: str = TRAINED) -> Sequence[str]:
    """Return ffmpeg's options that mark a stream, which no manifest fits into; PCM has no place for tags."""
    return ("-metadata", f"comment=Made by a machine. {SOURCES}{source}", "-id3v2_version", "4", "-write_id3v2", "1")


class Marker:
    """Marks the files of a process, with the operator's certificate or the one made here. Safe for many threads."""

    def __init__(self, settings: MarkSettings, database: Database) -> None:
        self.is_on = settings.enabled
        self._settings = settings
        self._database = database
        self._lock = threading.Lock()
        self.identity: Identity | None = None
        self._signer: c2pa.Signer | None = None
        self._context: c2pa.Context | None = None

    def mark(self, data: bytes | IO[bytes], suffix: str, made: Made, job_id: UUID) -> bytes | IO[bytes]:
        """Return a file with a manifest, or as it is if it can't carry one. An open file becomes another open file.

        Raises NotMarked, ServiceUnavailable."""
        form = next((form for ending, form in FORMATS.items() if suffix.endswith(ending)), None)
        if form is None or not self.is_on:
            return data
        import c2pa

        marked = io.BytesIO() if isinstance(data, bytes) else tempfile.TemporaryFile(prefix="pressroom-")  # noqa: SIM115
        source = io.BytesIO(data) if isinstance(data, bytes) else data
        try:
            with self._lock:
                signer = self._current_signer()
                with c2pa.Builder(json.dumps(_manifest(form, made, job_id)), self._context) as builder:
                    builder.sign(signer, form, source, marked)
        except (c2pa.C2paError, NotReady) as error:
            marked.close()
            log.error("file not marked", engine=made.engine, reason=str(error))
            raise NotMarked(
                "The result could not be marked as made by a machine. Nothing was charged; tell the operator."
            ) from error
        if isinstance(marked, io.BytesIO):
            return marked.getvalue()
        marked.seek(0)
        return marked

    def _current_signer(self) -> "c2pa.Signer":
        import c2pa

        if self._signer is None or self.identity is None or not self.identity.lasts(datetime.now(UTC)):
            self.identity = current_identity(self._settings, self._database)
            info = c2pa.C2paSignerInfo(c2pa.C2paSigningAlg.ES256, self.identity.certificates, self.identity.key, None)
            self._signer = c2pa.Signer.from_info(info)
            self._context = c2pa.Context(c2pa.Settings.from_dict(C2PA_SETTINGS))
        return self._signer


def current_identity(settings: MarkSettings, database: Database) -> Identity:
    """Return the operator's identity, or the newest made here; makes the first. Raises NotReady, ServiceUnavailable."""
    if (named := operators_identity(settings)) is not None:
        return named
    found = database.run(read_identity())
    if needs_renewal(found):
        database.run(add_identity(make_identity()))
        found = database.run(read_identity())
    assert found is not None  # noqa: S101 - one was added
    return found


def _manifest(form: str, made: Made, job_id: UUID) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    agent = {"name": made.engine, **({"version": made.model} if made.model else {})}
    created = {
        "action": "c2pa.created",
        "when": now,
        "digitalSourceType": SOURCES + made.source,
        "softwareAgent": agent,
    }
    about = {"job": str(job_id), "engine": made.engine, "model": made.model, "origin": made.origin, "made_at": now}
    return {
        "claim_generator_info": [{"name": "Pressroom", "version": version("pressroom")}],
        "format": form,
        "assertions": [
            {"label": "c2pa.actions.v2", "data": {"actions": [created]}},
            {"label": ASSERTION, "data": about},
        ],
    }
