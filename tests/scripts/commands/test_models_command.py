"""`pressroom models` lists, fetches, verifies and removes, and `doctor` says what would be worth fetching."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ran import Ran


def test_list_says_what_is_here_and_what_could_be(pressroom: Callable[..., Ran]) -> None:
    ran = pressroom("models", "list", "whisper")

    header, *rows = [line.split("\t") for line in ran.out.splitlines()]
    assert header == ["name", "state", "engine", "languages", "size", "licence", "gives"]
    listed = {row[0]: row for row in rows}
    assert listed["whisper-tiny.en"][1:5] == ["here", "whisper", "en", "78 MB"]
    assert listed["whisper-small"][1] != "here"
    assert all(row[2] == "whisper" for row in rows)


def test_list_of_a_family_has_models_that_serve_others_too(pressroom: Callable[..., Ran]) -> None:
    assert "qwen3-vl-2b-gguf\t" in pressroom("models", "list", "metadata").out


@pytest.mark.parametrize("command", ["fetch", "verify", "remove"])
def test_name_that_the_catalogue_has_not_is_one_line(pressroom: Callable[..., Ran], command: str) -> None:
    ran = pressroom("models", command, "whisper-tiny.en", "whisper-tny")

    assert ran.code == 1
    assert ran.err == (
        "pressroom: The catalogue has no model 'whisper-tny'; `pressroom models list` shows those it has.\n"
    )


def test_model_that_can_not_be_had_keeps_no_other_from_coming(
    pressroom: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("PRESSROOM_MODELS__STALL_SECONDS", "1")

    ran = pressroom("models", "fetch", "whisper-small", "whisper-tiny.en")

    assert ran.code == 1
    assert ran.err.count("can't be downloaded from the hub") == 1
    assert ran.out.startswith("whisper-tiny.en\t/")


def test_folder_of_unknown_contents_is_no_sound_model(pressroom: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "models" / "qwen3-vl-2b").mkdir(parents=True)

    listed, verified = pressroom("models", "list", "vlm"), pressroom("models", "verify", "qwen3-vl-2b")

    assert "qwen3-vl-2b\there, can't be verified" in listed.out
    assert verified.code == 1
    assert "`pressroom models fetch qwen3-vl-2b` downloads it again" in verified.err


def test_remove_deletes_what_an_unfinished_download_left(pressroom: Callable[..., Ran], tmp_path: Path) -> None:
    left = tmp_path / "models" / ".partial" / "whisper-small"
    left.mkdir(parents=True)

    assert pressroom("models", "remove", "whisper-small").out == "whisper-small\tremoved\n"
    assert not left.exists()


def test_verify_reads_what_is_here_and_names_what_is_damaged(pressroom: Callable[..., Ran], tmp_path: Path) -> None:
    sound = pressroom("models", "verify", "whisper-tiny.en", "kokoro-82m-japanese")
    assert sound.code == 0
    assert sound.out.splitlines() == [
        "whisper-tiny.en\tas it should be (4 files)",
        "kokoro-82m-japanese\tas it should be (2 files)",
    ]

    weights = tmp_path / "models" / "kokoro-82m-japanese" / "kokoro.onnx"
    with weights.open("r+b") as opened:
        opened.seek(1_000)
        opened.write(b"damaged")
    damaged = pressroom("models", "verify", "kokoro-82m-japanese")

    assert damaged.code == 1
    assert "The model kokoro-82m-japanese is damaged or altered" in damaged.err


def test_remove_deletes_from_the_folder_and_not_from_a_package(pressroom: Callable[..., Ran], tmp_path: Path) -> None:
    pressroom("models", "verify", "kokoro-82m-japanese")

    ran = pressroom("models", "remove", "kokoro-82m-japanese", "whisper-tiny.en", "whisper-small")

    assert ran.out == ""
    assert ran.err.splitlines() == [
        "kokoro-82m-japanese comes with a package; pip uninstall removes it.",
        "whisper-tiny.en comes with a package; pip uninstall removes it.",
        "whisper-small is not here.",
    ]
    assert not (tmp_path / "models" / "kokoro-82m-japanese").exists()


def test_doctor_says_which_command_brings_what_this_machine_would_run(
    pressroom: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "models fetch whisper-base" not in pressroom("doctor").out
    monkeypatch.setenv("PRESSROOM_MODELS__DOWNLOAD", "ask")

    ran = pressroom("doctor")

    assert ran.code == 0
    assert "synthesis: models" in ran.out
    assert "`pressroom models fetch " in ran.out
