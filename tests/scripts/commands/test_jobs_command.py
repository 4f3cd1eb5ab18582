"""`pressroom jobs` lists, shows, cancels and retries."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from ran import Ran

from pipeline.broker import connect
from pipeline.database import Database
from pipeline.jobs import find_job
from pipeline.notices import CHANNEL, read_notice


def test_a_job_is_listed_shown_cancelled_and_tried_again(
    pressroom: Callable[..., Ran], submit: Callable[[], str], database: Database
) -> None:
    job_id = submit()
    assert job_id in pressroom("jobs", "list", "--kind", "speech", "--state", "queued").out
    assert json.loads(pressroom("jobs", "show", job_id).out)["items_total"] == 2

    assert pressroom("jobs", "retry", job_id).code == 1
    assert pressroom("jobs", "cancel", job_id).out == "cancelled\n"
    assert "ended already" in pressroom("jobs", "cancel", job_id).err

    again = pressroom("jobs", "retry", job_id).out.split()[1]
    retried = database.run(find_job(UUID(again)))
    assert retried is not None
    assert (retried.state, retried.items_total, retried.request, retried.credits_held) == (
        "queued",
        2,
        {"speed": 2.0},
        2,
    )


def test_a_job_whose_files_are_gone_is_not_tried_again(
    pressroom: Callable[..., Ran], submit: Callable[..., str]
) -> None:
    job_id = submit("speech_with_music")
    pressroom("jobs", "cancel", job_id)

    refused = pressroom("jobs", "retry", job_id)

    assert refused.code == 1
    assert "came with files" in refused.err


def test_who_waits_for_a_cancelled_job_is_told_and_its_upload_deleted(
    pressroom: Callable[..., Ran], submit: Callable[..., str], redis_url: str, tmp_path: Path
) -> None:
    job_id = UUID(submit("speech_with_music"))
    upload = tmp_path / "artifacts" / "uploads" / str(job_id)
    upload.mkdir(parents=True)
    (upload / "music").write_bytes(b"la")
    with connect(redis_url).pubsub() as listener:
        listener.subscribe(CHANNEL)
        listener.get_message(timeout=30)

        assert pressroom("jobs", "cancel", str(job_id)).out == "cancelled\n"

        message = listener.get_message(timeout=30)
    assert message is not None
    assert read_notice(message["data"]) == [job_id]
    assert not upload.exists()


def test_a_job_is_cancelled_without_redis_too(
    pressroom: Callable[..., Ran], submit: Callable[..., str], monkeypatch: Any
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:9/0")

    ran = pressroom("jobs", "cancel", submit())

    assert (ran.code, ran.out) == (0, "cancelled\n")
    assert "by the clock" in ran.err
