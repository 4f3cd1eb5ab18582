"""Commands run in this process, and the jobs that they find."""

import logging
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog
from payers import Payer
from ran import Ran

from pipeline import lifecycle
from pipeline.database import Database
from scripts.main import main


@pytest.fixture
def command_here(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Iterator[Callable[..., Ran]]:
    """A function that runs a command in this process, without the two seconds of its imports.

    Its named arguments are environment variables for this run alone."""
    # Some commands send this process's log to their own standard error, which the test's end closes.
    handlers = logging.getLogger().handlers[:]
    configure = structlog.configure

    def configure_anew(**options: Any) -> None:
        # A module's logger would keep the standard error of the first test that logs by it.
        configure(**options | {"cache_logger_on_first_use": False})

    monkeypatch.setattr(structlog, "configure", configure_anew)
    monkeypatch.setenv("COLUMNS", "250")

    def run(*arguments: str, **variables: str) -> Ran:
        with monkeypatch.context() as changed:
            changed.setattr(sys, "argv", ["pressroom", *arguments])
            for name, value in variables.items():
                changed.setenv(name, value)
            with pytest.raises(SystemExit) as ended:
                main()
        captured = capsys.readouterr()
        code = ended.value.code
        return Ran(captured.out, captured.err, code if isinstance(code, int) else 0)

    yield run
    logging.getLogger().handlers[:] = handlers
    structlog.reset_defaults()


@pytest.fixture
def pressroom(
    command_here: Callable[..., Ran],
    database_url: str,
    redis_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Ran]:
    """The same on this test's servers."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("PRESSROOM_DATA", str(tmp_path))
    return command_here


@pytest.fixture
def sweep(pressroom: Callable[..., Ran]) -> Callable[..., dict[str, str]]:
    """A function that sweeps and returns what was done; its arguments are environment variables."""

    def run(**settings: str) -> dict[str, str]:
        ran = pressroom("sweep", **settings)
        assert ran.code == 0, ran.err
        return dict(line.split() for line in ran.out.splitlines())

    return run


@pytest.fixture
def submit(database: Database, payer: Payer) -> Callable[..., str]:
    """A function that submits a job of two items and returns its id."""

    def run(kind: str = "speech") -> str:
        submission = lifecycle.Submission(
            account_id=payer.account_id,
            api_key_id=payer.api_key_id,
            kind=kind,
            route="/tts",
            request={"speed": 2.0},
            request_id="test",
            request_hash=b"hash",
            items=[({"text": "one"}, 1, None), ({"text": "two"}, 1, None)],
            deadline=timedelta(hours=1),
            keep_for=timedelta(hours=1),
            slice_size=1,
        )
        return str(database.run(lifecycle.submit(submission)).job_id)

    return run
