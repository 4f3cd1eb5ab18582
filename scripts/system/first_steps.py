"""First steps: what a new system shows its user: the first account's key, and a request to try."""

from pathlib import Path

from scripts.system.folders import write_private

FIRST_KEY = "first-key"


def show_key(api_key: str, data: Path, *, terminal: bool) -> str:
    """Return a line with the key, for a terminal; else write the key to a private file and return a line that names it.

    A key that a terminal has shown is kept nowhere. Output to anything else may be a log, where no key may stand."""
    if terminal:
        return f"\n  API key of the first account, shown once: {api_key}\n"
    write_private(data / FIRST_KEY, f"{api_key}\n")
    return f"\n  API key of the first account: in {data / FIRST_KEY}\n"


def show_request(address: str, data: Path, api_key: str | None, *, terminal: bool) -> str:
    """Return a curl command that speaks a text."""
    shown = f"$(cat '{data / FIRST_KEY}')" if (data / FIRST_KEY).exists() else "YOUR-API-KEY"
    if api_key and terminal:
        shown = api_key
    return (
        f"\n  curl {address}/tts -H 'Content-Type: application/json' -H \"X-API-Key: {shown}\" \\\n"
        '    -d \'{"text": "Hello from Pressroom"}\' -o hello.wav\n'
    )
