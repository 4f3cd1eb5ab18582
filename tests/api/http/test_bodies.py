"""What bad input gets: a 4xx that says why, never a 500, and nothing held."""

import gzip
import http.client
import json
import re
import socket
import time

import pytest
from http_service import Service, Start, form, read_answer
from payers import Payer, open_account
from waiting import wait_for

from pipeline.database import Database, Statement

MIB = 2**20


def assert_nothing_happened(database: Database, payer: Payer) -> None:
    found = database.run(
        Statement(
            "SELECT (SELECT count(*) FROM job WHERE account_id = %(account)s) AS jobs, available"
            " FROM account WHERE id = %(account)s",
            {"account": payer.account_id},
        )
    )
    assert found == [{"jobs": 0, "available": 1_000}]


def deep(opening: bytes, closing: bytes, levels: int, core: bytes = b"1") -> bytes:
    return opening * levels + core + closing * levels


BAD_JSON = {
    "nothing": (b"", "json_invalid"),
    "words": (b"hello", "json_invalid"),
    "cut": (b'{"text": "hi"', "json_invalid"),
    "a list": (b"[]", "json_not_an_object"),
    "a text": (b'"hi"', "json_not_an_object"),
    "null": (b"null", "json_not_an_object"),
    "100,000 brackets": (b"[" * 100_000, "json_too_deep"),
    "50,000 objects": (b'{"a":' * 50_000, "json_too_deep"),
    "33 levels": (b'{"text": "hi", "x": ' + deep(b"[", b"]", 32) + b"}", "json_too_deep"),
    "NUL escaped": (b'{"text": "a\\u0000b"}', "text_has_nul"),
    "NUL in a key": (b'{"text": "hi", "a\\u0000": 1}', "text_has_nul"),
    "NUL far down": (b'{"text": "hi", "x": {"y": ["\\u0000"]}}', "text_has_nul"),
    "NUL itself": (b'{"text": "a\x00b"}', "json_invalid"),
    "a lone surrogate": (b'{"text": "\\ud800"}', "json_invalid"),
    "a surrogate the wrong way": (b'{"text": "\\udc00\\ud800"}', "json_invalid"),
    "NaN": (b'{"text": "hi", "number": NaN}', "json_invalid"),
    "Infinity": (b'{"text": "hi", "number": Infinity}', "json_invalid"),
    "minus Infinity": (b'{"text": "hi", "number": -Infinity}', "json_invalid"),
    "1e400": (b'{"text": "hi", "number": 1e400}', "json_number_too_large"),
    "1e400 in an unknown field": (b'{"text": "hi", "x": [-1e400]}', "json_number_too_large"),
    "5,000 digits": (b'{"text": "hi", "whole": ' + b"9" * 5_000 + b"}", "json_invalid"),
    "not UTF-8": (b'{"text": "\xff\xfe"}', "json_invalid"),
    "UTF-16": ('{"text": "hi"}'.encode("utf-16"), "json_invalid"),
    "a trailing comma": (b'{"text": "hi",}', "json_invalid"),
    "two documents": (b'{"text": "hi"}{}', "json_invalid"),
}


@pytest.mark.parametrize("name", BAD_JSON)
def test_json_that_is_none_is_refused(service: Service, client: Payer, api_database: Database, name: str) -> None:
    body, code = BAD_JSON[name]
    answer = service.post_bytes("/echo", body, client.api_key)
    assert (answer.status, answer.code) == (400, code)
    assert answer.json["error"] == "Invalid Request"
    assert answer.json["request_id"] == answer.headers["x-request-id"]
    assert_nothing_happened(api_database, client)


#: By name: how much more the first chunk promises, what comes behind it, and what comes a moment later.
BROKEN_OFF = {
    "a chunk that is none": (0, b"\r\n", b"xyz\r\n"),
    "the end of the connection": (0, b"\r\n", b""),
    "the end amid a chunk": (9, b"", b""),
}


