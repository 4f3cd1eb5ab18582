"""Watch: keeps this process's endpoints as the file, the environment and the operators have them now."""

import threading
import time
from datetime import timedelta

import psycopg

from pipeline.accounts.secret_box import SecretBox
from pipeline.database import Database
from pipeline.errors import PressroomError
from pipeline.log import get_logger
from pipeline.operations.endpoints import combine, forget_offers, read_paused, read_stored
from pipeline.settings import Settings
from pipeline.settings.endpoints import EndpointSettings
from workers.engines.registry import list_engines, list_families

log = get_logger(__name__)

#: How often a process looks. Its families look for changed endpoints when they look for models.
LOOK_EVERY = timedelta(seconds=5)
#: Offers of a removed endpoint are deleted again after this time: until then a pool may publish them.
GONE_AFTER_SECONDS = 20.0


class EndpointWatch:
    """Replaces `settings.endpoints` when operators have changed them."""

    def __init__(self, settings: Settings, database: Database, *, look_every: timedelta = LOOK_EVERY) -> None:
        self._settings = settings
        self._database = database
        self._look_every = look_every
        self._configured = dict(settings.endpoints)
        self._box = SecretBox(settings)
        self._taken = {engine for family in list_families() for engine in list_engines(family)}
        self._gone: dict[str, float] = {}

    def start(self) -> None:
        """Look now, and from then on in a thread."""
        self._look()
        threading.Thread(target=self._keep_looking, name="endpoints", daemon=True).start()

    def look(self) -> None:
        """Read the rows. Raises what the database does."""
        stored, paused = self._database.run(read_stored()), self._database.run(read_paused())
        usable = [one for one in stored if one.name not in self._taken]
        found = combine(self._configured, usable, paused, self._box)
        if found != self._settings.endpoints:
            self._replace(found)
        if due := [name for name, at in self._gone.items() if at <= time.monotonic()]:
            self._database.run(forget_offers(due))
            self._gone = {name: at for name, at in self._gone.items() if name not in due}

    def _replace(self, found: dict[str, EndpointSettings]) -> None:
        log.info("endpoints changed", endpoints=sorted(found))
        gone = self._settings.endpoints.keys() - found.keys()
        self._gone = {name: at for name, at in self._gone.items() if name not in found}
        self._gone |= dict.fromkeys(gone, time.monotonic() + GONE_AFTER_SECONDS)
        self._settings.endpoints = found

    def _look(self) -> None:
        try:
            self.look()
        except (PressroomError, psycopg.Error) as error:
            log.warning("endpoints not looked at", error=str(error))

    def _keep_looking(self) -> None:
        while True:
            time.sleep(self._look_every.total_seconds())
            self._look()
