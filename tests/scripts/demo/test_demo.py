"""The demo's way out."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from capabilities.alt_text.demo import SHOWN
from capabilities.alt_text.kinds.batch import AltTextBatch
from capabilities.alt_text.kinds.fields import EXAMPLE_URL
from scripts.demo import __main__ as demo
from scripts.demo.picture import served_pictures
from scripts.demo.steps import Answered
from scripts.demo.table import Shown, show
from scripts.system.control import System

SYSTEM = System(1, "http://127.0.0.1:9", "postgresql://nowhere", "redis://nowhere")


def run(monkeypatch: Any, tmp_path: Path) -> int | str | None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRESSROOM_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(sys, "argv", ["demo"])
    with pytest.raises(SystemExit) as ended:
        demo.main()
    return ended.value.code


def test_ctrl_c_while_it_asks_ends_it_without_a_traceback(monkeypatch: Any, tmp_path: Path) -> None:
    @contextmanager
    def running_system(*_: object, **__: object) -> Iterator[tuple[System, None]]:
        yield SYSTEM, None

    async def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "running_system", running_system)
    monkeypatch.setattr(demo, "ask_for_everything", interrupted)

    assert run(monkeypatch, tmp_path) == 130


def test_ctrl_c_while_it_serves_is_how_it_ends(monkeypatch: Any, tmp_path: Path) -> None:
    class Process(subprocess.Popen[bytes]):
        def wait(self, timeout: float | None = None) -> int:
            raise KeyboardInterrupt

    @contextmanager
    def running_system(*_: object, **__: object) -> Iterator[tuple[System, Process]]:
        yield SYSTEM, Process.__new__(Process)

    async def nothing(*_: object, **__: object) -> list[Shown]:
        return []

    monkeypatch.setattr(demo, "running_system", running_system)
    monkeypatch.setattr(demo, "ask_for_everything", nothing)

    assert run(monkeypatch, tmp_path) == 0


def test_the_demo_s_picture_takes_the_place_of_the_documents_one_while_it_is_served() -> None:
    with served_pictures() as picture:
        example = picture.in_place(AltTextBatch.example)
        assert EXAMPLE_URL not in str(example)
        names = [picture.url_of("banner.png"), picture.url_of("coffee.jpg")]
        assert [image["image_url"] for image in example["images"]] == names
        with urlopen(picture.url_of("banner.png"), timeout=60) as answer:
            assert (answer.headers["Content-Type"], answer.read()[:8]) == ("image/png", b"\x89PNG\r\n\x1a\n")
        with pytest.raises(HTTPError, match="404") as refused:
            urlopen(picture.url_of("../demo.png"), timeout=60)
        refused.value.close()
        assert picture.network == f"{picture.host}/32"


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ({"alt_text": "A banner."}, "A banner."),
        ({"results": [{"alt_text": "A banner."}, {"alt_text": "Un banner."}]}, "A banner. / Un banner."),
        ({"results": [{"alt_text": None, "code": "image_unreachable"}]}, None),
        ({"excerpt": "News."}, None),
    ],
)
def test_the_demo_shows_what_a_picture_was_called(answer: Any, shown: str | None, tmp_path: Path) -> None:
    answered = Answered(cast(Any, None), cast(Any, None), answer, tmp_path, False)
    assert asyncio.run(SHOWN[AltTextBatch.name](answered)) == shown


def test_the_table_cuts_no_route_and_no_engine_at_80_columns(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows = [Shown("/tts/with-music", 200, 1.0, "extractive+drawn", "3", "out/speech_with_music.mp3 (69,589 bytes)")]

    show(rows, SYSTEM)

    lines = capsys.readouterr().out.splitlines()
    assert any("/tts/with-music" in line and "extractive+drawn" in line for line in lines)
    assert max(map(len, lines)) <= 80