@pytest.mark.parametrize("name", BROKEN_OFF)
def test_a_body_that_breaks_off_makes_no_job_though_it_could_be_read(
    service: Service, client: Payer, api_database: Database, name: str
) -> None:
    more, behind, later = BROKEN_OFF[name]
    body = b'{"text": "hi"}'
    request_id = f"breaks-off-{list(BROKEN_OFF).index(name)}"
    head = (
        f"POST /echo HTTP/1.1\r\nHost: x\r\nX-API-Key: {client.api_key}\r\nX-Request-Id: {request_id}\r\n"
        f"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", service.port), timeout=120) as connection:
        connection.sendall(head.encode() + b"%x\r\n%s%s" % (len(body) + more, body, behind))
        time.sleep(0.2)  # what has come is read by then
        connection.sendall(later)
        connection.shutdown(socket.SHUT_WR)
        answer = connection.makefile("rb").read()

    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 "), answer
    service.wait_for_line(event="request answered", request_id=request_id)
    assert_nothing_happened(api_database, client)


def test_of_a_doubled_field_the_last_counts_for_all(service: Service, client: Payer, api_database: Database) -> None:
    body = f'{{"text": "a", "text": "b", "api_key": "nobody", "api_key": "{client.api_key}"}}'
    answer = service.post_bytes("/echo", body.encode(), Prefer="respond-async")
    found = api_database.run(Statement("SELECT input FROM item WHERE job_id = %(job)s", {"job": answer.json["id"]}))
    assert found == [{"input": {"text": "b"}}]


@pytest.mark.parametrize(
    ("text", "said"), [("", "must not be empty"), ("x" * 100_000, "at most 1,000 characters, but has 100,000")]
)
def test_a_wrong_length_is_told_in_numbers_and_not_by_the_text(
    service: Service, client: Payer, text: str, said: str
) -> None:
    answer = service.post("/echo", {"text": text}, client.api_key)
    [fault] = answer.json["details"]
    assert said in fault["message"]
    assert "xx" not in fault["message"]
    assert len(answer.body) < 1_000


BAD_FIELDS = {
    "no text": ({}, "text", "field_missing"),
    "an empty text": ({"text": ""}, "text", "field_length"),
    "a long text": ({"text": "x" * 1_001}, "text", "field_length"),
    "a number for a text": ({"text": 1}, "text", "field_type"),
    "null for a text": ({"text": None}, "text", "field_missing"),
    "a list for a text": ({"text": ["hi"]}, "text", "field_type"),
    "a text for a number": ({"text": "hi", "number": "1"}, "number", "field_type"),
    "true for a number": ({"text": "hi", "number": True}, "number", "field_type"),
    "a number too small": ({"text": "hi", "number": -1}, "number", "field_out_of_range"),
    "a number too large": ({"text": "hi", "number": 10.001}, "number", "field_out_of_range"),
    "a fraction for a whole": ({"text": "hi", "whole": 1.5}, "whole", "field_type"),
    "no choice": ({"text": "hi", "choice": "c"}, "choice", "field_not_a_choice"),
    "an unknown source": ({"text": "hi", "source": "fax"}, "source", "field_not_a_choice"),
}


@pytest.mark.parametrize("name", BAD_FIELDS)
def test_a_wrong_field_is_named(service: Service, client: Payer, api_database: Database, name: str) -> None:
    document, field, code = BAD_FIELDS[name]
    answer = service.post("/echo", document, client.api_key)
    assert (answer.status, answer.code) == (400, "invalid_request")
    assert [(fault["field"], fault["code"]) for fault in answer.json["details"]] == [(field, code)]
    assert field in answer.json["message"]
    assert_nothing_happened(api_database, client)


def test_a_field_that_is_null_is_one_that_was_not_sent(service: Service, client: Payer, api_database: Database) -> None:
    named = {"Idempotency-Key": f"null-{client.account_id}", "Prefer": "respond-async"}
    nulls = dict.fromkeys(("number", "whole", "choice", "source", "webhook_url", "webhook_events", "unknown"))
    answer = service.post("/echo", {"text": "hi", **nulls}, client.api_key, **named)
    plain = service.post("/echo", {"text": "hi"}, client.api_key, **named)
    assert (answer.status, answer.json["source"]) == (202, "api")
    assert (plain.status, plain.json["id"]) == (202, answer.json["id"])


def test_all_wrong_fields_are_named_at_once_with_what_was_sent_as_json(service: Service, client: Payer) -> None:
    answer = service.post("/echo", {"text": [None], "number": True, "choice": "c"}, client.api_key)
    assert [(fault["field"], fault["message"].rsplit(", but ")[1]) for fault in answer.json["details"]] == [
        ("text", "[null] was sent."),
        ("number", "true was sent."),
        ("choice", '"c" was sent.'),
    ]


