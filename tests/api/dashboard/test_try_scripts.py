"""The scripts of the try pages: what they show is text, and what they lead to is the web or a file of this origin."""

import inspect
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from tools import require

from api.capabilities import load_try_pages
from pipeline.registry import load_kinds
from pipeline.settings import Settings
from pressroom import Pressroom

STATIC = Path(__file__).parents[3] / "api/dashboard/static"
#: Fields that the scripts leave out, or give to another method.
DROPPED = {"index_check": {"type"}, "transcription": {"response_format"}}


def evaluate(module: str, expression: str) -> Any:
    """Return the value of an expression in which `it` is a module."""
    program = (
        "globalThis.location = { href: 'https://press.example/dashboard/try/blog' };"
        f"const it = await import({json.dumps((STATIC / module).as_uri())});"
        f"console.log(JSON.stringify({expression}));"
    )
    done = subprocess.run(
        [require("node"), "--no-warnings", "--input-type=module", "-e", program],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_scripts_make_no_markup_of_texts() -> None:
    for script in (*STATIC.glob("try_*.js"), *STATIC.parents[2].glob("capabilities/*/dashboard/*.js")):
        found = re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", script.read_text()
        )
        assert found is None, script.name


def test_links_lead_to_the_web_alone() -> None:
    texts = [
        "https://a.example/b",
        "http://a.example",
        "javascript:alert(1)",
        "data:text/html,x",
        " JaVaScRiPt:1",
        "/a",
        "",
    ]

    assert evaluate("try_dom.js", f"{json.dumps(texts)}.map(it.webAddress)") == [
        "https://a.example/b", "http://a.example/", None, None, None, None, None,
    ]  # fmt: skip


def test_advice_is_shown_without_commands_that_pages_do_not_take() -> None:
    texts = ["It is a draft, free. `pressroom models fetch x` adds more (1.6 GB). Try again.", "Run `x`.", "Plain."]

    shown = ["It is a draft, free. Try again.", "Run x.", "Plain."]
    assert evaluate("try_dom.js", f"{json.dumps(texts)}.map(it.withoutCommands)") == shown


def test_files_are_loaded_from_the_pages_own_origin() -> None:
    links = [
        "https://cdn.example/files/a.jpg?expires=1&signature=2",
        "https://press.example/behind/files/a.jpg?signature=2",
        "javascript:alert('/files/')//",
        "https://evil.example/a.jpg",
    ]

    own = evaluate("try_dom.js", f"{json.dumps(links)}.map(it.ownFile)")

    assert own[:2] == ["/files/a.jpg?expires=1&signature=2", "/files/a.jpg?signature=2"]
    assert own[2].startswith("/files/")
    assert own[3] == "about:blank"


def test_the_word_that_is_heard_is_the_last_that_has_begun() -> None:
    assert evaluate("try_player.js", "[-1, 0, 0.4, 1, 9].map((at) => it.lastBefore([0, 0.5, 1], at))") == [
        -1,
        0,
        0,
        2,
        2,
    ]


def test_python_lines_call_methods_that_the_package_has() -> None:
    kinds = load_kinds(Settings())
    for page in load_try_pages():
        for trial in page.trials:
            kind, call = kinds[trial.kind], trial.call
            if call.method is None:
                continue  # `submit`, which takes any route
            known = inspect.signature(getattr(Pressroom, call.method)).parameters
            takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
            fields = {*kind.request.model_fields, *kind.files} - {
                call.first,
                *page.hidden,
                *call.more,
                *kind.uploads.values(),
            }
            named = {call.rename.get(name, name) for name in fields - DROPPED.get(kind.name, set())}
            assert takes_any or named <= set(known), (trial.kind, named - set(known))
            assert len(known) > 1, trial.kind
