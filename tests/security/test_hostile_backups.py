"""Hostile backups, a table: `pressroom restore` writes nothing outside of its store, and refuses what is no backup."""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from payers import Payer
from sqlalchemy.exc import OperationalError

from pipeline.errors import NotReady, PressroomError
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store
from scripts.backup.archive import ARTIFACTS, DUMP, MANIFEST, UNSEALED, read_archive, write_archive

#: A name that nothing else has, and where members with absolute paths would be written.
EVIL = f"evil-{uuid4().hex}"
ELSEWHERE = (Path("/tmp", EVIL), Path("/etc", EVIL))

#: Members behind manifest and dump: a name, its type, and where it leads if it is a link.
MEMBERS = {
    "a path that leads up": (f"{ARTIFACTS}2026-01-01/../../../evil", tarfile.REGTYPE, ""),
    "a path that leads up at once": (f"{ARTIFACTS}../evil", tarfile.REGTYPE, ""),
    "an absolute path": (f"/tmp/{EVIL}", tarfile.REGTYPE, ""),
    "an absolute path of an artifact": (f"{ARTIFACTS}2026-01-01//etc/{EVIL}", tarfile.REGTYPE, ""),
    "a link to a file outside": (f"{ARTIFACTS}2026-01-01/evil", tarfile.SYMTYPE, "/etc/passwd"),
    "a hard link to a file outside": (f"{ARTIFACTS}2026-01-01/evil", tarfile.LNKTYPE, "../../etc/passwd"),
    "a link in place of a day": (f"{ARTIFACTS}2026-01-01", tarfile.SYMTYPE, "/etc"),
    "a device": (f"{ARTIFACTS}2026-01-01/evil", tarfile.CHRTYPE, ""),
    "a pipe": (f"{ARTIFACTS}2026-01-01/evil", tarfile.FIFOTYPE, ""),
    "a link for the key of secrets": ("secrets.key", tarfile.SYMTYPE, "/etc/passwd"),
    "a name with NUL": (f"{ARTIFACTS}2026-01-01/a\0evil", tarfile.REGTYPE, ""),
    "a name of 5,000 letters": (f"{ARTIFACTS}2026-01-01/{'evil' * 1_250}", tarfile.REGTYPE, ""),
}

#: Stands in for a database, where restoring ends, so that nothing refused later passes for harmless.
NO_DATABASE = "postgresql://127.0.0.1:9/nothing"
HEADING = {"format": UNSEALED, "pressroom": "0", "made_at": "2026-01-01"}


def backup(*members: tuple[str, bytes, str], heading: object = HEADING) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, content in ((MANIFEST, json.dumps(heading).encode()), (DUMP, b"no dump")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for name, kind, leads in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, leads
            info.size = 4 if kind == tarfile.REGTYPE else 0
            archive.addfile(info, io.BytesIO(b"evil"))
    return file.getvalue()


@pytest.mark.parametrize("name", MEMBERS)
def test_a_hostile_member_is_written_nowhere(tmp_path: Path, name: str) -> None:
    data = tmp_path / "system" / "data"
    data.mkdir(parents=True)
    (tmp_path / "backup.tar").write_bytes(backup(MEMBERS[name]))

    with pytest.raises(PressroomError):
        read_archive(tmp_path / "backup.tar", NO_DATABASE, Artifacts(open_store(Settings(data=data))), data)

    kept = [path for path in tmp_path.rglob("*") if path.name != "backup.tar" and not path.is_dir()]
    assert [path for path in kept if path.is_symlink() or not path.is_file() or "root:" in path.read_text()] == []
    assert [path for path in kept if data / "artifacts" not in path.parents] == []
    assert [path for path in ELSEWHERE if path.exists()] == []


@pytest.mark.parametrize(
    "body", [b"", b"\0" * 10_240, b"PK\x03\x04", b"\x1f\x8b" + bytes(99), backup()[:600], backup(heading=[])]
)
def test_what_is_no_backup_is_refused(tmp_path: Path, body: bytes) -> None:
    (tmp_path / "backup.tar").write_bytes(body)

    with pytest.raises(NotReady):
        read_archive(tmp_path / "backup.tar", NO_DATABASE, Artifacts(open_store(Settings(data=tmp_path))), tmp_path)


#: Runs while rows are read into the table; a restore that lets it fails.
HOSTILE = """
CREATE FUNCTION evil() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'the code of the backup has run'; END $$;
ALTER TABLE account ADD CONSTRAINT evil CHECK (evil()) NOT VALID;
CREATE TABLE evil AS SELECT 'anything' AS words;
"""
#: Names, and whether they wait for the end of a transaction.
RULES = "SELECT conname, condeferrable FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1"


def test_no_sql_of_a_backup_is_run_and_its_rows_are_all_there(
    tmp_path: Path, payer: Payer, database_url: str, make_database: Callable[..., str]
) -> None:
    artifacts = Artifacts(open_store(Settings(data=tmp_path)))
    with psycopg.connect(database_url) as connection:
        connection.execute(HOSTILE)
        counted = connection.execute("SELECT count(*), sum(available) FROM account").fetchone()
        rules = connection.execute(RULES).fetchall()
    write_archive(tmp_path / "backup.tar", database_url, artifacts, tmp_path)
    url = make_database(template="template0")

    read_archive(tmp_path / "backup.tar", url, artifacts, tmp_path)

    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*), sum(available) FROM account").fetchone() == counted
        assert connection.execute("SELECT to_regclass('evil'), to_regproc('evil')").fetchone() == (None, None)
        assert connection.execute(RULES).fetchall() == [rule for rule in rules if rule[0] != "evil"]


def test_a_changed_backup_is_refused_and_with_a_key_one_that_it_has_not_signed(
    tmp_path: Path, database_url: str
) -> None:
    file, artifacts = tmp_path / "backup.tar", Artifacts(open_store(Settings(data=tmp_path)))

    def refusal(*keys: str) -> str:
        with pytest.raises(NotReady) as refused:
            read_archive(file, NO_DATABASE, artifacts, tmp_path, signing_keys=keys)
        return refused.value.message

    write_archive(file, database_url, artifacts, tmp_path, signing_keys=["ours"])
    with pytest.raises(OperationalError):  # so far it is trusted
        read_archive(file, NO_DATABASE, artifacts, tmp_path, signing_keys=["newer", "ours"])
    assert "--unsigned" in refusal("theirs")
    whole = file.read_bytes()
    file.write_bytes(whole[:2_000] + bytes([whole[2_000] ^ 1]) + whole[2_001:])
    assert "cut short or changed" in refusal()
    file.write_bytes(backup())
    assert "--unsigned" in refusal("ours")