def test_what_nobody_foresaw_says_nothing_but_the_request_id(service: Service, client: Payer) -> None:
    answer = service.post("/echo", {"text": "crash"}, client.api_key)
    assert answer.status == 500
    assert answer.json["error"] == "Internal Server Error"
    assert set(answer.json) == {"error", "message", "code", "details", "request_id"}
    assert b"nobody foresaw" not in answer.body
    line = service.wait_for_line(event="request failed", request_id=answer.json["request_id"])
    assert line["exception"][0]["exc_value"] == "nobody foresaw this"


# Size


def test_a_body_of_a_mebibyte_is_read_and_one_more_byte_is_refused(
    service: Service, client: Payer, api_database: Database
) -> None:
    empty = len(json.dumps({"text": "hi", "x": ""}))
    full = {"text": "hi", "x": "y" * (MIB - empty)}
    assert service.post("/echo", full, client.api_key, Prefer="respond-async").status == 202
    answer = service.post("/echo", {**full, "x": full["x"] + "y"}, client.api_key)
    assert (answer.status, answer.json["error"]) == (413, "Payload Too Large")


def test_a_body_without_a_length_is_counted_while_it_comes(service: Service, client: Payer) -> None:
    connection = service.connect()
    chunks = (b" " * 65_536 for _ in range(40))
    connection.request("POST", "/echo", chunks, {"X-API-Key": client.api_key, "Content-Type": "application/json"})
    assert read_answer(connection).status == 413
    connection.close()


def test_the_sender_of_a_large_refused_body_sees_the_answer(service: Service, client: Payer) -> None:
    answer = service.post_bytes("/echo", b" " * (20 * MIB), client.api_key)
    assert answer.status == 413


def test_a_body_that_is_shorter_than_it_says_is_refused(
    service: Service, client: Payer, api_database: Database
) -> None:
    sent = (
        f"POST /echo HTTP/1.1\r\nHost: x\r\nX-API-Key: {client.api_key}\r\nContent-Type: application/json\r\n"
        'Content-Length: 500\r\n\r\n{"text": "hi"}'
    )
    received = service.send_raw(sent.encode(), then_close=True)
    assert not received or b" 400 " in received.split(b"\r\n")[0]
    assert_nothing_happened(api_database, client)


def test_a_body_that_is_longer_than_it_says_makes_one_request(service: Service, client: Payer) -> None:
    body = '{"text": "hi"}'
    sent = (
        f"POST /echo HTTP/1.1\r\nHost: x\r\nX-API-Key: {client.api_key}\r\nPrefer: respond-async\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}and more of it\r\n\r\n"
    )
    received = service.send_raw(sent.encode())
    assert received.startswith(b"HTTP/1.1 202")
    assert received.count(b"HTTP/1.1 2") == 1


