"""Service: the address and the API key that a command uses."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from pipeline.errors import InvalidRequest, NotReady
from scripts.options import settings_for
from scripts.system.control import find_system


def find_service(url: str | None, data: Path | None) -> tuple[str, str]:
    """Return address and key of the service that is named, or else of the data folder's running system.

    Raises NotReady, InvalidRequest."""
    return _address(url, data), _key(data)


def _address(url: str | None, data: Path | None) -> str:
    if url:
        return _checked(url).rstrip("/")
    system = find_system(settings_for(data).data)
    if system is None:
        raise NotReady("No Pressroom runs here. Start one with `pressroom up`, or say where it is with --url.")
    return system.address


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        # A port that is no number is found when it is asked for.
        is_address = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise InvalidRequest(f"{url!r} is not the address of a service: it looks like http://127.0.0.1:8000.")
    return url


def _key(data: Path | None) -> str:
    """Return PRESSROOM_API_KEY, or the key of the first account of the running system."""
    key = os.environ.get("PRESSROOM_API_KEY")
    file = settings_for(data).data / "first-key"
    if key is None and file.exists():
        key = file.read_text().strip()
    if not key:
        raise NotReady("Which API key? Set PRESSROOM_API_KEY; `pressroom accounts create` makes one.")
    return key
