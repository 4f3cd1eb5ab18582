"""Servers: checks of the database, the ledger, the artifact store and the machine."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from smtplib import SMTPException
from uuid import uuid4

from pipeline import lifecycle
from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, DatabaseUnavailable, Statement
from pipeline.errors import PressroomError
from pipeline.notices.sending import MailServer
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, StoreUnavailable, open_store, store_url
from scripts.doctor.finding import Finding, Mark
from scripts.options import PATIENCE, why_refused
from scripts.system.embedded import postgres, redis
from scripts.system.sizing.small import LITTLE_BYTES
from workers.models.catalogue import read_catalogue
from workers.models.machine import Machine, gigabytes

#: Memory of a small system that speaks English.
SMALL_BYTES = 900_000_000
#: Room for results of some days; a full disk stops everything.
ROOM_BYTES = 1_000_000_000


def check_database(url: str) -> str:
    """Return the version of a migrated database. Raises PressroomError, psycopg.Error."""
    statement = (
        "SELECT current_setting('server_version') AS version, to_regnamespace(%(schema)s) IS NOT NULL AS installed"
    )
    try:
        with Database(url, patience=PATIENCE) as database:
            found = database.run(Statement(statement, {"schema": lifecycle.SCHEMA}, lambda rows: rows[0]))
    except DatabaseUnavailable as error:
        raise PressroomError(f"The database does not answer: {why_refused(url) or error.message}") from error
    if not found["installed"]:
        raise PressroomError("Migrations are missing; run `pressroom migrate`.")
    return f"version {found['version']}, migrated"


def check_ledger(url: str) -> str:
    """Check that the books balance. Raises PressroomError."""
    with Database(url, patience=PATIENCE) as database:
        found = database.run(discrepancies())
    if found:
        raise PressroomError("; ".join(map(str, found[:5])))
    return "every balance is the sum of its entries"


def embedded_servers(settings: Settings) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the servers that `pressroom up` would start, with a check of each."""
    if not settings.database_url:
        kept = settings.data / "postgres"
        state = f"its data is in {kept}" if kept.exists() else "it will be made at the first start"
        yield "PostgreSQL", lambda: f"comes with the system ({postgres.find_binaries().parent.name}); {state}"
    if not settings.redis_url:
        yield "Redis", lambda: f"comes with the system ({redis.find_binary().name})"


def check_store(settings: Settings) -> str:
    """Write, read and delete a file; return the store's URL. Raises PressroomError."""
    if _is_still_to_be_made(settings):
        return f"{store_url(settings)}, which will be made when it is needed"
    key, data = f"doctor/{uuid4()}", b"pressroom"
    artifacts = Artifacts(open_store(settings))
    try:
        artifacts.put(key, data)
        if artifacts.get(key) != data:
            raise PressroomError("The file read differs from the file written.")
        artifacts.delete(key)
    except StoreUnavailable as error:
        raise PressroomError(f"{store_url(settings)}: {str(error.__cause__).partition(chr(10))[0]}") from error
    return store_url(settings)


def _is_still_to_be_made(settings: Settings) -> bool:
    """Return whether the store is a folder that does not exist yet. Raises PressroomError if it can't be made."""
    url = store_url(settings)
    folder = Path(url.removeprefix("file://"))
    if url.startswith("s3://") or folder.exists():
        return False
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise PressroomError(f"{folder} can't be made: {above} is not a folder that you may write to.")
    return True


def check_memory(machine: Machine) -> str:
    """Return how much memory there is, and for which models it is enough. Raises PressroomError."""
    here = gigabytes(machine.memory_bytes)
    if machine.memory_bytes < SMALL_BYTES:
        raise PressroomError(f"{here} here; a small system (`pressroom up --small`) needs {gigabytes(SMALL_BYTES)}.")
    size = "an ordinary system" if machine.memory_bytes >= LITTLE_BYTES else "a small system"
    suited = sorted({model.engine for model in read_catalogue().values() if machine.lacks(model.needs) is None})
    return f"{here}, enough for {size}, and for models of {', '.join(suited)}"


def check_disk(data: Path) -> str:
    """Return how much room there is for a system's data. Raises PressroomError."""
    folder = next(parent for parent in (data.absolute(), *data.absolute().parents) if parent.is_dir())
    free = shutil.disk_usage(folder).free
    if free < ROOM_BYTES:
        raise PressroomError(f"{gigabytes(free)} free on the disk of {data}; keep {gigabytes(ROOM_BYTES)} free.")
    return f"{gigabytes(free)} free on the disk of {data}"


def check_mail(settings: Settings) -> Finding:
    """Return whether the mail server lets us in; the service can do without."""
    wanted = settings.mail
    if wanted.host is None:
        return Finding("e-mail", Mark.ABSENT, "PRESSROOM_MAIL__HOST is not set: no notices are sent")
    try:
        with MailServer(wanted):
            return Finding("e-mail", Mark.READY, f"{wanted.host} answers; Notices in the dashboard sends a test")
    except (OSError, SMTPException) as error:
        return Finding("e-mail", Mark.ABSENT, f"{wanted.host}: {error}")
