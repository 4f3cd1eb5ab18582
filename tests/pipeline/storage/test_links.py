"""Links: signed, exact, and good until they expire."""

import string
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.database import Database, Statement
from pipeline.storage.artifacts import artifact_key, upload_key
from pipeline.storage.links import (
    LinkInvalid,
    SigningKey,
    add_first_key,
    add_next_key,
    artifact_of,
    delete_old_keys,
    file_name,
    read_signing_keys,
    sign_link,
    verify_link,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=7)
KEYS = [SigningKey(1, b"a" * 32), SigningKey(2, b"b" * 32)]
#: The same in every process: tests are named after it.
SOME_ID = UUID("0f0e0d0c-0b0a-4908-8706-050403020100")
ARTIFACT = artifact_key(expires_on=date(2026, 11, 28), job_id=SOME_ID, index=0, lease_id=SOME_ID, suffix="-cover-1.png")


def parts(link: str) -> tuple[str, str]:
    """Return the name and the query of a link."""
    path, _, query = link.partition("?")
    return path.removeprefix("/files/"), query


@given(
    st.dates(min_value=date(1970, 1, 1), max_value=date(2149, 6, 6)),
    st.uuids(),
    st.integers(0, 999_999_999),
    st.uuids(),
    st.text(string.ascii_lowercase + string.digits + ".-", max_size=16),
)
def test_a_name_stands_for_one_artifact_and_for_nothing_else(day, job_id, index, lease_id, suffix) -> None:
    key = artifact_key(expires_on=day, job_id=job_id, index=index, lease_id=lease_id, suffix=suffix)
    assert artifact_of(file_name(key)) == key


@pytest.mark.parametrize("key", [upload_key(SOME_ID, "audio"), "", "../secret", "/etc/passwd", ARTIFACT + "/..", "x\0"])
def test_what_is_no_artifact_gets_no_name(key: str) -> None:
    with pytest.raises(ValueError):
        file_name(key)


@given(st.text(max_size=80) | st.from_regex(r"[A-Za-z0-9_-]{51}[a-z0-9./-]{0,17}", fullmatch=True))
def test_no_name_leads_out_of_the_store(name: str) -> None:
    try:
        key = artifact_of(name)
    except LinkInvalid:
        return
    assert file_name(key) == name  # so it has the shape of an artifact's key, and only one spelling


@pytest.mark.parametrize("now", [NOW, LATER + timedelta(days=1)])
def test_no_altered_character_passes_and_an_expired_altered_link_is_no_better(now: datetime) -> None:
    name, query = parts(sign_link(ARTIFACT, LATER, KEYS))
    for text in (name, query):
        for place, character in enumerate(text):
            for other in {"A" if character != "A" else "B", "0" if character != "0" else "1", "%", ""}:
                changed = text[:place] + other + text[place + 1 :]
                with pytest.raises(LinkInvalid):
                    verify_link(*((changed, query) if text is name else (name, changed)), KEYS, now=now)


def test_a_new_key_signs_when_all_know_it_and_the_old_one_verifies_until_it_is_deleted() -> None:
    old, new = KEYS[0], SigningKey(2, b"b" * 32, is_settled=False)
    assert "signature=1." in sign_link(ARTIFACT, LATER, [old, new])
    assert "signature=2." in sign_link(ARTIFACT, LATER, KEYS)
    # The very first one is made when it is wanted, and whoever has none yet reads it then.
    assert "signature=2." in sign_link(ARTIFACT, LATER, [new])

    name, query = parts(sign_link(ARTIFACT, LATER, [old]))
    assert verify_link(name, query, KEYS, now=NOW) == LATER
    with pytest.raises(LinkInvalid):
        verify_link(name, query, KEYS[1:], now=NOW)


def test_one_secret_is_made_by_however_many_processes_and_shared(database: Database, database_url: str) -> None:
    def first_keys(_: int) -> list[SigningKey]:
        with Database(database_url) as other:
            other.run(add_first_key())
            return other.run(read_signing_keys())

    with ThreadPoolExecutor(6) as processes:
        found = list(processes.map(first_keys, range(6)))
    assert len(found[0]) == 1
    assert len(found[0][0].secret) == 32
    assert all(keys == found[0] for keys in found)

    assert database.run(add_next_key()) == 2
    database.run(Statement("UPDATE signing_key SET created_at = now() - interval '1 hour' WHERE id = 1 RETURNING 1"))
    assert [(key.id, key.is_settled) for key in database.run(read_signing_keys())] == [(1, True), (2, False)]
    assert database.run(delete_old_keys()) == 1
    assert [key.id for key in database.run(read_signing_keys())] == [2]
