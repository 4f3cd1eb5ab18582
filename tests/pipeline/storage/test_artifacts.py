"""Artifacts: kept, sent and deleted, in a folder and over S3."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from datetime import date, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from obstore.store import S3Store
from pydantic import SecretStr
from s3_server import BUCKET, S3Server, s3_server

from pipeline.errors import Gone, NotReady, PayloadTooLarge, ServiceUnavailable
from pipeline.settings import Settings, StoreSettings
from pipeline.storage.artifacts import Artifacts, StoreUnavailable, artifact_key, open_store, upload_key

TODAY = date(2026, 11, 20)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "artifacts"


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture(params=["folder", "s3"])
def artifacts(request: pytest.FixtureRequest, tmp_path: Path) -> Artifacts:
    settings: Settings = request.getfixturevalue("on_server") if request.param == "s3" else Settings(data=tmp_path)
    return Artifacts(open_store(settings))


@pytest.fixture
def on_server(s3: S3Server, tmp_path: Path) -> Settings:
    """Settings whose store is an S3 server."""
    s3.objects.clear()
    settings = Settings(data=tmp_path)
    settings.store = on_s3(s3)
    return settings


@pytest.fixture
def in_folder(tmp_path: Path) -> Artifacts:
    return Artifacts(open_store(Settings(data=tmp_path)))


def on_s3(server: S3Server) -> StoreSettings:
    return StoreSettings(
        url=f"s3://{BUCKET}/some/prefix",
        endpoint=server.url,
        access_key_id="id",
        secret_access_key=SecretStr("secret"),
        region="eu-central-1",
    )


def key_for(day: date) -> str:
    return artifact_key(expires_on=day, job_id=uuid4(), index=0, lease_id=uuid4())


async def read(artifacts: Artifacts, *keys: str) -> tuple[int, bytes]:
    size, chunks = await artifacts.open_all(keys)
    return size, b"".join([chunk async for chunk in chunks])


def test_what_was_put_is_what_is_got(artifacts: Artifacts) -> None:
    key = key_for(TODAY)
    artifacts.put(key, b"sound" * 100_000)

    assert artifacts.get(key) == b"sound" * 100_000
    size, chunks = artifacts.read(key)
    artifacts.put(key, b"another")
    assert (size, b"".join(chunks)) == (500_000, b"sound" * 100_000)
    artifacts.put(key, b"sound" * 100_000)
    assert asyncio.run(read(artifacts, key)) == (500_000, b"sound" * 100_000)


def test_several_are_sent_one_after_the_other_with_the_size_of_all(artifacts: Artifacts) -> None:
    first, second = key_for(TODAY), key_for(TODAY)
    artifacts.put(first, b"one ")
    artifacts.put(second, b"two")

    assert asyncio.run(read(artifacts, first, second)) == (7, b"one two")


def test_a_part_of_several_is_cut_where_they_meet(artifacts: Artifacts) -> None:
    keys = [key_for(TODAY) for _ in range(3)]
    contents = [b"abc", b"d", b"ef"]
    for key, content in zip(keys, contents, strict=True):
        artifacts.put(key, content)
    whole = b"".join(contents)
    spans = [(start, end) for start in range(len(whole)) for end in range(start + 1, len(whole) + 1)]

    async def read_all() -> list[bytes]:
        parts = list(zip(keys, await artifacts.sizes(keys), strict=True))
        return [b"".join([chunk async for chunk in artifacts.open_span(parts, *span)]) for span in spans]

    assert asyncio.run(read_all()) == [whole[start:end] for start, end in spans]


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


def test_only_what_has_expired_is_deleted(artifacts: Artifacts) -> None:
    old, today = key_for(TODAY - timedelta(days=1)), key_for(TODAY)
    artifacts.put(old, b"old")
    artifacts.put(today, b"new")
    job_id = uuid4()
    artifacts.put(upload_key(job_id, "music"), b"upload")

    assert artifacts.delete_expired(TODAY) == 1
    assert artifacts.delete_expired(TODAY) == 0

    assert artifacts.get(today) == b"new"
    assert artifacts.get(upload_key(job_id, "music")) == b"upload"


def test_what_a_kept_job_has_made_does_not_expire(artifacts: Artifacts) -> None:
    kept, other = key_for(TODAY - timedelta(days=1)), key_for(TODAY - timedelta(days=1))
    artifacts.put(kept, b"kept")
    artifacts.put(other, b"other")
    job_id = UUID(kept.split("/")[1])

    assert artifacts.delete_expired(TODAY, kept=[job_id]) == 1
    assert artifacts.get(kept) == b"kept"
    assert artifacts.delete_expired(TODAY) == 1


def test_what_a_job_has_made_is_deleted_on_whatever_day_it_expires(artifacts: Artifacts) -> None:
    job_id = uuid4()
    own = [
        artifact_key(
            expires_on=TODAY + timedelta(days=days), job_id=job_id, index=days, lease_id=uuid4(), suffix=".wav"
        )
        for days in (0, 0, 7)
    ]
    others = [key_for(TODAY), key_for(TODAY + timedelta(days=7)), upload_key(job_id, "music")]
    for key in (*own, *others):
        artifacts.put(key, b"sound")

    assert [artifacts.delete_results(job_id), artifacts.delete_results(job_id)] == [3, 0]

    for key in own:
        with pytest.raises(Gone):
            artifacts.get(key)
    assert [artifacts.get(key) for key in others] == [b"sound"] * 3


def test_what_a_killed_process_left_half_written_goes_with_its_day_and_its_job(
    in_folder: Artifacts, folder: Path
) -> None:
    job_id = uuid4()
    days = (TODAY - timedelta(days=1), TODAY)
    keys = [artifact_key(expires_on=day, job_id=job_id, index=0, lease_id=uuid4(), suffix=".wav") for day in days]
    for key in keys:
        in_folder.put(key, b"sound")
        (folder / f"{key}#1").write_bytes(b"so")  # how obstore names a file until it is whole

    assert in_folder.delete_expired(TODAY) == 2
    assert [path.name for path in folder.iterdir()] == [f"{TODAY}"]
    assert in_folder.delete_results(job_id) == 2
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_an_upload_goes_with_all_its_files_and_is_not_missed_twice(artifacts: Artifacts) -> None:
    job_id = uuid4()
    artifacts.put(upload_key(job_id, "audio"), b"a")
    artifacts.put(upload_key(job_id, "music"), b"b")

    artifacts.delete_upload(job_id)
    artifacts.delete_upload(job_id)

    with pytest.raises(Gone):
        artifacts.get(upload_key(job_id, "audio"))
    with pytest.raises(Gone):
        artifacts.read(upload_key(job_id, "audio"))


def test_orphans_are_uploads_that_have_been_there_for_long(artifacts: Artifacts) -> None:
    job_id = uuid4()
    artifacts.put(upload_key(job_id, "audio"), b"a")

    assert artifacts.orphaned_uploads(timedelta(minutes=60)) == []
    assert artifacts.orphaned_uploads(timedelta(seconds=-60)) == [job_id]


def test_a_refused_upload_leaves_no_folder_behind(in_folder: Artifacts, folder: Path) -> None:
    async def too_much() -> AsyncIterator[bytes]:
        for _ in range(20):  # past what the writer holds in memory
            yield b"x" * 2**20
        raise PayloadTooLarge("That is enough.")

    job_id = uuid4()
    with pytest.raises(PayloadTooLarge):
        asyncio.run(in_folder.put_stream(upload_key(job_id, "music"), too_much()))
    in_folder.delete_upload(job_id)

    assert list((folder / "uploads").iterdir()) == []


def test_empty_and_unfinished_uploads_are_orphans_once_nothing_in_them_changes(
    in_folder: Artifacts, folder: Path
) -> None:
    empty, cut_off, arriving = uuid4(), uuid4(), uuid4()
    hour_ago = time.time() - 3_600
    for job_id in (empty, cut_off, arriving):
        (folder / "uploads" / str(job_id)).mkdir(parents=True)
    for job_id in (cut_off, arriving):
        (folder / "uploads" / str(job_id) / "music#1").write_bytes(b"half")
    os.utime(folder / "uploads" / str(cut_off) / "music#1", (hour_ago, hour_ago))
    for job_id in (empty, cut_off, arriving):
        os.utime(folder / "uploads" / str(job_id), (hour_ago, hour_ago))

    assert set(in_folder.orphaned_uploads(timedelta(minutes=30))) == {empty, cut_off}

    in_folder.delete_upload(cut_off)
    assert not (folder / "uploads" / str(cut_off)).exists()
    assert (folder / "uploads" / str(arriving) / "music#1").exists()


def test_what_is_no_upload_is_no_orphan(artifacts: Artifacts) -> None:
    job_id = uuid4()
    for key in ("uploads/.DS_Store", "uploads/notes/audio", f"uploads/{str(uuid4()).upper()}/audio"):
        artifacts.put(key, b"x")
    artifacts.put(upload_key(job_id, "audio"), b"a")

    assert artifacts.orphaned_uploads(timedelta(seconds=-60)) == [job_id]


def test_a_folder_that_can_not_be_read_is_an_error_like_any_other(in_folder: Artifacts, folder: Path) -> None:
    (folder / "uploads").write_bytes(b"no folder")

    with pytest.raises(ServiceUnavailable):
        in_folder.orphaned_uploads(timedelta())
    with pytest.raises(ServiceUnavailable):
        in_folder.delete_upload(uuid4())


def test_only_days_expire_whatever_else_lies_there(artifacts: Artifacts) -> None:
    for key in ("0-backups/x", "1999/x", "2026-11-19-copy/x", "doctor/x"):
        artifacts.put(key, b"not ours")

    assert artifacts.delete_expired(TODAY) == 0
    assert artifacts.get("0-backups/x") == b"not ours"


def test_objects_lie_under_the_prefix_of_the_bucket(s3: S3Server, on_server: Settings) -> None:
    Artifacts(open_store(on_server)).put("2026-11-20/x", b"x")

    assert list(s3.objects) == ["some/prefix/2026-11-20/x"]
    assert not (on_server.data / "artifacts").exists()


def test_the_folder_is_for_its_owner_alone(in_folder: Artifacts, folder: Path) -> None:
    in_folder.put(key_for(TODAY), b"x")

    assert folder.stat().st_mode & 0o077 == 0


def test_a_store_that_is_down_is_said_to_be_and_works_again_later(s3: S3Server, on_server: Settings) -> None:
    artifacts = Artifacts(open_store(on_server))
    key = key_for(TODAY)
    s3.is_down = True
    try:
        with pytest.raises(ServiceUnavailable) as refused:
            artifacts.put(key, b"x")
        with pytest.raises(ServiceUnavailable):
            asyncio.run(read(artifacts, key))
    finally:
        s3.is_down = False

    assert refused.value.code == "store_unavailable"
    artifacts.put(key, b"x")
    assert artifacts.get(key) == b"x"


def test_a_store_may_take_as_long_as_it_likes_while_it_sends(s3: S3Server, on_server: Settings) -> None:
    on_server.store.silence_seconds = 1
    store = open_store(on_server)
    artifacts = Artifacts(store)
    key = key_for(TODAY)
    artifacts.put(key, b"0123456789")
    s3.pause_seconds = 0.15
    try:
        assert artifacts.get(key) == b"0123456789"
        assert asyncio.run(read(artifacts, key)) == (10, b"0123456789")
    finally:
        s3.pause_seconds = 0.0
    assert isinstance(store, S3Store)
    assert store.client_options is not None
    assert store.client_options["timeout"] == "1day"  # and not the half minute of its library


def test_a_store_that_says_nothing_is_given_up(s3: S3Server, on_server: Settings) -> None:
    on_server.store.silence_seconds = 0.2
    artifacts = Artifacts(open_store(on_server))
    s3.is_silent = True
    began = time.monotonic()
    try:
        with pytest.raises(StoreUnavailable):
            artifacts.get(key_for(TODAY))
        with pytest.raises(StoreUnavailable):
            artifacts.put(key_for(TODAY), b"x")
    finally:
        s3.is_silent = False

    assert time.monotonic() - began < 25  # each took 30 s by itself


def test_no_link_in_the_folder_is_followed(tmp_path: Path, in_folder: Artifacts, folder: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "passwords").write_bytes(b"secret")
    (folder / "2026-01-01").symlink_to(elsewhere)
    with pytest.raises(StoreUnavailable):
        in_folder.put("2026-01-01/more", b"bytes")
    for get in (in_folder.get, in_folder.read, lambda key: asyncio.run(read(in_folder, key))):
        with pytest.raises(Gone):
            get("2026-01-01/passwords")
    assert [file.name for file in elsewhere.iterdir()] == ["passwords"]

    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "artifacts").symlink_to(elsewhere)
    with pytest.raises(NotReady, match="PRESSROOM_STORE__URL"):
        open_store(Settings(data=tmp_path / "linked"))
