"""Marks on every route that makes something, receipts, and `pressroom verify`, on a whole system."""

import asyncio
import hashlib
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import aiohttp
import pytest
from http_service import form
from ran import Ran
from systems import Running

from pipeline.audio_formats import AUDIO_FORMATS
from pipeline.registry import load_kinds
from pipeline.settings import Settings
from scripts.demo.__main__ import body_of
from scripts.demo.picture import served_pictures
from workers.media.marks.verifying import verify_file

pytestmark = pytest.mark.system

KINDS = load_kinds(Settings())
#: Kinds that write down or look up what others made. A new kind stands here, or declares its `origins`.
MAKES_NOTHING = {
    "audiobook_plan",
    "index_check",
    "index_submit",
    "long_transcription",
    "transcription",
    "transcription_stream",
    "verification",
}
#: Made in two steps, which test_audiobooks.py takes.
IN_STEPS = {"audiobook", "audiobook_file"}
MAKERS = sorted(KINDS.keys() - MAKES_NOTHING - IN_STEPS)
#: The kinds whose answer is JSON; the others answer with a sound.
IN_JSON = {"alt_text", "alt_text_batch", "blog_metadata"}

Answered = tuple[Mapping[str, str], bytes]


def example(service: Running, name: str) -> Answered:
    """Send a kind's example; return the headers and the body of its answer."""

    async def send() -> Answered:
        with served_pictures() as pictures:
            body = body_of(KINDS[name], KINDS[name].example, pictures)
            async with (
                aiohttp.ClientSession(service.address, headers={"X-API-Key": service.key}) as session,
                session.post(KINDS[name].routes[0], **body) as answer,
            ):
                content = await answer.read()
                assert answer.status == 200, content[:500]
                return answer.headers, content

    return asyncio.run(send())


@pytest.fixture(scope="module", name="spoken")
def _spoken(service: Running, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a sound of POST /tts as a file, and its job."""
    answer = service.ask("/tts", {"text": "Good morning.", "language": "en"})
    file = tmp_path_factory.mktemp("spoken") / "sound.wav"
    file.write_bytes(answer.body)
    return file, answer.headers["X-Job-Id"]


def test_every_kind_says_who_makes_its_answers() -> None:
    assert [name for name in MAKERS if not KINDS[name].origins] == []


@pytest.mark.parametrize("name", MAKERS)
def test_what_a_kind_makes_is_marked(service: Running, name: str) -> None:
    headers, body = example(service, name)

    origin = headers["X-Content-Origin"]
    assert origin == KINDS[name].origin(headers["X-Engine"])
    if name in IN_JSON:
        told = json.loads(body)
        assert told.get("origin", origin) == origin
        for one in told.get("results", []):
            assert one["origin"] == KINDS[name].origin(one["engine"])
        for image in told.get("images", []):
            with urlopen(image["url"]) as answer:  # this machine's own address
                drawn = verify_file(io.BytesIO(answer.read()))
            assert (drawn.status, drawn.origin, drawn.source) == ("signed", "composed", "algorithmicMedia")
        return
    found = verify_file(io.BytesIO(body))
    if KINDS[name].streams:
        by_rules = headers["X-Engine"] == "espeak"
        source = "algorithmicMedia" if by_rules else "trainedAlgorithmicMedia"
        assert (found.status, found.source) == ("tagged", source)
    else:
        assert (found.status, found.origin, found.job) == ("signed", origin, headers["X-Job-Id"])


@pytest.mark.parametrize("form", sorted(AUDIO_FORMATS))
def test_openais_route_is_marked_in_every_format(service: Running, form: str) -> None:
    answer = service.ask(
        "/v1/audio/speech", {"model": "tts-1", "input": "Hello.", "voice": "nova", "response_format": form}
    )

    assert answer.headers["X-Content-Origin"] == "synthetic"
    # WAV is made before it is sent; raw samples have no place for a mark.
    marked = {"wav": "signed", "pcm": "unmarked"}.get(form, "tagged")
    assert verify_file(io.BytesIO(answer.body)).status == marked


def test_a_changed_file_is_found_out(
    spoken: tuple[Path, str], command_here: Callable[..., Ran], tmp_path: Path
) -> None:
    file, _ = spoken
    changed = bytearray(file.read_bytes())
    changed[5_000] ^= 1
    (tmp_path / "changed.wav").write_bytes(changed)

    assert command_here("verify", str(file)).code == 0
    said = command_here("verify", str(tmp_path / "changed.wav"))
    assert (said.code, "changed after it was made" in said.err + said.out) == (1, True)


def test_a_receipt_is_verified_without_a_service(
    service: Running, spoken: tuple[Path, str], command_here: Callable[..., Ran], tmp_path: Path
) -> None:
    file, job = spoken
    receipt, certificate = tmp_path / "receipt.json", tmp_path / "certificate.pem"
    told = service.ask(f"/jobs/{job}/receipt")
    receipt.write_bytes(told.body)
    certificate.write_bytes(service.ask("/certificate").body)

    named = command_here("verify", str(file), "--receipt", str(receipt), "--certificate", str(certificate))
    assert (named.code, "names this file" in named.err + named.out) == (0, True), named
    assert [line["entry"] for line in told.json["receipt"]["ledger"]] == ["hold", "capture"]
    assert told.json["receipt"]["items"][0]["files_sha256"] == [hashlib.sha256(file.read_bytes()).hexdigest()]

    altered: Any = told.json
    altered["receipt"]["credits"] = 0
    receipt.write_text(json.dumps(altered))
    assert "altered" in command_here("verify", str(receipt)).err


def test_a_dropped_file_is_verified_by_the_api(service: Running, spoken: tuple[Path, str]) -> None:
    file, job = spoken

    told = service.post_bytes("/verify", *form(("file", file.read_bytes(), "a.wav")))

    assert (told.json["status"], told.json["is_trusted"], told.json["job"]) == ("signed", True, job), told.body
    assert told.headers["X-Credits-Used"] == "0"
