"""The lines of the try pages do what their forms do, whatever is entered."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from email import message_from_bytes
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tools import require

STATIC = Path(__file__).parents[3] / "api/dashboard/static"
KEY = "pr_live_test"
HOSTILE = [
    'It\'s "quoted" $HOME `id` $(id) \\ \\n !x',
    "</script><img src=x onerror=alert(1)>",
    "two\nlines\n\tand a tab\r\n",
    "JSON\n'JSON'\nJSON",
    "@/etc/passwd",
    "<file;type=text/html",
    "-o --data x",
    "\u202egnp.exe \u2028 \x7f \x9b \ufeff",
    "emoji 🗞️, Ünïcödé, 日本語",
    "'" * 5 + "x" * 9_000,
]
NAMES = ["song.mp3", "-", "-o x.mp3", 'a;b,c "d" \\e.mp3', "it's $(id).mp3", "ünï 日本.mp3"]


class Seen(ThreadingHTTPServer):
    """A server that keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Keeper)
        self.requests: list[dict[str, Any]] = []

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Keeper(BaseHTTPRequestHandler):
    """Keeps a request, and answers with some bytes that are JSON too."""

    server: Seen

    def do_POST(self) -> None:
        body = self._sized() if "Content-Length" in self.headers else self._chunks()
        kind = self.headers["Content-Type"]
        sent = _form(kind, body) if kind.startswith("multipart") else {"fields": json.loads(body)}
        self.server.requests.append({"path": self.path, "key": self.headers["X-API-Key"], **sent})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def _sized(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _form(kind: str, body: bytes) -> dict[str, Any]:
    fields: dict[str, str] = {}
    files: dict[str, Any] = {}
    for part in message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + body, policy=HTTP).iter_parts():
        disposition = part["Content-Disposition"]
        name = disposition.params["name"]
        content = part.get_payload(decode=True)
        if "filename" in disposition.params:
            files[name] = content.decode()
        else:
            fields[name] = content.decode()
    return {"fields": fields, "files": files}


@pytest.fixture(scope="module")
def seen() -> Iterator[Seen]:
    server = Seen()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def lines_of(language: str, requests: list[Mapping[str, Any]], base: str) -> list[str]:
    """Return the lines of some requests, made by the page's own module."""
    program = (
        f"import * as lines from {json.dumps((STATIC / 'try_lines.js').as_uri())};"
        "import { readFileSync } from 'node:fs';"
        "const { requests, base } = JSON.parse(readFileSync(0, 'utf8'));"
        f"console.log(JSON.stringify(requests.map((one) => lines.{language}Lines(one, base))));"
    )
    done = subprocess.run(
        [require("node"), "--no-warnings", "--input-type=module", "-e", program],
        input=json.dumps({"requests": requests, "base": base}),
        capture_output=True,
        text=True,
        check=True,
    )
    made: list[str] = json.loads(done.stdout)
    return made


def json_request(text: str) -> dict[str, Any]:
    fields = {"text": text, "speed": 1.25, "plain_text": True, "nothing": None, "urls": [text, "b"], "of": {"a": [1]}}
    client = {"method": "speak", "first": "text", "rename": {"speed": "pace"}, "more": ["of"]}
    return {"path": "/tts", "fields": fields, "files": {}, "saves": None, "client": client}


def form_request(text: str, name: str, *, saves: str | None = None) -> dict[str, Any]:
    fields = {"text": text, "duck": False, "music_volume": -20, "keywords": ["a", "b c"]}
    client = {"method": "speak_with_music", "first": "text"}
    return {"path": "/tts/with-music", "fields": fields, "files": {"music": name}, "saves": saves, "client": client}


def run(command: list[str], folder: Path) -> None:
    environment = {**os.environ, "PRESSROOM_API_KEY": KEY}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, f"{command[-1]}\n{done.stderr}"


def run_curl(lines: str, folder: Path) -> None:
    run(["bash", "-euc", lines], folder)


def run_javascript(lines: str, folder: Path) -> None:
    (folder / "lines.mjs").write_text(lines)
    run([require("node"), "--no-warnings", "lines.mjs"], folder)


