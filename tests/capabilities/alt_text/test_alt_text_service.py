"""Alt text, as its users have it: a whole system, real HTTP, and pictures on a server of their own."""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from drawn_pictures import author_says
from PIL import Image, ImageDraw, ImageFont
from systems import Running
from typer.testing import CliRunner
from web_server import WebServer, web_server

from scripts.main import create_app

pytestmark = pytest.mark.system

#: Described by its author, so that no picture of these has to be read.
TOLD = "Two herons stand in a shallow lake at dawn"


def picture(colour: str, *, told: str | None = TOLD, text: str | None = None) -> bytes:
    image = Image.new("RGB", (480, 160), colour)
    if text:
        ImageDraw.Draw(image).text((30, 50), text, "white", font=ImageFont.load_default(48))
    file = io.BytesIO()
    image.save(file, "JPEG", quality=90, **({"xmp": author_says(told)} if told else {}))
    return file.getvalue()


@pytest.fixture(scope="module")
def pictures() -> Iterator[WebServer]:
    """A web server with pictures."""
    with web_server() as server:
        server.serve("/banner.jpg", picture("#14325a", told=None, text="SUMMER SALE"), "image/jpeg")
        for number in range(40):
            server.serve(f"/told-{number}.jpg", picture(f"#10{number:02}60"), "image/jpeg")
        server.serve("/slow", picture("#104060"), "image/jpeg")
        yield server


@pytest.fixture(scope="module")
def service(shared_system: Running) -> Running:
    return replace(shared_system, credits=200)


def left(service: Running) -> int:
    return int(service.ask("/usage").json["credits_remaining"])


def test_a_banner_is_described_by_its_words_in_three_lengths(service: Running, pictures: WebServer) -> None:
    before = left(service)

    answers = {
        mode: service.ask("/generate", {"image_url": pictures.url("/banner.jpg"), "mode": mode})
        for mode in ("short", "long", "seo")
    }

    for mode, most in (("short", 125), ("long", 500), ("seo", 160)):
        answer = answers[mode].json
        assert answers[mode].status == 200, answer
        assert "SUMMER SALE" in answer["alt_text"].upper()
        assert len(answer["alt_text"]) <= most
        assert 0 < answer["confidence"] <= 1
        assert (answer["credits_used"], answer["language"], answer["engine"]) == (1, "en", "basic")
    assert len(answers["long"].json["alt_text"]) > len(answers["short"].json["alt_text"])
    assert answers["short"].headers["X-Engine"] == "basic"
    assert left(service) == before - 3


def test_servers_that_are_slow_keep_no_other_picture_waiting(service: Running, pictures: WebServer) -> None:
    pictures.held.add("/slow")
    slow = [
        service.ask("/generate", {"image_url": pictures.url(f"/slow?{number}")}, Prefer="respond-async").json["id"]
        for number in range(4)  # more than a process has slots
    ]

    quick = service.ask("/generate", {"image_url": pictures.url("/told-31.jpg")})
    states = [service.ask(f"/jobs/{job}").json["state"] for job in slow]
    pictures.held.remove("/slow")

    assert (quick.status, quick.json["alt_text"]) == (200, TOLD)
    assert set(states) <= {"queued", "running"}
    for job in slow:
        service.wait_for_state(job, "succeeded")
        assert service.ask(f"/jobs/{job}/result").json["alt_text"] == TOLD


def run(service: Running, *arguments: str) -> Result:
    """Run a command in this process, which saves its start."""
    environment = {"PRESSROOM_API_KEY": service.key, "PRESSROOM_DATA": str(service.data)}
    return CliRunner().invoke(create_app(), arguments, env=environment)


