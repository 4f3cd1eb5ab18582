"""Multipart: files go straight into the store, and refused ones do not stay there."""

import hashlib
import shutil
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from http_service import Answer, Service, form
from payers import Payer, open_account
from waiting import files_in, wait_for

from pipeline.database import Database, Statement
from pipeline.kind import AnyKind
from pipeline.registry import own_kinds

MIB = 2**20
TEXT = ("text", b"hi", None)
AUDIO = ("audio", b"RIFF-audio", "a.wav")
MUSIC = ("music", b"ID3-music", "m.mp3")


def uploads(service: Service) -> list[Path]:
    """Return the files that lie in the store."""
    return files_in(service.data / "artifacts")


def kept(service: Service) -> list[Path]:
    """Return the folders of requests that lie in the store, with files or without."""
    folder = service.data / "artifacts" / "uploads"
    return list(folder.iterdir()) if folder.exists() else []


@pytest.fixture
def clean(service: Service) -> Service:
    """The shared service, without earlier tests' files: uploads, and what tests of links have put beside them."""
    for folder in (service.data / "artifacts").glob("*"):
        shutil.rmtree(folder)
    return service


def send(service: Service, key: str | None, *parts: tuple[str, bytes, str | None], **headers: str) -> Answer:
    body, content_type = form(*parts)
    return service.post_bytes(
        "/files-in", body, key, **{"Prefer": "respond-async", "Content_Type": content_type, **headers}
    )


def test_files_are_kept_for_their_job(clean: Service, client: Payer, api_database: Database) -> None:
    answer = send(clean, client.api_key, TEXT, AUDIO, MUSIC, ("volume", b"-30", None))
    assert answer.status == 202, answer.body
    folder = clean.data / "artifacts" / "uploads" / answer.json["id"]
    assert (folder / "audio").read_bytes() == b"RIFF-audio"
    assert (folder / "music").read_bytes() == b"ID3-music"
    found = api_database.run(Statement("SELECT input FROM item WHERE job_id = %(job)s", {"job": answer.json["id"]}))
    assert found == [{"input": {"volume": -30.0}}]


def test_fields_may_come_in_any_order_and_the_key_last(clean: Service, client: Payer) -> None:
    key = ("api_key", client.api_key.encode(), None)
    assert send(clean, None, MUSIC, AUDIO, ("volume", b"-1.5", None), TEXT, key).status == 202


@pytest.mark.parametrize("kind", [kind for kind in own_kinds() if kind.files], ids=lambda kind: kind.name)
def test_a_form_may_have_all_fields_of_its_kind(clean: Service, client: Payer, kind: AnyKind) -> None:
    fields = {name: field.default for name, field in kind.request.model_fields.items()}
    [voice, *_] = clean.get("/tts/voices?language=en").json["voices"]
    sent = {"text": "hi", "language": voice["language_codes"][0], "voice_name": voice["name"]}
    fields |= {name: value for name, value in sent.items() if name in fields}
    fields |= {"api_key": client.api_key, "an unknown one": "x"}
    texts = [(name, str(value).encode(), None) for name, value in fields.items() if value is not None]
    body, content_type = form(*[(name, b"RIFF", name) for name in kind.files], *texts)
    answer = clean.post_bytes(kind.routes[0], body, Prefer="respond-async", Content_Type=content_type)
    assert answer.status == 202, answer.body


@pytest.mark.parametrize(
    "headers",
    [
        # as Apache's HttpClient, OkHttp and small devices write them
        'Content-Disposition: form-data; name="{}"\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: 8bit',
        'content-disposition: form-data; name="{}"\r\ncontent-transfer-encoding: BINARY\r\ncontent-length: 2',
        'Content-Disposition:form-data;name="{}"\r\nContent-Transfer-Encoding:7bit',
        'Content-Disposition: form-data; name="{}"\r\nX-Folded: a\r\n Content-Disposition: b',
    ],
)
def test_headers_of_parts_are_understood_as_clients_write_them(clean: Service, client: Payer, headers: str) -> None:
    parts = [f"--b0undary\r\n{headers.format(name)}\r\n\r\n{name}\r\n" for name in ("text", "audio", "music")]

    answer = clean.post_bytes(
        "/files-in",
        "".join([*parts, "--b0undary--\r\n"]).encode(),
        client.api_key,
        Prefer="respond-async",
        Content_Type="multipart/form-data; boundary=b0undary",
    )

    assert answer.status == 202, answer.body
    assert {path.read_bytes() for path in uploads(clean)} == {b"audio", b"music"}


def test_a_field_that_nobody_asked_for_may_come_twice(clean: Service, client: Payer) -> None:
    twice = [("timestamp_granularities[]", name, None) for name in (b"word", b"segment")]

    assert send(clean, client.api_key, TEXT, *twice, AUDIO, MUSIC).status == 202


