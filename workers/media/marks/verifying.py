"""Verifying: what the marks in a file say, and whether it was altered since."""

import json
import re
from collections.abc import Mapping
from typing import IO, Any, get_args

from pipeline.kind import Origin
from pipeline.log import get_logger
from pipeline.marks.receipts import Status, Verified
from workers.media.marks.marking import ASSERTION, SOURCES

log = get_logger(__name__)

#: First bytes of the formats that can carry a manifest, and their offset.
BEGINNINGS: tuple[tuple[int, bytes, str], ...] = (
    (8, b"WAVE", "audio/wav"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftyp", "audio/mp4"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"\x89PNG", "image/png"),
)
#: Where tags are: the head of a file. A tag's source type, in any of the encodings that ffmpeg writes.
HEAD_BYTES = 65_536
TAG = re.compile(re.escape(SOURCES).encode() + rb"([A-Za-z]{1,40})")
#: Codes of a failed validation that only say that nobody vouches for the signer.
UNTRUSTED = frozenset({"signingCredential.untrusted"})
#: Most characters of what another program wrote about itself.
SHOWN = 100


def verify_file(file: IO[bytes], *, trusted: bytes | None = None) -> Verified:
    """Return what the marks in a seekable file say; `trusted`: root certificates in PEM.

    It reads the file once, in pieces. A mark that can't be read counts as altered."""
    head = file.read(HEAD_BYTES)
    form = next((form for at, magic, form in BEGINNINGS if head[at : at + len(magic)] == magic), None)
    if form is not None:
        import c2pa

        file.seek(0)
        try:
            with c2pa.Reader(form, file, context=_context(trusted)) as reader:
                return _read(json.loads(reader.json()))
        except c2pa.C2paError.ManifestNotFound:
            pass
        except (c2pa.C2paError, ValueError, AttributeError, TypeError) as error:  # anybody may sign anything
            log.info("manifest not read", reason=str(error)[:SHOWN])
            file.seek(0)
            return Verified(status="altered" if _mentions(file, b"c2pa") else "unmarked")
    found = TAG.search(head)
    return Verified(status="tagged", source=found[1].decode()) if found else Verified(status="unmarked")


def _mentions(file: IO[bytes], word: bytes) -> bool:
    """Return whether the rest of a file has a word."""
    before = b""
    while piece := file.read(HEAD_BYTES):
        if word in before + piece:
            return True
        before = piece[-len(word) :]
    return False


def _context(trusted: bytes | None) -> Any:
    import c2pa

    trust = {"trust": {"user_anchors": trusted.decode()}} if trusted else {}
    # A manifest may name addresses to look at: nothing here goes there.
    offline = {"remote_manifest_fetch": False, "ocsp_fetch": False, "verify_trust": bool(trusted)}
    return c2pa.Context(c2pa.Settings.from_dict({"verify": offline, **trust}))


def _read(store: Mapping[str, Any]) -> Verified:
    manifest = store.get("manifests", {}).get(store.get("active_manifest"), {})
    said = {one.get("label"): one.get("data", {}) for one in manifest.get("assertions", [])}
    results = store.get("validation_results", {}).get("activeManifest", {})
    faults = {one.get("code") for one in results.get("failure", [])} - UNTRUSTED
    signer = str(manifest.get("signature_info", {}).get("common_name") or "")[:SHOWN] or None
    source = next((kind for label in said if label.startswith("c2pa.actions") for kind in _sources(said[label])), None)
    made = said.get(ASSERTION)
    is_trusted = store.get("validation_state") == "Trusted"
    if made is None:
        generator: Mapping[str, Any] = next(iter(manifest.get("claim_generator_info", [])), {})
        name = str(generator.get("name", ""))[:SHOWN] or None
        return Verified(status="foreign", source=source, engine=name, signer=signer)
    text = {name: str(made[name])[:SHOWN] for name in ("engine", "model", "made_at", "job") if made.get(name)}
    origin = made.get("origin") if made.get("origin") in get_args(Origin) else None
    status: Status = "altered" if faults else "signed"
    return Verified(status=status, source=source, origin=origin, signer=signer, is_trusted=is_trusted, **text)


def _sources(actions: Mapping[str, Any]) -> list[str]:
    found = (action.get("digitalSourceType", "") for action in actions.get("actions", []))
    return [source.removeprefix(SOURCES)[:SHOWN] for source in found if source]
