"""GET /files/{name}: who has a link has the file, and nobody else has."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from uuid import uuid4

import pytest
from http_service import Answer, Service, start_service
from pydantic import SecretStr
from s3_server import BUCKET, S3Server, s3_server

from pipeline.database import Database
from pipeline.settings import Settings, StoreSettings
from pipeline.storage.artifacts import Artifacts, artifact_key, open_store, upload_key
from pipeline.storage.links import SigningKey, add_first_key, artifact_of, read_signing_keys, sign_link

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4_000
WEEK = timedelta(days=7)


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture(scope="module")
def on_s3(
    s3: S3Server, tmp_path_factory: pytest.TempPathFactory, api_database_url: str, redis_server: str
) -> Iterator[Service]:
    """An API whose artifacts are in an S3-compatible store."""
    settings = {
        "STORE__URL": f"s3://{BUCKET}/some/prefix",
        "STORE__ENDPOINT": s3.url,
        "STORE__ACCESS_KEY_ID": "id",
        "STORE__SECRET_ACCESS_KEY": "secret",
        "STORE__REGION": "eu-central-1",
    }
    folder = tmp_path_factory.mktemp("on-s3")
    with start_service(folder, database_url=api_database_url, redis_url=redis_server, settings=settings) as running:
        yield running


@pytest.fixture(scope="module", params=["folder", "s3"])
def where(request: pytest.FixtureRequest) -> tuple[Service, Artifacts]:
    """A service, and its store."""
    if request.param == "folder":
        running: Service = request.getfixturevalue("service")
        return running, Artifacts(open_store(Settings(data=running.data)))
    server: S3Server = request.getfixturevalue("s3")
    store = StoreSettings(
        url=f"s3://{BUCKET}/some/prefix",
        endpoint=server.url,
        access_key_id="id",
        secret_access_key=SecretStr("secret"),
        region="eu-central-1",
    )
    return request.getfixturevalue("on_s3"), Artifacts(open_store(Settings(store=store)))


@pytest.fixture(scope="module")
def keys(api_database: Database) -> list[SigningKey]:
    api_database.run(add_first_key())
    return api_database.run(read_signing_keys())


@pytest.fixture
def link(service: Service, keys: list[SigningKey]) -> str:
    """A link to a picture in the service's folder."""
    return put(Artifacts(open_store(Settings(data=service.data))), keys)


def put(
    artifacts: Artifacts,
    keys: list[SigningKey],
    *,
    suffix: str = "-cover-1.png",
    data: bytes = PICTURE,
    lasts: timedelta = WEEK,
) -> str:
    """Keep a file and return a link to it."""
    now = datetime.now(UTC)
    key = artifact_key(expires_on=(now + WEEK).date(), job_id=uuid4(), index=0, lease_id=uuid4(), suffix=suffix)
    artifacts.put(key, data)
    return sign_link(key, now + lasts, keys)


def test_a_link_needs_no_key_and_shows_the_file_with_all_that_protects_it(
    where: tuple[Service, Artifacts], keys: list[SigningKey]
) -> None:
    service, artifacts = where
    link = put(artifacts, keys)

    answer = service.get(link)

    assert (answer.status, answer.body) == (200, PICTURE)
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["content-length"] == str(len(PICTURE))
    assert answer.headers["content-disposition"] == 'inline; filename="cover-1.png"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["etag"].startswith('"')
    public, age, immutable = answer.headers["cache-control"].split(", ")
    assert (public, immutable) == ("public", "immutable")
    assert 0 <= WEEK.total_seconds() - int(age.removeprefix("max-age=")) < 300


