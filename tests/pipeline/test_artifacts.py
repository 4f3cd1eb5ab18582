"""Artifacts: kept, sent and deleted, in a folder."""

import asyncio
from collections.abc import AsyncIterator
from datetime import date, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from pipeline.artifacts import Artifacts, artifact_key, open_store, upload_key
from pipeline.errors import Gone
from pipeline.settings import Settings

TODAY = date(2026, 11, 20)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "artifacts"


@pytest.fixture
def artifacts(folder: Path) -> Artifacts:
    return Artifacts(open_store(Settings(data=folder.parent)))


def key_for(day: date) -> str:
    return artifact_key(expires_on=day, job_id=uuid4(), index=0, lease_id=uuid4())


async def read(artifacts: Artifacts, *keys: str) -> tuple[int, bytes]:
    size, chunks = await artifacts.open_all(keys)
    return size, b"".join([chunk async for chunk in chunks])


def test_what_was_put_is_what_is_got(artifacts: Artifacts) -> None:
    key = key_for(TODAY)
    artifacts.put(key, b"sound" * 100_000)

    assert artifacts.get(key) == b"sound" * 100_000
    assert asyncio.run(read(artifacts, key)) == (500_000, b"sound" * 100_000)


def test_several_are_sent_one_after_the_other_with_the_size_of_all(artifacts: Artifacts) -> None:
    first, second = key_for(TODAY), key_for(TODAY)
    artifacts.put(first, b"one ")
    artifacts.put(second, b"two")

    assert asyncio.run(read(artifacts, first, second)) == (7, b"one two")


def test_what_is_not_there_is_gone_before_anything_is_sent(artifacts: Artifacts) -> None:
    first = key_for(TODAY)
    artifacts.put(first, b"one")

    for keys in ([key_for(TODAY)], [first, key_for(TODAY)]):
        with pytest.raises(Gone):
            asyncio.run(read(artifacts, *keys))


def test_a_stream_is_kept_as_it_comes(artifacts: Artifacts) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"x" * 10_000

    job_id = uuid4()
    asyncio.run(artifacts.put_stream(upload_key(job_id, "audio"), chunks()))

    assert len(artifacts.get(upload_key(job_id, "audio"))) == 1_000_000


def test_only_what_has_expired_is_deleted_and_leaves_no_folder_behind(artifacts: Artifacts, folder: Path) -> None:
    old, today = key_for(TODAY - timedelta(days=1)), key_for(TODAY)
    artifacts.put(old, b"old")
    artifacts.put(today, b"new")
    job_id = uuid4()
    artifacts.put(upload_key(job_id, "music"), b"upload")

    assert artifacts.delete_expired(TODAY) == 1
    assert artifacts.delete_expired(TODAY) == 0

    assert artifacts.get(today) == b"new"
    assert artifacts.get(upload_key(job_id, "music")) == b"upload"
    assert not (folder / f"{TODAY - timedelta(days=1)}").exists()


def test_an_upload_goes_with_all_its_files_and_is_not_missed_twice(artifacts: Artifacts, folder: Path) -> None:
    job_id = uuid4()
    artifacts.put(upload_key(job_id, "audio"), b"a")
    artifacts.put(upload_key(job_id, "music"), b"b")

    artifacts.delete_upload(job_id)
    artifacts.delete_upload(job_id)

    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_orphans_are_uploads_that_have_been_there_for_long(artifacts: Artifacts) -> None:
    job_id = uuid4()
    artifacts.put(upload_key(job_id, "audio"), b"a")

    assert artifacts.orphaned_uploads(timedelta(minutes=60)) == []
    assert artifacts.orphaned_uploads(timedelta(seconds=-60)) == [job_id]


def test_the_folder_is_for_its_owner_alone(artifacts: Artifacts, folder: Path) -> None:
    artifacts.put(key_for(TODAY), b"x")

    assert folder.stat().st_mode & 0o077 == 0