def test_a_client_that_leaves_amid_its_upload_leaves_nothing(clean: Service, client: Payer) -> None:
    body, content_type = form(TEXT, AUDIO, ("music", b"0" * 5 * MIB, "m.mp3"))
    head = (
        f"POST /files-in HTTP/1.1\r\nHost: x\r\nX-API-Key: {client.api_key}\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", clean.port)) as connection:
        connection.sendall(head.encode() + body[: 2 * MIB])
        wait_for(lambda: kept(clean))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wait_for(lambda: not kept(clean))


def test_a_wrong_key_after_the_files_leaves_none_of_them(clean: Service) -> None:
    assert send(clean, None, AUDIO, MUSIC, TEXT, ("api_key", b"nobody", None)).status == 401
    assert kept(clean) == []


@pytest.mark.parametrize("name", ["../../etc/passwd", "a\\0.wav", "a%00b", "/abs", "..", "é.wav", "x" * 5_000, ""])
def test_a_file_name_is_only_a_name(clean: Service, client: Payer, name: str) -> None:
    answer = send(clean, client.api_key, TEXT, ("audio", b"a", name), MUSIC)
    assert answer.status == 202
    stored = {path.relative_to(clean.data / "artifacts").parts[2] for path in uploads(clean)}
    assert stored == {"audio", "music"}


def test_a_file_name_with_a_line_break_stays_in_its_header(clean: Service, client: Payer) -> None:
    answer = send(clean, client.api_key, TEXT, ("audio", b"a", 'a"\r\nX-Injected: 1'), MUSIC)
    assert answer.status in {202, 400}
    assert "x-injected" not in answer.headers


BAD_FORMS = {
    "no audio": ([TEXT, MUSIC], "invalid_request"),
    "no files": ([TEXT], "invalid_request"),
    "no text": ([AUDIO, MUSIC], "invalid_request"),
    "a word for a number": ([TEXT, AUDIO, MUSIC, ("volume", b"loud", None)], "invalid_request"),
    "a number too large": ([TEXT, AUDIO, MUSIC, ("volume", b"1", None)], "invalid_request"),
    "NaN": ([TEXT, AUDIO, MUSIC, ("volume", b"nan", None)], "invalid_request"),
    "infinity": ([TEXT, AUDIO, MUSIC, ("volume", b"-inf", None)], "invalid_request"),
    "a doubled text": ([TEXT, TEXT, AUDIO, MUSIC], "field_doubled"),
    "a doubled file": ([TEXT, AUDIO, AUDIO, MUSIC], "field_doubled"),
    "an empty file": ([TEXT, ("audio", b"", "a.wav"), MUSIC], "file_empty"),
    "NUL": ([("text", b"a\0b", None), AUDIO, MUSIC], "text_has_nul"),
    "not UTF-8": ([("text", b"\xff\xfe", None), AUDIO, MUSIC], "form_invalid"),
    "1,009 parts": ([AUDIO, MUSIC, *[(f"x{n}", b"1", None) for n in range(1_007)]], "form_invalid"),
    "a part without a name": ([AUDIO, MUSIC, ("", b"1", None)], "form_invalid"),
    "a part header of 9 KiB": ([TEXT, AUDIO, MUSIC, ("x", b"1", "y" * 9 * 1024)], "form_invalid"),
    "a text of more than a mebibyte": ([AUDIO, MUSIC, ("text", b"x" * (MIB + 1), None)], "form_invalid"),
}

#: The refusal's words on the limit.
LIMITS = {"1,009 parts": "more than 1,008 parts; send fewer", "a text of more than a mebibyte": "1,048,576 bytes"}


@pytest.mark.parametrize("name", BAD_FORMS)
def test_a_form_that_is_not_as_it_must_be_is_refused_and_leaves_nothing(
    clean: Service, client: Payer, api_database: Database, name: str
) -> None:
    parts, code = BAD_FORMS[name]
    answer = send(clean, client.api_key, *parts)
    assert (answer.status, answer.code) == (400, code), answer.body
    assert LIMITS.get(name, "") in answer.json["message"]
    assert kept(clean) == []
    jobs = api_database.run(
        Statement("SELECT 1 FROM job WHERE account_id = %(account)s", {"account": client.account_id})
    )
    assert jobs == []


