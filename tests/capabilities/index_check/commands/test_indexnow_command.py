"""`pressroom indexnow` makes keys, and says what sites must serve."""

import re
from collections.abc import Callable

import pytest
from ran import Ran
from told_engines import KEY, told_engines


def test_a_key_is_made_with_what_to_do_with_it(pressroom: Callable[..., Ran]) -> None:
    first, second = pressroom("indexnow", "key"), pressroom("indexnow", "key")

    (made,) = re.findall(r"^key +([0-9a-f]{32})$", first.out, re.MULTILINE)
    assert f"PRESSROOM_SUBMISSION__INDEXNOW__KEY={made}" in first.out
    assert f"https://HOST/{made}.txt" in first.out
    assert made not in second.out


def test_a_site_is_looked_at(pressroom: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSROOM_SUBMISSION__INDEXNOW__KEY", KEY)
    monkeypatch.setenv("PRESSROOM_FETCH__ALLOW_NETWORKS", "127.0.0.0/8")
    with told_engines() as engines:
        missing = pressroom("indexnow", "check", f"http://{engines.here}")
        engines.files[engines.here, f"/{KEY}.txt"] = KEY
        found = pressroom("indexnow", "check", f"http://{engines.here}")

        assert (missing.code, found.code) == (1, 0)
        assert "HTTP 404" in missing.out
        for ran in (missing, found):
            assert f"http://{engines.here}/{KEY}.txt" in ran.out
        assert re.search(r"^found +yes$", found.out, re.MULTILINE)


def test_a_site_needs_a_key_and_a_host(pressroom: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "PRESSROOM_SUBMISSION__INDEXNOW__KEY" in pressroom("indexnow", "check", "www.example.com").err
    monkeypatch.setenv("PRESSROOM_SUBMISSION__INDEXNOW__KEY", KEY)
    assert "is not a host" in pressroom("indexnow", "check", "ftp://www.example.com").err


def test_the_doctor_says_what_is_set_up(pressroom: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSROOM_SUBMISSION__INDEXNOW__KEYS", f"www.example.com={KEY},example.com=short")
    ran = pressroom("doctor")

    assert re.search(r"submission: indexnow .*'example.com': a key has 8 to 128", ran.out)
    assert KEY not in ran.out
