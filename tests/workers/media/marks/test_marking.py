"""Marks in files of every format: signed, read back, altered, stripped, and signed by others."""

import io
import json
import subprocess
from pathlib import Path
from typing import IO
from uuid import uuid4

import c2pa
import pytest
from PIL import Image

from pipeline.database import Database
from pipeline.errors import NotReady
from pipeline.marks.identity import Identity, make_identity, operators_identity
from pipeline.settings import MarkSettings, Settings
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.marks.marking import ASSERTION, FORMATS, SOURCES, Made, Marker, NotMarked
from workers.media.marks.verifying import verify_file

JOB = uuid4()
MADE = Made("hibari", model="hibari-heart")
PICTURES = {".jpg": "JPEG", ".png": "PNG", ".webp": "WEBP"}


def plain(suffix: str, folder: Path) -> bytes:
    """Return a small file without a mark."""
    if form := PICTURES.get(suffix):
        file = io.BytesIO()
        Image.effect_noise((300, 200), 40).convert("RGB").save(file, form)
        return file.getvalue()
    made = folder / f"sound{suffix}"
    sine = ["-f", "lavfi", "-i", "sine=300:duration=2:sample_rate=24000"]
    subprocess.run([find_ffmpeg(Settings()).path, "-loglevel", "error", *sine, "-y", str(made)], check=True)
    return made.read_bytes()


@pytest.fixture(name="marker")
def _marker(database: Database) -> Marker:
    return Marker(MarkSettings(), database)


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_says_what_made_it_until_it_is_changed(suffix: str, marker: Marker, tmp_path: Path) -> None:
    file = plain(suffix, tmp_path)
    marked = marker.mark(file, f"-cover-1{suffix}", MADE, JOB)

    assert isinstance(marked, bytes)
    found = verify_file(io.BytesIO(marked))
    assert (found.status, found.origin, found.source) == ("signed", "synthetic", "trainedAlgorithmicMedia")
    assert (found.engine, found.model, found.job) == ("hibari", "hibari-heart", str(JOB))
    content = marked.index(file[-200:-100]) if file[-200:-100] in marked else -500
    for place in (content, marked.index(b"org.pressroom.made")):  # in the content, and in the manifest
        changed = bytearray(marked)
        changed[place] ^= 1
        assert verify_file(io.BytesIO(changed)).status == "altered", place


def signed_by_others(folder: Path, *more: object) -> IO[bytes]:
    """Return a picture that another program signed."""
    own = make_identity()
    signer = c2pa.Signer.from_info(c2pa.C2paSignerInfo(c2pa.C2paSigningAlg.ES256, own.certificates, own.key, None))
    foreign = io.BytesIO()
    created = {"actions": [{"action": "c2pa.created", "digitalSourceType": SOURCES + "digitalCapture"}]}
    said = [{"label": "c2pa.actions", "data": created}, *more]
    manifest = {"claim_generator_info": [{"name": "Camera"}], "format": "image/png", "assertions": said}
    with c2pa.Builder(json.dumps(manifest)) as builder:
        builder.sign(signer, "image/png", io.BytesIO(plain(".png", folder)), foreign)
    foreign.seek(0)
    return foreign


@pytest.mark.parametrize("data", [["a list"], "text", 1])
def test_an_assertion_of_ours_in_no_form_of_ours_is_no_proof(data: object, tmp_path: Path) -> None:
    assert verify_file(signed_by_others(tmp_path, {"label": ASSERTION, "data": data})).status == "altered"


def test_what_others_sign_is_theirs(tmp_path: Path) -> None:
    found = verify_file(signed_by_others(tmp_path))
    assert (found.status, found.engine, found.is_trusted) == ("foreign", "Camera", False)


def test_only_who_is_trusted_is_trusted(marker: Marker, tmp_path: Path) -> None:
    marked = marker.mark(plain(".png", tmp_path), ".png", MADE, JOB)
    assert isinstance(marked, bytes)
    assert marker.identity is not None

    assert verify_file(io.BytesIO(marked), trusted=marker.identity.root).is_trusted
    assert not verify_file(io.BytesIO(marked), trusted=make_identity().root).is_trusted


def test_all_processes_sign_with_one_certificate(database: Database, tmp_path: Path) -> None:
    picture = plain(".png", tmp_path)
    markers = [Marker(MarkSettings(), database) for _ in range(2)]
    for marker in markers:
        marker.mark(picture, ".png", MADE, JOB)

    first, second = (marker.identity for marker in markers)
    assert first == second


def kept(identity: Identity, folder: Path, *, key: bytes | None = None) -> MarkSettings:
    """Return settings that name an identity's files."""
    certificate, key_file = folder / "chain.pem", folder / "key.pem"
    certificate.write_bytes(identity.certificates)
    key_file.write_bytes(key or identity.key)
    return MarkSettings(certificate=certificate, key=key_file)


def test_the_operators_certificate_signs(database: Database, tmp_path: Path) -> None:
    own = make_identity()
    marker = Marker(kept(own, tmp_path), database)

    marked = marker.mark(plain(".png", tmp_path), ".png", MADE, JOB)

    assert isinstance(marked, bytes)
    assert verify_file(io.BytesIO(marked), trusted=own.root).is_trusted


def test_a_key_of_another_certificate_is_refused(database: Database, tmp_path: Path) -> None:
    settings = kept(make_identity(), tmp_path, key=make_identity().key)

    with pytest.raises(NotReady, match="does not belong"):
        operators_identity(settings)
    with pytest.raises(NotMarked):
        Marker(settings, database).mark(plain(".png", tmp_path), ".png", MADE, JOB)


def test_a_certificate_that_has_ended_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = kept(make_identity(), tmp_path)
    monkeypatch.setattr(Identity, "lasts", lambda *_: False)

    with pytest.raises(NotReady, match="ended on"):
        operators_identity(settings)
