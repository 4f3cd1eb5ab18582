"""`pressroom pause` and `resume`."""

from collections.abc import Callable
from uuid import uuid4

from ran import Ran


def test_an_account_is_paused_by_its_name_listed_and_resumed(pressroom: Callable[..., Ran]) -> None:
    name = f"Acme {uuid4()}"
    pressroom("accounts", "create", name)

    assert pressroom("pause", "account", name, "--reason", "floods").out == "paused\n"
    assert pressroom("pause", "account", name).out == "was paused already\n"
    (line,) = [line for line in pressroom("pause").out.splitlines() if name in line]
    assert line.startswith("account\t")
    assert line.endswith("\tfloods")
    assert pressroom("resume", "account", name).out == "resumed\n"
    assert name not in pressroom("pause").out


def test_only_what_there_is_is_paused(pressroom: Callable[..., Ran]) -> None:
    refused = pressroom("pause", "queue", "tts")

    assert refused.code == 1
    assert "There is no queue 'tts'; choose vision" in refused.err
