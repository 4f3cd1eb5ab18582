"""Connected: an account's sites at services for site owners, and the access to each."""

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from capabilities.index_check.engines.search.base.site_service import (
    ServiceAccess,
    ServiceTrouble,
    SiteService,
    Trouble,
)
from capabilities.index_check.sites.connections import Connection, SiteMap, list_connections
from pipeline.accounts.secret_box import SecretBox
from pipeline.database import Database
from pipeline.errors import NotReady
from pipeline.log import get_logger
from pipeline.settings import Settings

log = get_logger(__name__)

#: How long an account's sites are remembered.
SITES_LAST_SECONDS = 3.0
#: Accounts whose sites are remembered.
MAX_ACCOUNTS = 1_000


@dataclass
class Connected:
    """An account's sites and working connections."""

    sites: SiteMap
    connections: Mapping[UUID, Connection]
    until: float


class Connections:
    """Reads accounts' connections, and opens the stored access of each once."""

    def __init__(self, settings: Settings, database: Database, services: Mapping[str, SiteService]) -> None:
        self._database = database
        self._box = SecretBox(settings)
        self._services = services
        self._accesses: dict[tuple[UUID, bytes], ServiceAccess] = {}
        self._connected: dict[UUID, Connected] = {}
        self._unreadable: set[UUID] = set()  # connections that were logged, once each
        self._lock = threading.Lock()

    def sites_of(self, account_id: UUID) -> Connected:
        """Return an account's sites as they were a moment ago."""
        found = self._connected.get(account_id)
        return found if found and time.monotonic() < found.until else self.read_sites(account_id)

    def read_sites(self, account_id: UUID) -> Connected:
        """Return an account's sites as they are now."""
        working = [one for one in self._database.run(list_connections(account_id=account_id)) if one.fault is None]
        sites = SiteMap(site for connection in working for site in connection.sites)
        until = time.monotonic() + SITES_LAST_SECONDS
        found = Connected(sites, {connection.id: connection for connection in working}, until)
        with self._lock:
            if len(self._connected) >= MAX_ACCOUNTS:
                self._connected.clear()
            self._connected[account_id] = found
        return found

    def access(self, connection: Connection) -> ServiceAccess:
        """Return a connection's access, the same for all its URLs. Raises ServiceTrouble."""
        key = (connection.id, connection.credentials)
        with self._lock:
            if (access := self._accesses.get(key)) is not None:
                return access
            try:
                credentials = json.loads(self._box.open(connection.credentials))
                access = self._services[connection.service].open(credentials)
            except NotReady as error:
                # This machine's fault: another one may have the key. Its paths are not for users.
                if connection.id not in self._unreadable:
                    self._unreadable.add(connection.id)
                    log.error("stored access can't be used here", name=connection.name, reason=error.message)
                cause = "the stored access to its site can't be used; `pressroom doctor` tells the operator why"
                raise ServiceTrouble(Trouble.UNREADABLE, error.code, cause) from error
            if len(self._accesses) >= MAX_ACCOUNTS:
                self._accesses.clear()
            self._accesses[key] = access
            self._unreadable.discard(connection.id)
            return access

    def forget(self, account_id: UUID) -> None:
        """Read an account's sites anew the next time."""
        self._connected.pop(account_id, None)
