"""Resumable uploads: a file in several requests, each going on where the last broke off."""

import asyncio
import base64
import re
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from http_service import Answer, Service, Start, form
from payers import Payer, balance, open_account
from waiting import wait_for

from api.uploads.resources import PART_BYTES, OneUpload
from pipeline.database import Database, Statement
from pipeline.kind import AnyKind
from pipeline.lifecycle.jobs import find_open
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store
from pipeline.storage.resumable import ResumableUpload, find_part_keys, find_uploads
from pipeline.wakes.broker import WakeBroker, connect
from scripts.commands.sweep import Sweep

OCTETS = {"Content-Type": "application/offset+octet-stream", "Tus-Resumable": "1.0.0"}


def begin(service: Service, key: str, length: int | str, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return service.request("POST", "/uploads", b"", {"X-API-Key": key, "Upload-Length": str(length), **named})


def send(service: Service, key: str, path: str, offset: int, body: bytes, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return service.request("PATCH", path, body, OCTETS | {"X-API-Key": key, "Upload-Offset": str(offset), **named})


def offset_of(service: Service, key: str, path: str) -> int:
    return int(service.request("HEAD", path, headers={"X-API-Key": key}).headers["upload-offset"])


def break_off(service: Service, key: str, path: str, offset: int, claimed: int, body: bytes) -> None:
    """Send a part of a body, and close the connection."""
    headers = OCTETS | {"X-API-Key": key, "Upload-Offset": str(offset), "Content-Length": str(claimed), "Host": "x"}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    service.send_raw(f"PATCH {path} HTTP/1.1\r\n{head}\r\n".encode() + body, then_close=True)


def stored(service: Service, database: Database, path: str) -> bytes:
    artifacts = Artifacts(open_store(Settings(data=service.data)))
    return b"".join(map(artifacts.get, database.run(find_part_keys(UUID(path.rpartition("/")[2])))))


def complete(service: Service, key: str, content: bytes = b"sound") -> str:
    """Return the id of a complete upload."""
    path = begin(service, key, len(content)).headers["location"]
    assert send(service, key, path, 0, content).status == 204
    return path.rpartition("/")[2]


def sweep(service: Service, database: Database, redis_url: str, **work: int) -> Mapping[str, int]:
    settings = Settings(data=service.data, work={"upload_orphan_minutes": 0} | work)
    artifacts = Artifacts(open_store(settings))
    kinds: dict[str, AnyKind] = {}
    return Sweep(database, WakeBroker(connect(redis_url)), artifacts, kinds, settings).once()


def test_a_broken_upload_goes_on_where_it_broke_and_is_the_same_file(
    service: Service, client: Payer, api_database: Database
) -> None:
    content = bytes(range(256)) * 40_000  # 10 MB: more than two parts
    name = base64.b64encode("Gespräch.mp3".encode()).decode()
    begun = begin(service, client.api_key, len(content), Upload_Metadata=f"filename {name},filetype YXVkaW8=")
    path = begun.headers["location"]
    assert (begun.status, begun.json["name"], begun.headers["tus-resumable"]) == (201, "Gespräch.mp3", "1.0.0")
    assert path == f"/uploads/{begun.json['id']}"  # at the client's own scheme and host
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", begun.json["expires_at"])

    break_off(service, client.api_key, path, 0, len(content), content[:6_000_000])
    wait_for(lambda: offset_of(service, client.api_key, path) == 6_000_000)
    done = send(service, client.api_key, path, 6_000_000, content[6_000_000:])

    assert (done.status, done.headers["upload-offset"]) == (204, str(len(content)))
    assert stored(service, api_database, path) == content


@pytest.mark.parametrize("offset", [0, 3, 9])
def test_a_chunk_out_of_order_or_twice_is_refused_with_the_offset(service: Service, client: Payer, offset: int) -> None:
    path = begin(service, client.api_key, 10).headers["location"]
    assert send(service, client.api_key, path, 0, b"01234").status == 204

    refused = send(service, client.api_key, path, offset, b"x")

    assert (refused.status, refused.code, refused.json["upload_offset"]) == (409, "upload_offset_wrong", 5)
    assert offset_of(service, client.api_key, path) == 5


def test_of_two_requests_that_send_the_same_bytes_one_is_kept(service: Service, client: Payer) -> None:
    path = begin(service, client.api_key, PART_BYTES + 4).headers["location"]
    slow = service.connect()
    slow.putrequest("PATCH", path)
    for name, value in (OCTETS | {"X-API-Key": client.api_key, "Upload-Offset": "0"}).items():
        slow.putheader(name, value)
    slow.putheader("Content-Length", str(PART_BYTES + 4))
    slow.endheaders(bytes(PART_BYTES))
    wait_for(lambda: offset_of(service, client.api_key, path) == PART_BYTES)

    assert send(service, client.api_key, path, PART_BYTES, b"rest").status == 204
    slow.send(b"rest")

    assert slow.getresponse().status == 409
    assert len(list((service.data / "artifacts" / path[1:]).iterdir())) == 2


def test_what_arrived_counts_though_its_client_leaves_while_it_is_stored() -> None:
    writing, may_go_on, counted = asyncio.Event(), threading.Event(), asyncio.Event()
    sent = [b"half"]

    async def read(_: int) -> bytes:
        return sent.pop() if sent else b""

    async def run(_: object) -> object:
        counted.set()
        return upload

    async def leave() -> None:
        loop = asyncio.get_running_loop()

        def put(*_: object) -> None:
            loop.call_soon_threadsafe(writing.set)
            may_go_on.wait()

        services: Any = SimpleNamespace(
            artifacts=SimpleNamespace(put=put), database=SimpleNamespace(run=run), settings=Settings()
        )
        request: Any = SimpleNamespace(stream=SimpleNamespace(read=read))
        receiving = asyncio.create_task(OneUpload(services)._receive(request, uuid4(), upload))
        await writing.wait()
        receiving.cancel()
        may_go_on.set()
        await asyncio.wait_for(counted.wait(), 10)

    upload = ResumableUpload(uuid4(), 10, 0, "", datetime.now(UTC))
    asyncio.run(leave())


def test_bytes_behind_the_announced_end_are_refused(service: Service, client: Payer) -> None:
    path = begin(service, client.api_key, 10).headers["location"]

    refused = send(service, client.api_key, path, 0, b"more than ten bytes")

    assert (refused.status, refused.code) == (413, "upload_too_large")
    assert offset_of(service, client.api_key, path) == 0


@pytest.mark.parametrize(("length", "status"), [("0", 400), ("-1", 400), ("many", 400), (str(2**31 + 1), 413)])
def test_a_length_that_no_file_can_have_is_refused(service: Service, client: Payer, length: str, status: int) -> None:
    assert begin(service, client.api_key, length).status == status


def test_another_account_has_no_such_upload(service: Service, client: Payer, api_database: Database) -> None:
    other_client = open_account(api_database)
    path = begin(service, client.api_key, 5).headers["location"]
    theirs = {"X-API-Key": other_client.api_key}

    assert service.request("HEAD", path, headers=theirs).status == 404
    assert send(service, other_client.api_key, path, 0, b"sound").code == "upload_not_found"
    assert service.request("DELETE", path, headers=theirs).status == 404
    named = service.post("/transcriptions", {"upload": path.rpartition("/")[2]}, other_client.api_key)
    assert (named.status, named.code) == (404, "upload_not_found")


def test_unfinished_uploads_of_an_account_have_a_limit(start: Start, client: Payer) -> None:
    with start(UPLOADS__ACCOUNT_BYTES="3000000") as service:
        path = begin(service, client.api_key, 1_500_000).headers["location"]
        assert begin(service, client.api_key, 1).status == 201  # counts as a mebibyte
        refused = begin(service, client.api_key, 500_000)
        assert (refused.status, refused.code) == (429, "uploads_too_many")
        assert service.request("DELETE", path, headers={"X-API-Key": client.api_key}).status == 204
        assert begin(service, client.api_key, 500_000).status == 201


def test_an_upload_counts_towards_the_limit_until_its_job_has_ended(start: Start, client: Payer) -> None:
    with start(UPLOADS__ACCOUNT_BYTES="2000000") as service:
        upload_id = complete(service, client.api_key)
        assert begin(service, client.api_key, 1_000_000).code == "uploads_too_many"
        service.submit({"upload": upload_id}, client.api_key, "/transcriptions")
        assert begin(service, client.api_key, 1_000_000).code == "uploads_too_many"
        service.post(f"/jobs/{upload_id}/cancel", {}, client.api_key)
        assert begin(service, client.api_key, 1_000_000).status == 201


def test_an_upload_without_progress_is_gone_with_its_files(
    start: Start, client: Payer, api_database: Database, redis_server: str
) -> None:
    with start() as service:
        path = begin(service, client.api_key, 10).headers["location"]
        upload_id = UUID(path.rpartition("/")[2])
        send(service, client.api_key, path, 0, b"half")
        sweep(service, api_database, redis_server)
        assert stored(service, api_database, path) == b"half"

        expire(api_database, upload_id)
        assert service.request("HEAD", path, headers={"X-API-Key": client.api_key}).status == 404
        sweep(service, api_database, redis_server)

        assert api_database.run(find_uploads([upload_id])) == []
        assert not (service.data / "artifacts" / "uploads" / str(upload_id)).exists()


def test_one_upload_makes_one_job_however_often_it_is_asked_for(
    service: Service, client: Payer, api_database: Database, redis_server: str
) -> None:
    upload_id = complete(service, client.api_key)
    before = balance(api_database, client)

    first = service.post("/transcriptions", {"upload": upload_id}, client.api_key, Prefer="respond-async")
    again = service.post("/transcriptions", {"upload": upload_id}, client.api_key, Prefer="respond-async")
    other = service.post("/transcriptions", {"upload": upload_id, "task": "translate"}, client.api_key)
    deleted = service.request("DELETE", f"/uploads/{upload_id}", headers={"X-API-Key": client.api_key})

    assert (first.status, again.status, first.json["id"], again.json["id"]) == (202, 202, upload_id, upload_id)
    assert (other.status, other.code, other.json["job_id"]) == (409, "upload_used", upload_id)
    assert (deleted.status, deleted.code) == (409, "upload_used")
    assert before - balance(api_database, client) == 5
    expire(api_database, UUID(upload_id))  # the job may wait for hours
    sweep(service, api_database, redis_server)
    assert stored(service, api_database, upload_id) == b"sound"
    assert api_database.run(find_open([UUID(upload_id)])) == [UUID(upload_id)]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "recording_missing"),
        ({"upload": str(uuid4()), "url": "https://example.org/a.mp3"}, 400, "recording_missing"),
        ({"upload": str(uuid4())}, 404, "upload_not_found"),
        ({"url": "http://127.0.0.1/a.mp3"}, 400, "recording_url_blocked"),
        ({"url": "ftp://example.org/a.mp3"}, 400, "invalid_request"),
    ],
)
def test_a_request_without_a_usable_recording_is_refused(
    service: Service, client: Payer, body: dict[str, str], status: int, code: str
) -> None:
    refused = service.post("/transcriptions", body, client.api_key)
    assert (refused.status, refused.code) == (status, code)