def test_a_bad_chunk_of_a_request_is_noted_once(start: Start, client: Payer) -> None:
    with start() as service, socket.create_connection(("127.0.0.1", service.port), timeout=120) as connection:
        connection.sendall(
            f"POST /echo HTTP/1.1\r\nHost: x\r\nX-API-Key: {client.api_key}\r\nX-Request-Id: bad-chunk\r\n"
            "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        assert connection.recv(1_000) == b"HTTP/1.1 100 Continue\r\n\r\n"  # it is being read
        connection.sendall(b"1\r\n{\r\nxyz\r\n")
        assert connection.makefile("rb").read().startswith(b"HTTP/1.1 400 ")

        assert service.wait_for_line(event="request answered", request_id="bad-chunk")["status"] == 400
        assert '"method":"OTHER"' not in service.log.read_text()  # as what is no request is noted


# A body that is held back, or slow


def test_a_wrong_key_is_refused_before_the_body_is_asked_for(service: Service, client: Payer) -> None:
    def head(key: str) -> bytes:
        return (
            f"POST /echo HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nPrefer: respond-async\r\n"
            "Content-Type: application/json\r\nContent-Length: 14\r\nExpect: 100-continue\r\n\r\n"
        ).encode()

    assert service.send_raw(head("nobody")).startswith(b"HTTP/1.1 401 ")
    with socket.create_connection(("127.0.0.1", service.port), timeout=120) as connection:
        connection.sendall(head(client.api_key))
        assert connection.recv(1_000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b'{"text": "hi"}')
        assert connection.recv(1_000).startswith(b"HTTP/1.1 202 ")


def counted(service: Service, status: int) -> float:
    """Return how many requests to /echo were answered with a status, as the metrics have it."""
    line = re.compile(rf'pressroom_http_requests_total\{{(?=[^}}]*route="/echo")[^}}]*status="{status}"[^}}]*\}} (\S+)')
    return sum(float(found) for found in line.findall(service.get("/metrics").body.decode()))


@pytest.mark.parametrize(("key", "length", "status"), [("nobody", "14", 401), ("", "2000000", 413)])
def test_a_refused_body_that_does_not_come_is_not_waited_for(
    service: Service, client: Payer, key: str, length: str, status: int
) -> None:
    before, request_id = counted(service, status), f"waits-{status}"
    head = (
        f"POST /echo HTTP/1.1\r\nHost: x\r\nX-API-Key: {key or client.api_key}\r\nX-Request-Id: {request_id}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
    with service.open_socket(timeout=20) as connection:  # gunicorn would wait 30 s for the body
        connection.sendall(head.encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        document = json.loads(answer.read())

    assert (answer.status, answer.getheader("Connection")) == (status, "close")
    assert document["request_id"] == request_id
    assert service.wait_for_line(event="request answered", request_id=request_id)["status"] == status
    wait_for(lambda: counted(service, status) > before)
    assert counted(service, status) == before + 1


def test_who_asks_whether_to_go_on_and_does_so_unasked_reads_the_refusal(service: Service) -> None:
    head = (
        "POST /echo HTTP/1.1\r\nHost: x\r\nX-API-Key: nobody\r\nContent-Type: application/json\r\n"
        "Expect: 100-continue\r\nContent-Length: 900000\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", service.port), timeout=120) as connection:
        connection.sendall(head.encode())
        assert connection.recv(1, socket.MSG_PEEK)  # the refusal is there, and this client has not looked yet
        for _ in range(9):
            connection.sendall(bytes(100_000))  # raises where the connection was reset
            time.sleep(0.02)
        answer = connection.makefile("rb").read()

    assert answer.startswith(b"HTTP/1.1 401 "), answer[:100]


def test_a_refused_body_that_came_with_its_head_ends_no_connection(service: Service) -> None:
    connection = service.connect()
    for _ in range(2):
        connection.request("POST", "/echo", b'{"text": "hi"}', {"X-API-Key": "nobody"})
        answer = read_answer(connection)
        assert (answer.status, answer.headers.get("connection")) == (401, None)
    connection.close()


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "\x00"])
def test_a_compressed_body_is_refused(service: Service, client: Payer, encoding: str) -> None:
    answer = service.post_bytes("/echo", gzip.compress(b"{}"), client.api_key, Content_Encoding=encoding)

    assert (answer.status, answer.code) in ((415, "content_encoding_unknown"), (400, "request_unreadable"))
    assert (
        service.post_bytes(
            "/echo", b'{"text": "hi"}', client.api_key, Content_Encoding="identity", Prefer="respond-async"
        ).status
        == 202
    )


def test_a_compressed_body_that_nobody_reads_is_dropped_as_soon_as_it_has_come(service: Service) -> None:
    body = gzip.compress(b'{"text": "hi"}')
    head = (
        "POST /echo HTTP/1.1\r\nHost: x\r\nX-API-Key: nobody\r\nContent-Encoding: gzip\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", service.port), timeout=120) as connection:
        connection.sendall(head + body)
        assert connection.makefile("rb").read().startswith(b"HTTP/1.1 401 ")
    assert time.monotonic() - began < 8  # what does not come is waited for 10 s


def test_a_byte_order_mark_is_passed_over(service: Service, client: Payer) -> None:
    body = b'\xef\xbb\xbf{"text": "hi"}'

    assert service.post_bytes("/echo", body, client.api_key, Prefer="respond-async").status == 202


# Types


