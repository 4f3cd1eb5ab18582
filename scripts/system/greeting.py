"""The greeting: where a system is, how to make a first request, and the first account's key, for a terminal alone."""

import os
from pathlib import Path

FIRST_KEY = "first-key"


def hand_over(api_key: str, data: Path, *, terminal: bool) -> str:
    """Return a line that says what the key is, on a terminal, or else in which private file it now is.

    It is kept nowhere after a terminal has shown it; anything else that is written to may be somebody's log."""
    if terminal:
        return f"\n  API key of the first account, shown once: {api_key}\n"
    _write_secret(data / FIRST_KEY, api_key)
    return f"\n  API key of the first account: in {data / FIRST_KEY}\n"


def first_request(address: str, data: Path, api_key: str | None, *, terminal: bool) -> str:
    """Return a command line that asks the system for something."""
    shown = f"$(cat '{data / FIRST_KEY}')" if (data / FIRST_KEY).exists() else "YOUR-API-KEY"
    if api_key and terminal:
        shown = api_key
    return (
        f"\n  curl {address}/tts -H 'Content-Type: application/json' -H \"X-API-Key: {shown}\" \\\n"
        '    -d \'{"text": "Hello from Pressroom"}\' -o hello.wav\n'
    )


def _write_secret(file: Path, text: str) -> None:
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(f"{text}\n")