BROKEN = {
    "no boundary": (b"x", "multipart/form-data"),
    "an empty boundary": (b"x", "multipart/form-data; boundary="),
    "another boundary": (form(TEXT)[0], "multipart/form-data; boundary=other"),
    "no end": (form(TEXT, AUDIO)[0][:-20], "multipart/form-data; boundary=b0undary"),
    "cut in a header": (
        b'--b0undary\r\nContent-Disposition: form-data; name="te',
        "multipart/form-data; boundary=b0undary",
    ),
    "nothing": (b"", "multipart/form-data; boundary=b0undary"),
    "a header that is not UTF-8": (
        b'--b0undary\r\nContent-Disposition: form-data; name="\xff\xfe"\r\n\r\nx\r\n--b0undary--\r\n',
        "multipart/form-data; boundary=b0undary",
    ),
    "an encoded part": (
        b'--b0undary\r\nContent-Disposition: form-data; name="text"\r\nContent-Transfer-Encoding: base64\r\n\r\n'
        b"aGk=\r\n--b0undary--\r\n",
        "multipart/form-data; boundary=b0undary",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_body_that_is_no_form_is_refused(clean: Service, client: Payer, name: str) -> None:
    body, content_type = BROKEN[name]
    answer = clean.post_bytes("/files-in", body, client.api_key, Content_Type=content_type)
    assert answer.status == 400, answer.body
    assert answer.json["error"] == "Invalid Request"
    assert kept(clean) == []


def test_json_is_refused_where_files_are_needed(clean: Service, client: Payer) -> None:
    assert clean.post("/files-in", {"text": "hi"}, client.api_key).status == 415


def test_a_file_of_25_mebibytes_is_taken_and_one_more_byte_is_not(clean: Service, client: Payer) -> None:
    full = b"\0" * (25 * MIB)
    assert send(clean, client.api_key, TEXT, ("audio", full, "a.wav"), MUSIC).status == 202
    for folder in kept(clean):
        shutil.rmtree(folder)
    answer = send(clean, client.api_key, TEXT, ("audio", full + b"\0", "a.wav"), MUSIC)
    assert (answer.status, answer.json["details"][0]["field"]) == (413, "audio")
    assert kept(clean) == []


def test_an_upload_that_says_it_is_too_large_is_refused_before_it_is_read(clean: Service, client: Payer) -> None:
    sent = (
        f"POST /files-in HTTP/1.1\r\nHost: x\r\nX-API-Key: {client.api_key}\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 54000000\r\nConnection: close\r\n\r\n"
    )
    received = clean.send_raw(sent.encode() + b"x" * 54_000_000)
    assert received.startswith(b"HTTP/1.1 413")
    assert b"a file in it may have 26,214,400" in received


def test_a_wrong_key_in_a_header_refuses_an_upload_before_it_is_kept(clean: Service) -> None:
    answer = send(clean, "nobody", TEXT, ("audio", b"\0" * 5 * MIB, "a.wav"), MUSIC)
    assert answer.status == 401
    assert kept(clean) == []


def test_a_request_that_can_not_be_paid_leaves_no_file(clean: Service, api_database: Database) -> None:
    poor = open_account(api_database, credits=1)
    assert send(clean, poor.api_key, TEXT, AUDIO, MUSIC).status == 402
    assert kept(clean) == []


def test_files_are_kept_where_nobody_knows_whether_their_job_was_made(
    clean: Service, client: Payer, api_database: Database
) -> None:
    with ThreadPoolExecutor(1) as threads, api_database.transaction() as held:
        held.run(Statement("SELECT id FROM account WHERE id = %(id)s FOR UPDATE", {"id": client.account_id}))
        asked = threads.submit(send, clean, client.api_key, TEXT, AUDIO, MUSIC)
        while not asked.done():  # its connection is lost each time, as if the answer were
            api_database.run(
                Statement(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE wait_event_type = 'Lock' AND datname = current_database()"
                )
            )
            time.sleep(0.05)
    assert asked.result().status == 503, asked.result().body
    assert {path.read_bytes() for path in uploads(clean)} == {b"RIFF-audio", b"ID3-music"}


def test_a_replayed_form_is_compared_by_its_files_and_kept_once(clean: Service, client: Payer) -> None:
    sent = {"Idempotency_Key": uuid4().hex}
    first = send(clean, client.api_key, TEXT, AUDIO, MUSIC, **sent)
    body, content_type = form(MUSIC, AUDIO, TEXT, boundary="another")
    second = clean.post_bytes(
        "/files-in", body, client.api_key, Prefer="respond-async", Content_Type=content_type, **sent
    )
    assert first.json["id"] == second.json["id"]
    assert len(uploads(clean)) == 2
    other = ("audio", hashlib.sha256(b"other").digest(), "a.wav")
    assert send(clean, client.api_key, TEXT, other, MUSIC, **sent).status == 422
    assert len(uploads(clean)) == 2


def test_a_file_that_nobody_asked_for_is_ignored(clean: Service, client: Payer) -> None:
    thumbnail = ("thumbnail", b"\x89PNG\xff\xfe" * 1_000, "t.png")

    answer = send(clean, client.api_key, TEXT, thumbnail, AUDIO, MUSIC)

    assert answer.status == 202, answer.body
    folder = clean.data / "artifacts" / "uploads" / answer.json["id"]
    assert sorted(file.name for file in folder.iterdir()) == ["audio", "music"]
