"""The greeting: where a system is, how to make a first request, and the first account's key, for a terminal alone."""

import os
from pathlib import Path

FIRST_KEY = "first-key"


def greeting(address: str, data: Path, api_key: str | None, *, terminal: bool) -> str:
    """Return what to show once a system answers.

    A key that was made now is shown on a terminal and kept nowhere; elsewhere it would be in somebody's log, so it
    goes into a private file."""
    file, lines, shown = data / FIRST_KEY, [], "YOUR-API-KEY"
    if api_key and terminal:
        lines.append(f"  API key of the first account, shown once: {api_key}")
        shown = api_key
    elif api_key:
        _write_secret(file, api_key)
        lines.append(f"  API key of the first account: in {file}")
    if shown != api_key and file.exists():
        shown = f"$(cat '{file}')"
    lines += [
        f"  curl {address}/tts -H 'Content-Type: application/json' -H \"X-API-Key: {shown}\" \\",
        '    -d \'{"text": "Hello from Pressroom"}\' -o hello.wav',
    ]
    return "\n".join(["", *lines, ""])


def _write_secret(file: Path, text: str) -> None:
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(f"{text}\n")
