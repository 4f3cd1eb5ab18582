"""First steps: the last lines of a start, with the address, the first account's key and a request to try."""

from collections.abc import Iterator
from pathlib import Path

from pipeline.accounts.first_account import FirstAccount
from pipeline.capabilities import parts
from pipeline.settings import Settings
from pipeline.settings.endpoints import privacy
from scripts.system.folders import write_private

FIRST_KEY = "first-key"
FIRST_SIGN_IN = "first-sign-in"
#: Length of the rules above and below, in characters.
RULE = 78


def keep_first(first: FirstAccount, address: str, data: Path) -> None:
    """Write the first account's key and sign-in link to private files, their only copy."""
    write_private(data / FIRST_KEY, f"{first.api_key}\n")
    write_private(data / FIRST_SIGN_IN, f"{sign_in_link(address, first.sign_in_token)}\n")


def read_first(data: Path) -> FirstAccount | None:
    """Return the stored key and token of the first account, or None if one is missing."""
    try:
        key, link = (data / FIRST_KEY).read_text("utf-8"), (data / FIRST_SIGN_IN).read_text("utf-8")
    except OSError:
        return None
    return FirstAccount(key.strip(), link.strip().rpartition("token=")[2])


def sign_in_link(address: str, token: str) -> str:
    """Return a link that signs in to the dashboard once."""
    return f"{address}/dashboard/sign-in/link?token={token}"


def show_first_steps(
    address: str, data: Path, first: FirstAccount | None, settings: Settings, *, terminal: bool
) -> str:
    """Return lines with the address, a request to try, and which services get texts.

    `first` is the first account until it has signed in. Output that is no terminal may be a log, so it gets no key and
    no link. Lines have no frame, so that they can be copied."""
    lines = list(_lines(address, data, first, settings, terminal=terminal))
    rule = "─" * RULE
    return "\n".join(["", rule, *lines, rule, ""])


def _lines(
    address: str, data: Path, first: FirstAccount | None, settings: Settings, *, terminal: bool
) -> Iterator[str]:
    kept = data / FIRST_KEY
    yield f"  Pressroom   {address}"
    yield f"  API         {address}/docs"
    yield f"  Dashboard   {address}/dashboard"
    if first and terminal:
        yield f"  Sign in     {sign_in_link(address, first.sign_in_token)}"
        yield f"              once; kept in {data / FIRST_SIGN_IN}"
        yield f"  API key     {first.api_key}"
        yield f"              of the first account; kept in {kept}"
    elif kept.exists():
        if first:
            yield f"  Sign in     by the link in {data / FIRST_SIGN_IN}"
        yield f"  API key     in {kept}"
    yield ""
    yield from _request(address, kept)
    if first:
        yield ""
        yield from _privacy(settings)


def _request(address: str, kept: Path) -> Iterator[str]:
    key = f"$(cat '{kept}')" if kept.exists() else "YOUR-API-KEY"
    yield f"  curl {address}/tts -H 'Content-Type: application/json' -H \"X-API-Key: {key}\" \\"
    yield '    -d \'{"text": "Hello from Pressroom"}\' -o hello.wav'


def _privacy(settings: Settings) -> Iterator[str]:
    """Yield lines that say what is sent to other services."""
    yield from privacy(settings.endpoints)
    for part in parts("settings"):
        if hasattr(part, "privacy"):
            yield from part.privacy(settings)
