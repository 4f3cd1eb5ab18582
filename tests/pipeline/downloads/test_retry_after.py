"""Retry-After, as servers send it, and as hostile ones do."""

from datetime import UTC, datetime, timedelta

import pytest

from pipeline.downloads.failures import LONGEST, read_retry_after

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
MOST = LONGEST.total_seconds()


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7), (" 7 ", 7), ("000000000007", 7), ("0", 0), ("9" * 9, MOST), ("9" * 5_000, MOST),
        ("Fri, 20 Nov 2026 12:00:30 GMT", 30), ("Fri, 20 Nov 2026 12:00:30", 30),
        ("Fri, 20 Nov 2026 13:00:30 +0100", 30), ("Fri, 20 Nov 2026 11:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", MOST), ("", None), ("soon", None), ("-1", None), ("٣", None), ("²", None),
        ("1.5", None), ("Fri, 20 Nov 99999 12:00:30 GMT", None), ("Fri, 20 Nov 2026 12:00:" + "9" * 30, None),
        ("Fri, 20 Nov 2026 12:00:30 +" + "9" * 20, None),
    ],
    ids=lambda value: ascii(value)[:30],
)  # fmt: skip
def test_it_is_read_as_seconds_or_as_a_date_and_never_throws(header: str, seconds: float | None) -> None:
    expected = None if seconds is None else timedelta(seconds=seconds)
    assert read_retry_after(header, now=NOW) == expected
