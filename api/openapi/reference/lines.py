"""Lines: a sample as a curl command.

Service, key and placeholders such as a job id come from environment variables."""

import re
import shlex
from urllib.parse import quote

from api.openapi.reference.samples import EVENTS_TYPE, Sample

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


def _shell_value(value: str) -> str:
    return HOLE.sub(lambda found: f"${found[1].upper()}", quote(value, safe="{}"))
