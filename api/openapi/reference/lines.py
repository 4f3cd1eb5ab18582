"""Lines: a sample as curl, Python and JavaScript.

Service, key and placeholders such as a job id come from environment variables."""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from api.openapi.reference.calls import Method
from api.openapi.reference.samples import EVENTS_TYPE, JSON_TYPE, Sample

#: As in clients/python/pressroom/finding.py.
URL = "PRESSROOM_URL"
KEY = "PRESSROOM_API_KEY"
#: Longest line of a call that is not broken up.
WIDTH = 100
HOLE = re.compile(r"{(\w+)}")


def curl_lines(sample: Sample) -> str:
    where = HOLE.sub(lambda found: f"${found[1].upper()}", sample.path)
    query = "&".join(f"{name}={_shell_value(value)}" for name, value in sample.query.items())
    parts = [f'curl "${URL}{where}{"?" if query else ""}{query}"']
    if sample.method not in {"GET", "POST"} or (sample.method == "POST" and sample.body is None and not sample.is_form):
        parts[0] = parts[0].replace("curl ", f"curl -X {sample.method} ", 1)
    if sample.answers == EVENTS_TYPE:
        parts[0] = parts[0].replace("curl ", "curl -N ", 1)
    if sample.wants_key:
        parts.append(f'-H "X-API-Key: ${KEY}"')
    if sample.body is not None:
        parts += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(sample.body_text)}"]
    parts += [f"-F {name}=@{file}" for name, file in sample.files.items()]
    parts += [f"--form-string {shlex.quote(f'{name}={value}')}" for name, value in sample.form.items()]
    parts += [f"-o {sample.saves}"] * bool(sample.saves)
    line = " ".join(parts)
    return line if len(line) <= WIDTH else " \\\n  ".join(parts)


def python_lines(sample: Sample, method: Method | None) -> str:
    """Return a program that uses the package `pressroom`, or plain HTTP where it has no method."""
    if method is None and sample.wants_key and sample.method == "POST" and sample.is_work:
        return _program(["from pressroom import Pressroom"], ["client = Pressroom()", *_submitting(sample)])
    if method is None:
        return _program(["import httpx2"], _python_request(sample))
    given = [_environment(name) for name in HOLE.findall(sample.path)]
    call = _called(f"client.{method.name}", [*given, *_arguments(sample, method)])
    if method.is_stream:
        lines = [f"for one in {call}:", "    print(one)"]
    elif sample.saves and not method.shows:
        lines = [f"{call}.save({_text(sample.saves)})"]
    elif sample.answers:
        lines = [f"print({call}{method.shows})"]
    else:
        lines = [call]
    return _program(["from pressroom import Pressroom"], ["client = Pressroom()", *lines])


def javascript_lines(sample: Sample) -> str:
    query = "&".join(
        f"{name}={HOLE.sub(_template_value, quote(value, safe='{}'))}" for name, value in sample.query.items()
    )
    where = HOLE.sub(_template_value, sample.path) + (f"?{query}" if query else "")
    headers = {"X-API-Key": f"process.env.{KEY}"} if sample.wants_key else {}
    headers |= {"Content-Type": _text(JSON_TYPE)} if sample.body is not None else {}
    options = [f'method: "{sample.method}"'] if sample.method != "GET" else []
    options += [f"headers: {{ {', '.join(f'{_text(name)}: {value}' for name, value in headers.items())} }}"] * bool(
        headers
    )
    options += [f"body: JSON.stringify({sample.body_text})"] if sample.body is not None else []
    options += ["body: form"] if sample.is_form else []
    listed = ",\n  ".join(options)
    given = f", {{\n  {listed},\n}}" if options else ""
    modules = [("writeFile", "node:fs/promises")] * bool(sample.saves) + [("openAsBlob", "node:fs")] * bool(
        sample.files
    )
    imports = [f'import {{ {name} }} from "{module}";' for name, module in modules]
    lines = [
        *(["const form = new FormData();"] if sample.is_form else []),
        *(f'form.set("{name}", await openAsBlob("{file}"), "{file}");' for name, file in sample.files.items()),
        *(f"form.set({_text(name)}, {_text(value)});" for name, value in sample.form.items()),
        f"const answer = await fetch(`${{process.env.{URL}}}{where}`{given});",
        "if (!answer.ok) throw new Error(await answer.text());",
        _javascript_reading(sample),
    ]
    return "\n".join([*imports, *([""] if imports else []), *lines])


