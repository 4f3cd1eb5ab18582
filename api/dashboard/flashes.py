"""Flashes: one sentence about what was just done, which the next page shows once."""

import base64
import json
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Literal

import falcon.asgi

from api.http.cookies import Cookies

COOKIE = "pressroom_flash"
#: The next page comes at once.
LASTS = timedelta(minutes=1)
#: Browsers keep at most 4,096 bytes of a cookie; the text is in base64.
MAX_LENGTH = 500

Tone = Literal["good", "bad", "plain"]


@dataclass(frozen=True, slots=True)
class Flash:
    """A sentence for the reader of the next page."""

    text: str
    tone: Tone = "good"


def write_flash(cookies: Cookies, req: falcon.asgi.Request, resp: falcon.asgi.Response, flash: Flash) -> None:
    """Keep a flash in a cookie until the next page."""
    shown = asdict(Flash(flash.text[:MAX_LENGTH], flash.tone))
    value = base64.urlsafe_b64encode(json.dumps(shown).encode()).decode().rstrip("=")
    cookies.write(req, resp, COOKIE, value, lasts=LASTS)


def take_flash(cookies: Cookies, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> Flash | None:
    """Return the flash that waits, if there is one, and have the browser forget it."""
    value = cookies.read(req, COOKIE)
    if value is None:
        return None
    cookies.delete(req, resp, COOKIE)
    try:
        found = json.loads(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))
        tone: Tone = found["tone"] if found["tone"] in {"good", "bad"} else "plain"
        return Flash(str(found["text"])[:MAX_LENGTH], tone)
    except (ValueError, KeyError, TypeError):  # not one of ours
        return None