def test_describe_prints_a_text_a_picture(service: Running, pictures: WebServer, tmp_path: Path) -> None:
    good, bad = pictures.url("/told-5.jpg"), pictures.url("/missing.jpg")

    one = run(service, "describe", good)
    both = run(service, "describe", good, bad, "--mode", "all", "--json")

    assert (one.exit_code, one.stdout.strip()) == (0, TOLD), one.stderr
    (tmp_path / "told.jpg").write_bytes(picture("#100560"))
    (tmp_path / "noise.jpg").write_bytes(b"no picture")
    (tmp_path / "plain.jpg").write_bytes(picture("#14325a", told=None))
    names = ("gone.jpg", "noise.jpg", "told.jpg", "plain.jpg")
    files = run(service, "describe", *(str(tmp_path / name) for name in names))
    told, plain = f"{tmp_path / 'told.jpg'}\t{TOLD}", f"{tmp_path / 'plain.jpg'}\tPlain area in dark blue (draft)"
    assert (files.exit_code, files.stdout) == (1, f"{told}\n{plain}\n"), files.stderr
    for said in ("gone.jpg: there is no such file", "noise.jpg", "pressroom models fetch"):
        assert said in files.stderr
    assert run(service, "describe", str(tmp_path / "told.jpg"), "--mode", "all").stdout.count(TOLD) == 3
    assert both.exit_code == 1
    lines = [json.loads(line) for line in both.stdout.splitlines()]
    assert [(line["image_url"], line["alt_text"]) for line in lines] == [(good, TOLD), (bad, None)]
    assert lines[0]["long_alt_text"]
    assert "image_unreachable" not in one.stderr
    assert bad in both.stderr
    used = run(service, "usage")
    assert "credits left: " in used.stdout, used.stderr
    assert re.search(r"^/generate\t[1-9]\d*\t[1-9]", used.stdout, re.MULTILINE), used.stdout


def test_a_row_of_a_sheet_may_say_its_mode_and_language(service: Running, pictures: WebServer, tmp_path: Path) -> None:
    url = pictures.url("/told-20.jpg")
    sheet = tmp_path / "pictures.csv"
    sheet.write_text(f"Photo,Mode,language\n{url},long,\n{url},,es\n{url},,\n{url},loud,\n")

    done = run(service, "import-csv", "alt-text", str(sheet), "--language", "en")

    assert done.exit_code == 0, done.stderr
    assert "rows: 3, 1 faulty" in done.stderr
    assert "column: Photo;" in done.stderr
    with (tmp_path / "pictures.results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [bool(row["long_alt_text"]) for row in rows] == [True, False, False]
    assert [row["pressroom_language"] for row in rows] == ["en", "es", "en"]
    assert "mode" in (tmp_path / "pictures.errors.csv").read_text().splitlines()[1]


def test_a_sheet_of_pictures_is_charged_once_however_often_it_is_sent_and_a_url_once_too(
    service: Running, pictures: WebServer, tmp_path: Path
) -> None:
    before = left(service)
    urls = [pictures.url(f"/told-{number}.jpg") for number in (7, 8, 9, 7, 10)] + [pictures.url("/missing.jpg")]
    sheet, out = tmp_path / "pictures.csv", tmp_path / "pictures.results.csv"
    with sheet.open("w", newline="") as file:
        csv.writer(file).writerows(
            [["name", "image_url"], *[[f"p{n}", url] for n, url in enumerate(urls)], ["", "ftp://x"]]
        )

    for _ in range(2):
        done = run(service, "import-csv", "alt-text", str(sheet), "--batch", "2", "--language", "en")
        assert done.exit_code == 0, done.stderr
        assert "rows: 6, 1 faulty" in done.stderr
        assert "credits: 5" in done.stderr
        assert left(service) == before - 4

    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["image_url"] for row in rows] == urls
    assert [row["alt_text"] for row in rows] == [TOLD] * 5 + [""]
    assert [row["code"] for row in rows] == [""] * 5 + ["image_unreachable"]
    assert {row["draft"] for row in rows} == {""}
    assert [row["line"] for row in rows] == ["2", "3", "4", "5", "6", "7"]
    assert (tmp_path / "pictures.errors.csv").read_text().count("\n") == 2
    assert not (tmp_path / "pictures.results.csv.journal").exists()
