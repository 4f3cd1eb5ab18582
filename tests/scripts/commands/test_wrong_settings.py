"""What `pressroom up` says of settings that can't be used: one line with the setting, and nothing is started."""

from collections.abc import Callable
from typing import Any

import pytest
from ran import Ran

WRONG = {
    "PRESSROOM_FETCH__ALLOW_NETWORKS": "banana",
    "PRESSROOM_API__TRUSTED_PROXIES": "10.0.0.0/40",
    "PRESSROOM_API__PORT": "99999",
    "PRESSROOM_API__PROCESSES": "0",
    "PRESSROOM_API__PUBLIC_URL": "example.org",
    "PRESSROOM_API__MAX_JSON_BYTES": "-1",
    "PRESSROOM_LIMITS__FREE__PER_MINUTE": "-5",
    "PRESSROOM_WORK__LEASE_SECONDS": "0",
    "PRESSROOM_WORK__HEARTBEAT_SECONDS": "15.1",
    "PRESSROOM_RETENTION__RESULT_HOURS": "nan",
    "PRESSROOM_RETENTION__INDEX_DAYS": "91",
    "PRESSROOM_RETENTION__SAMPLE_DAYS": "inf",
    "PRESSROOM_SEARCH__SERPER__INTERVAL_SECONDS": "inf",
    "PRESSROOM_API__HEADER_SECONDS": "inf",
    "PRESSROOM_STORE__ACCESS_KEY_ID": "key",
    "PRESSROOM_LOG_LEVEL": "LOUD",
    "PRESSROOM_LOG_FORMAT": "xml",
    "PRESSROOM_SYNTHESIS__ENGINES": "espeak,banana",
    "PRESSROOM_SEARCH__PROVIDERS": "altavista",
    "PRESSROOM_SEARCH__CAPTCHA_MINUTES": "often",
    "PRESSROOM_SEARCH__SEARXNG__URL": "searx.local",
    "PRESSROOM_STORE__ENDPOINT": "s3.local:9000",
    "PRESSROOM_TRACING__ENDPOINT": "collector",
    "PRESSROOM_TRACING__SHARE": "2",
    "PRESSROOM_MODELS__DOWNLOAD": "perhaps",
    "PRESSROOM_DATABASE__PREPARE": "maybe",
    "PRESSROOM_KINDS": "no.such.module:Kind",
    "PRESSROOM_STORE__URL": "ftp://files",
    "PRESSROOM_FFMPEG": "/nope",
    "PRESSROOM_SECRETS_KEY": "short",
    "DATABASE_URL": "mysql://here/x",
    "REDIS_URL": "banana",
}
#: Addresses that begin well, each with a password that nobody may be shown.
WRONG_ADDRESSES = (
    ("DATABASE_URL", "postgresql://u:secr%zzet@here/x"),
    ("DATABASE_URL", "postgresql://u:secret@here/x?colour=red"),
    ("DATABASE_URL", "postgresql://u:secret@[::1/x"),
    ("REDIS_URL", "redis://:secret@here:abc"),
    ("REDIS_URL", "redis://:secret@here:6379/0?socket_timeout=soon"),
)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_setting_stops_the_start_with_one_line_that_names_it(
    pressroom: Callable[..., Ran], monkeypatch: Any, name: str
) -> None:
    monkeypatch.setenv(name, WRONG[name])
    monkeypatch.setattr("scripts.system.up.only_system", lambda data: pytest.fail("it is started"))

    ran = pressroom("up")

    assert ran.code == 1
    assert len(ran.err.splitlines()) == 1, ran.err
    assert name in ran.err, ran.err


@pytest.mark.parametrize(("name", "address"), WRONG_ADDRESSES)
def test_an_address_that_can_not_be_read_stops_the_start_and_its_password_is_not_shown(
    pressroom: Callable[..., Ran], monkeypatch: Any, name: str, address: str
) -> None:
    monkeypatch.setenv(name, address)
    monkeypatch.setattr("scripts.system.up.only_system", lambda data: pytest.fail("it is started"))

    ran = pressroom("up")

    assert ran.code == 1
    assert len(ran.err.splitlines()) == 1, ran.err
    assert name in ran.err
    assert "secr" not in ran.err + ran.out