RUNNERS = {"curl": run_curl, "javascript": run_javascript}


@pytest.mark.parametrize("language", RUNNERS)
def test_lines_send_the_json_that_the_form_sends(language: str, seen: Seen, tmp_path: Path) -> None:
    requests = [json_request(text) for text in HOSTILE]
    # One program for all: a start of node takes longer than what it does.
    together = "\n".join(
        f"{{\n{one}\n}}" if language == "javascript" else one for one in lines_of(language, requests, seen.base)
    )
    seen.requests.clear()

    RUNNERS[language](together, tmp_path)

    assert [one["fields"] for one in seen.requests] == [one["fields"] for one in requests]
    assert {(one["path"], one["key"]) for one in seen.requests} == {("/tts", KEY)}


@pytest.mark.parametrize("language", RUNNERS)
def test_lines_send_the_form_that_the_form_sends(language: str, seen: Seen, tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).write_text(name)
    texts = [*HOSTILE, *HOSTILE[: len(NAMES)]]
    requests = [form_request(text, NAMES[place % len(NAMES)]) for place, text in enumerate(texts)]
    made = lines_of(language, requests, seen.base)
    imports = [line for line in made[0].splitlines() if line.startswith("import ")]
    blocks = ["\n".join(line for line in one.splitlines() if line not in imports) for one in made]
    seen.requests.clear()

    RUNNERS[language]("\n".join([*imports, *(f"{{\n{one}\n}}" for one in blocks)]), tmp_path)

    expected = {"duck": "false", "music_volume": "-20", "keywords": "a, b c"}
    assert [_newlines(one["fields"]) for one in seen.requests] == [
        _newlines({"text": one["fields"]["text"], **expected}) for one in requests
    ]
    assert [one["files"] for one in seen.requests] == [one["files"] for one in requests]


def _newlines(fields: Mapping[str, str]) -> dict[str, str]:
    """Forms of browsers and of Node send each line break as CR LF."""
    return {name: "\n".join(value.splitlines()) for name, value in fields.items()}


@pytest.mark.parametrize("language", RUNNERS)
def test_lines_keep_a_sound_in_a_file(language: str, seen: Seen, tmp_path: Path) -> None:
    (tmp_path / "song.mp3").write_text("song.mp3")
    (saved,) = lines_of(language, [form_request("Hello", "song.mp3", saves="out.mp3")], seen.base)

    RUNNERS[language](saved, tmp_path)

    assert (tmp_path / "out.mp3").read_bytes() == b"{}"


def test_lines_of_python_call_the_package_with_the_same_values(tmp_path: Path) -> None:
    (tmp_path / "pressroom.py").write_text(
        "import json, pathlib\n"
        "class Pressroom:\n"
        "    def __init__(self, *, url): self.base = url\n"
        "    def __getattr__(self, name):\n"
        "        def call(*args, **named):\n"
        "            told = {'method': name, 'args': args, 'named': named, 'base': self.base}\n"
        "            with open('calls', 'a') as calls: calls.write(json.dumps(told, default=str) + '\\n')\n"
        "        return call\n"
    )
    requests = [json_request(text) for text in HOSTILE] + [form_request(HOSTILE[0], name) for name in NAMES]
    made = lines_of("python", requests, "http://pressroom.test")
    (tmp_path / "lines.py").write_text("\n".join(made))

    run([sys.executable, "lines.py"], tmp_path)

    calls = [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]
    for request, call in zip(requests, calls, strict=True):
        fields = dict(request["fields"])
        assert call["args"] == [fields.pop("text")]
        if "speed" in fields:
            fields["pace"] = fields.pop("speed")
            fields["more"] = {"of": fields.pop("of")}
        assert call["named"] == fields | request["files"]
        assert call["base"] == "http://pressroom.test"


def test_lines_show_no_sign_that_turns_or_hides_a_line(seen: Seen) -> None:
    for language in (*RUNNERS, "python"):
        (made,) = lines_of(language, [json_request("\u202ea\u2066b\x9bc\x7fd\u2028e")], seen.base)

        assert not set("\u202e\u2066\x9b\x7f\u2028") & set(made), language