@pytest.mark.parametrize(
    "content_type",
    [
        *("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json5"),
        *(";", "application/json; charset=utf-16"),
    ],
)
def test_a_body_of_another_type_or_charset_is_refused(service: Service, client: Payer, content_type: str) -> None:
    answer = service.post_bytes("/echo", b'{"text": "hi"}', client.api_key, Content_Type=content_type)
    assert (answer.status, answer.code) == (415, "unsupported_media_type")
    assert ("UTF-8" if "charset" in content_type else "application/json") in answer.json["message"]


@pytest.mark.parametrize("content_type", ["application/json; charset=UTF-8", "Application/JSON"])
def test_json_may_be_announced_in_any_case(service: Service, client: Payer, content_type: str) -> None:
    sent = {"Content_Type": content_type, "Prefer": "respond-async"}
    assert service.post_bytes("/echo", b'{"text": "hi"}', client.api_key, **sent).status == 202


def test_a_body_without_a_type_is_taken_for_json(service: Service, client: Payer) -> None:
    connection = service.connect()
    headers = {"X-API-Key": client.api_key, "Prefer": "respond-async"}
    connection.request("POST", "/echo", b'{"text": "hi"}', headers)
    assert read_answer(connection).status == 202
    connection.close()


# The order of refusal


def test_requests_are_refused_in_the_order_that_is_promised(service: Service, api_database: Database) -> None:
    poor = open_account(api_database, credits=0)
    too_large = b" " * (2 * MIB)
    assert service.post_bytes("/echo", too_large, "nobody").status == 413
    assert service.post_bytes("/echo", b"{", "nobody").status == 401
    assert service.post_bytes("/echo", b"{").status == 400
    assert service.post("/echo", {"number": "x"}).status == 401
    assert service.post("/echo", {"number": "x"}, poor.api_key).status == 400
    assert service.post("/echo", {"text": "hi"}, poor.api_key).status == 402


# Paths and methods


def test_an_unknown_path_is_told_as_json(service: Service) -> None:
    answer = service.get("/nowhere")
    assert (answer.status, answer.code, answer.json["error"]) == (404, "route_not_found", "Not Found")


def test_a_wrong_method_is_told_which_are_right(service: Service) -> None:
    answer = service.get("/echo")
    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert answer.json["error"] == "Method Not Allowed"
    assert answer.headers["allow"] == "POST, OPTIONS"


def test_a_method_that_nobody_knows_is_refused_like_a_wrong_one(service: Service) -> None:
    answer = service.request("BREW", "/jobs")
    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert answer.headers["allow"] == service.request("PUT", "/jobs").headers["allow"]
    assert service.request("BREW", "/nowhere").status == 404


def test_options_names_the_methods(service: Service) -> None:
    answer = service.request("OPTIONS", "/jobs")
    assert answer.status == 200
    assert "GET" in answer.headers["allow"]


def test_head_is_get_without_a_body(service: Service, client: Payer) -> None:
    full = service.get("/jobs", client.api_key)
    head = service.request("HEAD", "/jobs", headers={"X-API-Key": client.api_key})
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == full.headers["content-length"]


@pytest.mark.parametrize("path", ["/%00", "/jobs/%00", "/%ff%fe", "/..%2f..%2fetc", "/jobs/" + "x" * 4_000])
def test_an_odd_path_is_not_found(service: Service, client: Payer, path: str) -> None:
    answer = service.get(path, client.api_key)
    assert answer.status == 404


def test_fields_without_effect_are_named(service: Service, client: Payer) -> None:
    odd, later = "x\r\nSet-Cookie: a=b ü", {"Prefer": "respond-async"}
    answer = service.post("/echo", {"text": "hi", "txet": 1, odd: None, "webhook_url": None}, client.api_key, **later)
    assert answer.headers["x-ignored-fields"] == "txet, x%0D%0ASet-Cookie%3A%20a%3Db%20%C3%BC"
    assert "x-ignored-fields" not in service.post("/echo", {"text": "hi"}, client.api_key, **later).headers
    made = service.post("/keys", {"name": "site", "route": ["/tts"]}, client.api_key)
    assert (made.status, made.headers["x-ignored-fields"]) == (201, "route")
    parts = [("text", b"hi", None), ("vol", b"1", None), ("audio", b"RIFF", "a.wav"), ("music", b"ID3", "m.mp3")]
    content, content_type = form(*parts)
    sent = service.post_bytes("/files-in", content, client.api_key, Content_Type=content_type, **later)
    assert sent.headers["x-ignored-fields"] == "vol"
