"""What an API process takes for many large bodies at once."""

import asyncio
import http.client
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import falcon.asgi
import pytest
from falcon.testing import create_asgi_req
from http_service import Start, form
from payers import Payer

from api.http.bodies import bodies, forms
from api.http.bodies.bodies import _Coming
from api.http.bodies.forms import FormReader, FormShape, Upload
from api.http.request_context import SCOPE_KEY, RequestContext
from pipeline.errors import ServiceUnavailable

MIB = 2**20
AT_ONCE = 8
#: Half a megabyte that becomes ten when it is read, in a field that no kind has.
BODY = b'{"text":"hi","x":[' + b",".join([b"[]"] * 170_000) + b"]}"


def peak_of(pid: int) -> int:
    """Return the most memory that the children of a process have had, in bytes."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return (
        max(int(Path(f"/proc/{one}/status").read_text().partition("VmHWM:")[2].split()[0]) for one in children) * 1024
    )


def post(port: int, key: str, path: str, body: bytes, content_type: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        headers = {"X-API-Key": key, "Prefer": "respond-async", "Content-Type": content_type}
        connection.request("POST", path, body, headers)
        return connection.getresponse().status
    finally:
        connection.close()


def test_bodies_are_not_kept_as_what_they_were_read_into(start: Start, client: Payer) -> None:
    # Whoever needs the offers waits for the database, each for itself.
    with start(API__OFFERS_MAX_AGE_SECONDS="0") as service, ThreadPoolExecutor(AT_ONCE) as pool:
        sent = (service.port, client.api_key, "/echo", BODY, "application/json")
        assert post(*sent) == 202
        before = peak_of(service.process.pid)
        answers = list(pool.map(lambda _: post(*sent), range(AT_ONCE)))
        taken = peak_of(service.process.pid) - before

    assert answers == [202] * AT_ONCE
    assert taken < 45 * MIB  # the bodies themselves are 4, and 80 as they were read


def test_files_are_not_kept_in_memory_however_many_come_at_once(start: Start, client: Payer) -> None:
    sound = b"RIFF" + bytes(20 * MIB)
    body, content_type = form(("text", b"hi", None), ("audio", sound, "a.wav"), ("music", sound, "m.wav"))

    with start() as service, ThreadPoolExecutor(8) as pool:
        sent = (service.port, client.api_key, "/files-in", body, content_type)
        assert post(*sent) == 202
        before = peak_of(service.process.pid)
        answers = list(pool.map(lambda _: post(*sent), range(8)))
        taken = peak_of(service.process.pid) - before

    assert answers == [202] * 8
    assert taken < 60 * MIB  # of 320 that were sent


# Counted, whoever sends it: without a key it would be refused only once it was read


def request(body: bytes, content_type: str) -> falcon.asgi.Request:
    """Return a request whose body has come."""
    req = create_asgi_req(method="POST", body=body, headers={"Content-Type": content_type})
    req.scope[SCOPE_KEY] = RequestContext.begin(req.scope)
    return req


def test_a_json_body_is_counted_until_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "coming", _Coming(3 * len(BODY)))
    monkeypatch.setattr(bodies, "_large", asyncio.Semaphore(1))  # one belongs to one event loop

    async def read_at_once(count: int) -> list[object]:
        reading = (bodies.read_json(request(BODY, "application/json"), max_bytes=len(BODY)) for _ in range(count))
        return await asyncio.gather(*reading, return_exceptions=True)

    # They are read one after the other: three wait, and the others are refused.
    found = asyncio.run(read_at_once(5))
    assert [type(one) for one in found].count(ServiceUnavailable) == 2


def test_the_texts_of_a_form_are_counted_by_what_they_take_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "é".encode() * 1_000 + "🎈".encode()  # one character that makes each take four bytes
    body, content_type = form(*(("keywords[]", text, None) for _ in range(50)))
    reader = FormReader(
        FormShape({}, frozenset(), frozenset({"keywords"})), max_file_bytes=1, max_field_bytes=MIB, max_bytes=MIB
    )

    def read() -> object:
        return asyncio.run(reader.read(request(body, content_type), Upload(None, uuid4())))

    monkeypatch.setattr(forms, "coming", _Coming(50 * 4_500))
    assert len(read()["keywords"]) == 50
    monkeypatch.setattr(forms, "coming", _Coming(50 * 3_500))
    with pytest.raises(ServiceUnavailable):
        read()