def test_a_range_is_a_part_and_anything_else_is_the_whole(
    where: tuple[Service, Artifacts], keys: list[SigningKey]
) -> None:
    service, artifacts = where
    link = put(artifacts, keys)
    size = len(PICTURE)
    for sent, start, end in (
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        (f"bytes={size - 5}-", size - 5, size),
        ("bytes=-7", size - 7, size),
        (f"bytes=-{size * 2}", 0, size),
        (f"bytes=1-{size * 9}", 1, size),
    ):
        part = service.get(link, Range=sent)
        assert (part.status, part.body) == (206, PICTURE[start:end]), sent
        assert part.headers["content-range"] == f"bytes {start}-{end - 1}/{size}"
        assert part.headers["content-length"] == str(end - start)
        assert part.headers["content-type"] == "image/png"
    for sent in ("bytes=0-1,5-6", "bytes=9-2", "lines=0-1", "bytes=", "bytes=a-b", "bytes=-"):
        whole = service.get(link, Range=sent)
        assert (whole.status, whole.body) == (200, PICTURE), sent
    for sent in (f"bytes={size}-", "bytes=-0", f"bytes={size + 1}-{size + 2}"):
        refused = service.get(link, Range=sent)
        assert (refused.status, refused.code) == (416, "range_not_satisfiable")
        assert refused.headers["content-range"] == f"bytes */{size}"
        assert refused.headers["cache-control"] == "no-store"


def test_a_part_of_another_file_is_not_joined_to_this_one(service: Service, link: str) -> None:
    etag = service.get(link).headers["etag"]

    assert service.get(link, Range="bytes=0-9", If_Range=etag).status == 206
    assert service.get(link, Range="bytes=0-9", If_Range='"another"').status == 200
    assert service.get(link, Range="bytes=0-9", If_Range=f"W/{etag}").status == 200
    assert service.get(link, Range="bytes=0-9", If_Range=format_datetime(datetime.now(UTC))).status == 200


def test_what_a_client_has_is_not_sent_again(where: tuple[Service, Artifacts], keys: list[SigningKey]) -> None:
    service, artifacts = where
    link = put(artifacts, keys)
    etag = service.get(link).headers["etag"]

    for known in (etag, f'"x", {etag}', "*", f"W/{etag}"):
        again = service.get(link, If_None_Match=known, Range="bytes=0-1")
        assert (again.status, again.body) == (304, b"")
        assert again.headers["etag"] == etag
        assert "max-age" in again.headers["cache-control"]
    assert service.get(link, If_None_Match='"x"').status == 200
    assert service.get(put(artifacts, keys)).headers["etag"] != etag


def test_head_tells_the_same_without_the_file(where: tuple[Service, Artifacts], keys: list[SigningKey]) -> None:
    service, artifacts = where
    link = put(artifacts, keys)
    shown, told = service.get(link), service.request("HEAD", link, headers={"Range": "bytes=0-9"})

    assert (told.status, told.body) == (200, b"")
    same = ("content-type", "content-length", "etag", "content-disposition", "content-security-policy")
    assert {name: told.headers[name] for name in same} == {name: shown.headers[name] for name in same}
    assert service.request("HEAD", link, headers={"If-None-Match": shown.headers["etag"]}).status == 304
    assert service.request("HEAD", link[:-1]).status == 403


def test_only_pictures_are_shown_and_all_else_is_saved(service: Service, keys: list[SigningKey]) -> None:
    artifacts = Artifacts(open_store(Settings(data=service.data)))
    for suffix, content_type, place in (
        ("-a.jpg", "image/jpeg", 'inline; filename="a.jpg"'),
        ("-a.webp", "image/webp", 'inline; filename="a.webp"'),
        ("-a.svg", "application/octet-stream", 'attachment; filename="a.svg"'),
        (".html", "application/octet-stream", 'attachment; filename="html"'),
        ("-a.png.html", "application/octet-stream", 'attachment; filename="a.png.html"'),
        ("", "application/octet-stream", 'attachment; filename="file"'),
    ):
        answer = service.get(put(artifacts, keys, suffix=suffix, data=b"<script>"))
        assert answer.headers["content-type"] == content_type
        assert answer.headers["content-disposition"] == place


def refused(answer: Answer, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code)
    assert answer.headers["cache-control"] == "no-store"
    assert "etag" not in answer.headers


def test_an_expired_link_is_gone_and_an_expired_altered_one_is_forbidden(
    service: Service, keys: list[SigningKey]
) -> None:
    link = put(Artifacts(open_store(Settings(data=service.data))), keys, lasts=timedelta(seconds=-1))

    refused(service.get(link), 410, "link_expired")
    refused(service.get(link.replace("expires=1", "expires=2")), 403, "link_invalid")
    refused(service.get(link[:-1] + ("A" if link[-1] != "A" else "B")), 403, "link_invalid")