def test_an_incomplete_upload_makes_no_job(service: Service, client: Payer) -> None:
    path = begin(service, client.api_key, 10).headers["location"]
    send(service, client.api_key, path, 0, b"half")
    refused = service.post("/transcriptions", {"upload": path.rpartition("/")[2]}, client.api_key)
    assert (refused.status, refused.code, refused.json["upload_offset"]) == (409, "upload_incomplete", 4)


def test_options_say_what_is_spoken(service: Service) -> None:
    answer = service.request("OPTIONS", "/uploads")
    assert (answer.status, answer.headers["tus-version"], answer.headers["tus-max-size"]) == (204, "1.0.0", str(2**31))
    assert service.request("OPTIONS", "/uploads", headers={"Tus-Resumable": "0.2.2"}).status == 204


def test_another_version_of_tus_is_refused(service: Service, client: Payer) -> None:
    refused = begin(service, client.api_key, 5, Tus_Resumable="0.2.2")
    assert (refused.status, refused.headers["tus-version"]) == (412, "1.0.0")


def expire(database: Database, upload_id: UUID) -> None:
    past = timedelta(seconds=-1)
    database.run(
        Statement(
            "UPDATE upload SET expires_at = now() + %(past)s WHERE id = %(id)s RETURNING id",
            {"past": past, "id": upload_id},
        )
    )


@pytest.mark.parametrize("metadata", ["filename é", "filename =", "filename", "filename /w==", ","])
def test_a_name_that_can_not_be_read_is_left_out(service: Service, client: Payer, metadata: str) -> None:
    begun = begin(service, client.api_key, 5, Upload_Metadata=metadata)

    assert (begun.status, begun.json["name"]) == (201, "")


def test_a_refused_form_that_names_an_upload_leaves_it_and_not_its_own_file(
    service: Service, client: Payer, api_database: Database
) -> None:
    upload = complete(service, open_account(api_database).api_key)  # somebody else's
    before = {path.name for path in (service.data / "artifacts" / "uploads").iterdir()}
    body, content_type = form(("manuscript", b"# A book", "a.txt"), ("upload", upload.encode(), None))

    refused = service.post_bytes("/audiobooks/plan", body, client.api_key, Content_Type=content_type)

    assert (refused.status, refused.json["code"]) == (400, "manuscript_missing")
    assert stored(service, api_database, f"/uploads/{upload}") == b"sound"
    assert {path.name for path in (service.data / "artifacts" / "uploads").iterdir()} <= before
