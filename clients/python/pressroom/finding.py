"""Finding: the service and the key, where a program or a command names none.

`pressroom up` writes its address into its data folder, and the folder's path into the user's state folder."""

import json
import os
from contextlib import suppress
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
    """Return the given address, else PRESSROOM_URL, else that of a system on this machine."""
    running = (address for folder in folders() if (address := _address(folder)))
    return (url or os.environ.get(URL_VARIABLE) or next(running, None) or LOCAL_URL).rstrip("/")


def find_key(api_key: str | None, url: str, data: str | PathLike[str] | None = None) -> str:
    """Return the given key, else PRESSROOM_API_KEY, else the first key of a system on this machine.

    The key from the system's folder `data` is sent to this machine only. Raises Unauthorized."""
    if found := api_key or os.environ.get(KEY_VARIABLE):
        return found.strip()
    for folder in sorted([Path(data)] if data else folders(), key=lambda folder: _address(folder) != url):
        if is_here(url) and (folder / FIRST_KEY).is_file():
            return (folder / FIRST_KEY).read_text("utf-8").strip()
    message = f"Which API key is for {url}? Pass api_key, or set {KEY_VARIABLE}; `pressroom keys create` makes one."
    raise Unauthorized(message, code="no_api_key", address=url)


def folders() -> list[Path]:
    """Return where a system may run: PRESSROOM_DATA, else .pressroom and the folder of the system started last."""
    if named := os.environ.get(DATA_VARIABLE):
        return [Path(named)]
    with suppress(OSError):
        return [Path(DATA), Path(_started().read_text("utf-8"))]
    return [Path(DATA)]


def remember(data: Path) -> None:
    """Note that a system runs on a folder, for programs that start elsewhere."""
    with suppress(OSError, RuntimeError):  # no home, or one that is read-only
        _started().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _started().write_text(str(data.resolve()), "utf-8")


def is_here(url: str) -> bool:
    """Return whether an address is this machine's own."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _started() -> Path:
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "pressroom" / "started"


def _address(folder: Path) -> str | None:
    try:
        return str(json.loads((folder / STATE).read_text("utf-8"))["address"]).rstrip("/")
    except (OSError, ValueError, KeyError, TypeError):
        return None
