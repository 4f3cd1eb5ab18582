"""Finding: the service and the key, where a program names none."""

import json
import os
from ipaddress import ip_address
from os import PathLike
from pathlib import Path
from urllib.parse import urlsplit

from pressroom.errors import Unauthorized

URL_VARIABLE = "PRESSROOM_URL"
KEY_VARIABLE = "PRESSROOM_API_KEY"
DATA_VARIABLE = "PRESSROOM_DATA"
#: Where `pressroom up` listens, and its folder.
LOCAL_URL = "http://127.0.0.1:8000"
DATA = ".pressroom"
#: The files there with the first account's key, and with the address of the system that runs.
FIRST_KEY = "first-key"
STATE = "system.json"


def find_url(url: str | None) -> str:
    """Return the given address, else PRESSROOM_URL, else that of the system on this machine."""
    return (url or os.environ.get(URL_VARIABLE) or _running_url() or LOCAL_URL).rstrip("/")


def _running_url() -> str | None:
    try:
        return str(json.loads((_folder() / STATE).read_text("utf-8"))["address"])
    except (OSError, ValueError, KeyError):
        return None


def _folder() -> Path:
    return Path(os.environ.get(DATA_VARIABLE) or DATA)


def find_key(api_key: str | None, url: str, data: str | PathLike[str] | None = None) -> str:
    """Return the given key, else PRESSROOM_API_KEY, else the first key of a system on this machine.

    That key, from the system's folder `data`, is sent to this machine only. Raises Unauthorized."""
    found = api_key or os.environ.get(KEY_VARIABLE)
    if found:
        return found.strip()
    file = (Path(data) if data else _folder()) / FIRST_KEY
    if is_here(url) and file.is_file():
        return file.read_text("utf-8").strip()
    message = f"Which API key? Pass api_key, or set {KEY_VARIABLE}; `pressroom keys create` makes one."
    raise Unauthorized(message, code="no_api_key")


def is_here(url: str) -> bool:
    """Return whether an address is this machine's own."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
