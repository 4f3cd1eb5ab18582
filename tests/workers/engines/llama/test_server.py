"""The process that has a model: what it answers, and what becomes of a request when it dies, hangs or is refused."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from tiny_gguf import build_gguf
from waiting import wait_for

from pipeline.errors import NotReady
from workers.engines import Stopped
from workers.engines.llama.engine import grammar_of
from workers.engines.llama.server import LlamaServer, ModelDied, ModelRefused, RequestTooLong, ServerOptions
from workers.engines.tokens import Tokens, counting

SHORT = 'root ::= "a" [a-z]{1,5}\n'
#: Takes a tiny model some seconds.
LONG = 'root ::= "a" many many\nmany ::= [a-z]{1900}\n'


def options(folder: Path) -> ServerOptions:
    return ServerOptions(str(folder / "tiny.gguf"), str(folder / "mmproj-tiny.gguf"), slots=2, context=8_192)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_gguf(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[LlamaServer]:
    made = LlamaServer(options(folder))
    made.start()
    yield made
    made.stop()


def ask(server: LlamaServer, *, grammar: str = SHORT, most: int = 10, text: str = "hi", **more: Any) -> str:
    return server.ask([{"role": "user", "content": text}], grammar=grammar, most=most, **more).text


def after(seconds: float, act: Callable[[], object]) -> None:
    threading.Timer(seconds, act).start()


def test_an_answer_says_how_likely_each_token_was_and_whether_it_ended(server: LlamaServer) -> None:
    tokens = Tokens()
    with counting(tokens):
        answer = server.ask([{"role": "user", "content": "hi"}], grammar=SHORT, most=20)

    assert tokens["llama"].prompt > 0
    assert 0 < tokens["llama"].completion <= 20
    assert answer.is_ended
    assert all(probability <= 0 for _, probability in answer.tokens)
    assert max(end for end, _ in answer.tokens) == len(answer.text.encode())
    assert not server.ask([{"role": "user", "content": "hi"}], grammar=LONG, most=5).is_ended


def test_who_stops_does_not_wait_and_the_model_works_for_the_next(server: LlamaServer) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)  # so that it can't have answered
    with pytest.raises(Stopped):
        ask(server, stop=lambda: True)
    os.kill(server.pid, signal.SIGCONT)

    assert ask(server)


def test_a_process_that_dies_in_the_middle_fails_its_request_and_is_started_again(server: LlamaServer) -> None:
    pid = server.pid
    assert pid is not None
    after(0.3, lambda: os.kill(pid, signal.SIGKILL))

    with pytest.raises(ModelDied, match="ended while it worked"):
        ask(server, grammar=LONG, most=4_000)

    assert ask(server)
    assert server.pid not in (None, pid)


def test_a_process_that_hangs_is_ended(folder: Path) -> None:
    made = LlamaServer(options(folder), answer_limit=timedelta(seconds=1))
    made.start()
    pid = made.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)

    with pytest.raises(ModelDied, match="no answer in 1 s"):
        ask(made)

    assert made.pid is None
    assert ask(made)
    made.stop()


def test_what_is_refused_has_its_reason(server: LlamaServer) -> None:
    with pytest.raises(RequestTooLong, match="exceeds the available context size"):
        ask(server, text="x " * 9_000)
    picture = {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA"}}
    with pytest.raises(ModelRefused, match="Failed to load image"):
        server.ask([{"role": "user", "content": [picture]}], grammar=SHORT, most=5)


def test_nobody_else_on_the_machine_is_answered(server: LlamaServer) -> None:
    with pytest.raises(HTTPError, match="401"):
        urlopen(f"http://{server._address[0]}:{server._address[1]}/v1/models")


def _truncated(folder: Path) -> None:
    path = folder / "tiny.gguf"
    path.write_bytes(path.read_bytes()[:100_000])


def _page(folder: Path) -> None:
    (folder / "tiny.gguf").write_text("<html>Sign in to the network</html>")


@pytest.mark.parametrize("spoil", [_truncated, _page])
def test_files_that_can_not_be_loaded_are_not_ready_with_a_reason(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    folder = build_gguf(tmp_path / "spoilt")
    spoil(folder)
    made = LlamaServer(options(folder))

    with pytest.raises(NotReady, match=r"can't load spoilt: .*damaged"):
        made.start()

    # A request does not try again for a while.
    with pytest.raises(ModelDied, match="damaged"):
        ask(made)
    with pytest.raises(ModelDied, match="tried again within a minute"):
        ask(made)


def test_a_parent_that_dies_takes_the_model_with_it(folder: Path, tmp_path: Path) -> None:
    program = (
        "import sys, time\nfrom workers.engines.llama.server import LlamaServer, ServerOptions\n"
        f"made = LlamaServer(ServerOptions({str(folder / 'tiny.gguf')!r}))\nmade.start()\n"
        "sys.stdout.write(f'pid={made.pid}\\n')\nsys.stdout.flush()\ntime.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = next(int(line[4:]) for line in parent.stdout if line.startswith("pid="))
    parent.kill()
    parent.communicate()
    wait_for(
        lambda: not (Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes()), seconds=10
    )


def test_a_grammar_is_compact_json_of_the_schema(server: LlamaServer) -> None:
    text = {"type": "string", "minLength": 1, "maxLength": 12}
    schema = {
        "type": "object",
        "properties": {
            "title": text, "kind": {"enum": ["a \"b\"", "ü"]},
            "tags": {"type": "array", "items": text, "minItems": 2, "maxItems": 3},
        },
    }  # fmt: skip

    said = ask(server, grammar=grammar_of(schema), most=200)

    found = json.loads(said)
    assert list(found) == ["title", "kind", "tags"]
    assert found["kind"] in ('a "b"', "ü")
    assert 2 <= len(found["tags"]) <= 3
    assert all(1 <= len(tag) <= 12 for tag in found["tags"])
    assert said.startswith('{"title": "')