def _javascript_reading(sample: Sample) -> str:
    if sample.saves:
        return f"await writeFile({_text(sample.saves)}, answer.body);"
    if sample.answers == EVENTS_TYPE:
        return "for await (const bytes of answer.body) console.log(new TextDecoder().decode(bytes));"
    if not sample.answers:
        return "console.log(answer.status);"
    return f"console.log(await answer.{'json' if sample.answers == JSON_TYPE else 'text'}());"


def _submitting(sample: Sample) -> list[str]:
    """Return the lines for a kind without a method in the package."""
    files = "{" + ", ".join(f"{_text(name)}: {_text(file)}" for name, file in sample.files.items()) + "}"
    fields = sample.form if sample.is_form else sample.body
    given = [_text(sample.path), _python(dict(fields)), *([f"files={files}"] if sample.files else [])]
    shown = f", to={_text(sample.saves)})" if sample.saves else ")"
    result = f"client.result(job.id{shown}"
    return [
        f"job = {_called('client.submit', given)}",
        "client.wait(job.id)",
        result if sample.saves else f"print({result}.text)",
    ]


def _python_request(sample: Sample) -> list[str]:
    path = HOLE.sub(lambda found: f"{{{_environment(found[1], quotes=chr(39))}}}", sample.path)
    address = f'f"{{os.environ[{URL!r}]}}{path}"'
    given = [address]
    if sample.query:
        values = ", ".join(f"{_text(name)}: {_python_value(value)}" for name, value in sample.query.items())
        given.append(f"params={{{values}}}")
    if sample.wants_key:
        given.append(f'headers={{"X-API-Key": {_environment(KEY)}}}')
    if sample.body is not None:
        given.append(f"json={_python(sample.body)}")
    if sample.form:
        given.append(f"data={_python(dict(sample.form))}")
    if sample.files:
        files = ", ".join(f'{_text(name)}: open("{file}", "rb")' for name, file in sample.files.items())
        given.append(f"files={{{files}}}")
    call = _called(f"httpx2.{sample.method.lower()}", [*given, "timeout=None"])
    shown = f"Path({_text(sample.saves)}).write_bytes(answer.content)" if sample.saves else ""
    read = "print(answer.json())" if sample.answers == JSON_TYPE else "print(answer.text)"
    return [
        f"answer = {call}",
        "answer.raise_for_status()",
        shown or (read if sample.answers else "print(answer.status_code)"),
    ]


def _arguments(sample: Sample, method: Method) -> list[str]:
    fields: dict[str, Any] = dict(sample.form if sample.is_form else sample.body or {})
    if method.takes_body:
        return [_python(fields)]
    files = dict(sample.files)
    placed = []
    for name in (method.first, f"{method.first}_url"):
        if name in files:
            placed.append(_text(files.pop(name)))
        elif name in fields:
            placed.append(_python(fields.pop(name)))
    named = {
        **{name: _text(file) for name, file in files.items()},
        **{name: _python(one) for name, one in fields.items()},
    }
    named = {name: value for name, value in named.items() if name not in method.leaves_out}
    return [*placed, *(f"{method.rename.get(name, name)}={value}" for name, value in named.items())]


def _program(imports: list[str], lines: list[str]) -> str:
    text = "\n".join(lines)
    standard = [f"import {name}" for name in ("os",) if f"{name}." in text]
    standard += ["from pathlib import Path"] * ("Path(" in text)
    return "\n".join([*standard, *([""] if standard else []), *imports, "", text])


def _called(name: str, given: list[str]) -> str:
    line = f"{name}({', '.join(given)})"
    listed = ",\n    ".join(given)
    return line if len(line) <= WIDTH else f"{name}(\n    {listed},\n)"


def _environment(name: str, quotes: str = '"') -> str:
    return f"os.environ[{quotes}{name.upper()}{quotes}]"


def _python_value(value: str) -> str:
    hole = HOLE.fullmatch(value)
    return _environment(hole[1]) if hole else _text(value)


def _shell_value(value: str) -> str:
    return HOLE.sub(lambda found: f"${found[1].upper()}", quote(value, safe="{}"))


def _template_value(found: re.Match[str]) -> str:
    return f"${{process.env.{found[1].upper()}}}"


def _python(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(name)}: {_python(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_python, value))}]"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(value: str) -> str:
    """Return a string literal of Python and JavaScript."""
    return json.dumps(value, ensure_ascii=False)