def test_altered_missing_doubled_and_added_parameters_are_forbidden(service: Service, link: str) -> None:
    path, _, query = link.partition("?")
    expires, signature = query.split("&")
    for odd in (
        *(path, f"{path}?", f"{path}?{expires}", f"{path}?{signature}", f"{path}?{signature}&{expires}"),
        *(
            f"{link}&{expires}",
            f"{link}&{signature}",
            f"{link}&x=1",
            f"{link}%00",
            link.replace("-cover-1", "-cover-2"),
        ),
        *(link.replace("signature=1.", "signature=2."), link.replace("signature=1.", "signature=")),
        *(
            f"{path}%00?{query}",
            f"{path}%0a?{query}",
            path[:-1] + "?" + query,
            f"/files/.?{query}",
            f"/files/%2e?{query}",
        ),
    ):
        refused(service.get(odd), 403, "link_invalid")
    assert service.get(link).status == 200


def test_no_path_leads_to_what_was_not_linked(service: Service, keys: list[SigningKey], link: str) -> None:
    artifacts = Artifacts(open_store(Settings(data=service.data)))
    upload = upload_key(uuid4(), "audio")
    speech = artifact_key(expires_on=datetime.now(UTC).date(), job_id=uuid4(), index=0, lease_id=uuid4(), suffix=".wav")
    for key in (upload, speech):
        artifacts.put(key, b"a secret")
    query = link.partition("?")[2]
    for path in (
        *(upload, speech, upload.replace("/", "%2f"), speech.replace("/", "%2F"), f"..%2f{speech}", "../etc/passwd"),
        *(
            "..%2f..%2fetc%2fpasswd",
            "%2fetc%2fpasswd",
            "%252e%252e%252f",
            "..%5c",
            "%c0%ae%c0%ae/",
            "C:%5c",
            "a" * 3_000,
        ),
    ):
        for tail in ("", f"?{query}"):
            answer = service.get(f"/files/{path}{tail}")
            assert answer.status in {403, 404}, path
            assert b"secret" not in answer.body


def test_a_file_that_is_not_there_is_gone_and_caches_keep_no_word_of_it(
    where: tuple[Service, Artifacts], keys: list[SigningKey]
) -> None:
    service, artifacts = where
    link = put(artifacts, keys)
    artifacts.delete(artifact_of(link.partition("?")[0].removeprefix("/files/")))

    for method in ("GET", "HEAD"):
        answer = service.request(method, link)
        assert answer.status == 410
        assert answer.headers["cache-control"] == "no-store"


def test_a_store_that_is_away_is_said_to_be(on_s3: Service, s3: S3Server, keys: list[SigningKey]) -> None:
    store = StoreSettings(
        url=f"s3://{BUCKET}/some/prefix", endpoint=s3.url, access_key_id="id", secret_access_key=SecretStr("secret")
    )
    link = put(Artifacts(open_store(Settings(store=store))), keys)
    s3.is_down = True
    try:
        refused(on_s3.get(link), 503, "store_unavailable")
        asked = len(s3.requests)
        refused(on_s3.get(link[:-1]), 403, "link_invalid")
        assert len(s3.requests) == asked  # nothing is read for who has no link
    finally:
        s3.is_down = False


def test_a_file_of_any_size_is_sent_at_constant_memory(
    where: tuple[Service, Artifacts], keys: list[SigningKey]
) -> None:
    service, artifacts = where
    small, large = (put(artifacts, keys, data=os.urandom(2**20) * mebibytes) for mebibytes in (4, 32))
    for sent in ("bytes=0-", "bytes=1-", ""):  # what sending takes, of whatever size
        service.get(small, Range=sent)
    before = peak_of(service)

    for sent in ("bytes=0-", "bytes=1-", ""):
        assert len(service.get(large, Range=sent).body) >= 2**25 - 1

    assert peak_of(service) - before < 16 * 2**20


def peak_of(service: Service) -> int:
    """Return the most memory that a process of the service has had, in bytes."""
    pid = service.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    lines = [Path(f"/proc/{child}/status").read_text() for child in children]
    return max(int(text.partition("VmHWM:")[2].split()[0]) * 1024 for text in lines)


def test_nothing_of_a_link_but_its_name_is_written_to_the_log(service: Service, link: str) -> None:
    answer = service.get(link)
    service.wait_for_line(request_id=answer.headers["x-request-id"])

    assert link.partition("signature=")[2] not in service.log.read_text()
