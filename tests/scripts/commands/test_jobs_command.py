"""`pressroom jobs` lists, shows, cancels and retries."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from payers import Payer
from ran import Ran

from pipeline.database import Database
from pipeline.lifecycle.jobs import find_job
from pipeline.wakes.broker import connect
from pipeline.wakes.notices import CHANNEL, read_notice


def test_a_job_is_listed_shown_cancelled_and_tried_again(
    pressroom: Callable[..., Ran], submit: Callable[[], str], database: Database
) -> None:
    job_id = submit()
    assert job_id in pressroom("jobs", "list", "--kind", "speech", "--state", "queued").out
    shown = json.loads(pressroom("jobs", "show", job_id[:8]).out)
    assert (shown["id"], shown["progress"]["total"], shown["credits"]["held"]) == (job_id, 2, 2)

    assert pressroom("jobs", "retry", job_id).code == 1
    assert pressroom("jobs", "cancel", job_id).out == "cancelled\n"
    assert "ended already" in pressroom("jobs", "cancel", job_id).err

    again = pressroom("jobs", "retry", job_id).out.split()[1]
    retried = database.run(find_job(UUID(again)))
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
    assert read_notice(message["data"]) == [job_id]
    assert not upload.exists()


def test_a_job_is_cancelled_without_redis_too(
    pressroom: Callable[..., Ran], submit: Callable[..., str], monkeypatch: Any
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:9/0")

    ran = pressroom("jobs", "cancel", submit())

    assert (ran.code, ran.out) == (0, "cancelled\n")
    assert "within a second" in ran.err


def test_a_list_fits_80_columns_and_a_job_has_times_that_people_read(
    pressroom: Callable[..., Ran], submit: Callable[..., str], monkeypatch: Any
) -> None:
    job_id = submit("speech_with_music")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")  # rich then takes its output for a terminal
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)

    listed = re.sub(r"\x1b\[\d*m", "", pressroom("jobs", "list").out)
    shown = pressroom("jobs", "show", job_id).out

    assert max(map(len, listed.splitlines())) <= 80
    assert f"{job_id[:8]}  speech_with_music  queued" in listed
    assert re.search(r"created_at +20\d\d-\d\d-\d\d \d\d:\d\d:\d\d .*, \d+ s ago", shown)
    assert "credits      held 2, captured 0, released 0" in shown


def test_accounts_and_keys_are_found_by_name_and_by_the_beginning_of_their_id(
    pressroom: Callable[..., Ran], payer: Payer, database: Database
) -> None:
    prefix = str(payer.account_id)[:8]
    made = json.loads(pressroom("keys", "create", prefix, "--name", "Web site", "--json").out)
    assert "Web site" in pressroom("keys", "list", prefix).out
    assert pressroom("keys", "revoke", "web SITE").out.startswith("revoked Web site")
    assert pressroom("keys", "revoke", made["key_id"][:13]).code == 0

    for _ in range(2):
        pressroom("accounts", "create", "Acme")
    doubtful = pressroom("accounts", "top-up", "acme", "5")
    assert doubtful.code == 1
    assert "write more of the id" in doubtful.err
