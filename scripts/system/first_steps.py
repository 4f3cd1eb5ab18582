"""First steps: what a new system shows its user: the first account's key, a request to try, and who gets the texts."""

from pathlib import Path

from pipeline.offers import preferred_engines
from pipeline.settings import Settings
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


def show_privacy(settings: Settings) -> str:
    """Return a line that says whether texts that are spoken leave this machine."""
    engines = preferred_engines(settings, "synthesis")
    if "edge" in engines or (not engines and settings.synthesis.online):
        return "\n  Texts may be sent to Microsoft, whose voices are turned on (edge).\n"
    return (
        "\n  Texts and recordings stay on this machine. PRESSROOM_SYNTHESIS__ONLINE=true adds Microsoft's voices,\n"
        "  which are sent the texts; `pressroom models list` shows voices that are not.\n"
    )
