"""A kind whose API process never looks by the clock whether jobs have ended: what it tells, a notice has told it.

Loaded by `PRESSROOM_KINDS=…,unpolled_kind:Unpolled`; in any process but the API it changes nothing.
"""

import sys
from datetime import timedelta

from api_kinds import Echo

#: Longer than any test.
NEVER = timedelta(hours=1)


class Unpolled(Echo):
    """POST /unpolled."""

    name = "unpolled"
    routes = ("/unpolled",)


if "api.services.waiting" in sys.modules:
    sys.modules["api.services.waiting"].LOOK_EVERY_SECONDS = NEVER.total_seconds()  # type: ignore[attr-defined]
    sys.modules["api.jobs.events"].LOOK_EVERY = NEVER  # type: ignore[attr-defined]
