"""Many pictures, recordings and posts at once in the dashboard, and how they are found again, in Chromium."""

import base64
import csv
import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from chromium import HEIGHT, MIDDLE, NARROW, WIDE, Reader, faults, reader, sideways
from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Locator, Page, Route, expect
from python_calamine import CalamineWorkbook
from systems import Running
from test_dashboard_in_a_browser import DROP, IS_PLAYING, RECORDING

from pipeline.database import Database
from pipeline.operations.pauses import pause, resume

pytestmark = pytest.mark.system

#: Drops 500 pictures, each another, and notes the longest task of the page's thread from then on.
DROP_MANY = """async (box) => {
  const many = new DataTransfer();
  for (let place = 0; place < 500; place++) {
    const canvas = new OffscreenCanvas(64, 48);
    canvas.getContext('2d').fillRect(place % 60, place % 40, 5, 5);
    many.items.add(new File([await canvas.convertToBlob()], `photo-${place}.png`, {type: 'image/png'}));
  }
  window.longest = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((one) => {
    window.longest = Math.max(window.longest, one.duration);
  })).observe({type: 'longtask'});
  box.dispatchEvent(new DragEvent('drop', {dataTransfer: many, bubbles: true, cancelable: true}));
}"""
#: How long work takes that takes 10 ms on a quiet machine of 2024, in milliseconds.
CALIBRATE = """() => {
  const times = [1, 2, 3].map(() => {
    const began = performance.now();
    let sum = 0;
    for (let step = 0; step < 1e7; step++) sum = (sum + step * step) % 1000003;
    return performance.now() - began + (sum < 0 ? 1 : 0);
  });
  return Math.max(...times);
}"""
QUIET_MILLISECONDS = 40


@pytest.fixture(scope="module")
def service(dashboard: Running) -> Running:
    return dashboard


def picture(colour: str) -> bytes:
    file = io.BytesIO()
    image = Image.new("RGB", (320, 240), colour)
    ImageDraw.Draw(image).ellipse((60, 40, 240, 200), fill="white")
    image.save(file, "JPEG")
    return file.getvalue()


def chosen(*colours: str) -> list[dict[str, object]]:
    return [{"name": f"{one}.jpg", "mimeType": "image/jpeg", "buffer": picture(one)} for one in colours]


def describe(page: Page, *colours: str) -> Locator:
    """Choose pictures, have them described by keyboard, and return their rows."""
    page.get_by_label("Picture", exact=True).set_input_files(chosen(*colours))
    button = page.get_by_role("button", name=f"Describe {len(colours)} pictures")
    expect(page.locator("[data-price]")).to_contain_text(f"{len(colours)} credits; you have ")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"{len(colours)} of {len(colours)} pictures done")).to_be_visible()
    return page.locator(".bulk-row")


def saved(page: Page, form: str) -> bytes:
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile(f"^Download .* as {form}$")).click()
    return Path(download.value.path()).read_bytes()


def test_many_pictures_are_one_job_corrected_in_place_and_saved_under_their_names(owner: Reader) -> None:
    page = owner.open("/dashboard/try/alt-text")
    rows = describe(page, "red", "green", "blue")
    texts = rows.first.get_by_role("textbox")
    expect(texts).to_have_count(3)
    texts.first.fill("=A red poster with a white circle")
    page.keyboard.press("Control+Enter")
    expect(rows.first).to_contain_text("accepted")
    expect(rows.nth(1).get_by_role("textbox").first).to_be_focused()
    page.get_by_role("button", name="Accept all").click()
    owner.picture("many-at-once")

    table = list(csv.DictReader(io.StringIO(saved(page, "CSV").decode("utf-8-sig"))))
    assert [row["name"] for row in table] == ["red.jpg", "green.jpg", "blue.jpg"]
    assert table[0]["short_alt_text"] == "'=A red poster with a white circle"
    assert all(row["long_alt_text"] for row in table)
    book = CalamineWorkbook.from_filelike(io.BytesIO(saved(page, "Excel"))).get_sheet_by_index(0).to_python()
    assert [row[0] for row in book] == ["name", "red.jpg", "green.jpg", "blue.jpg"]
    with zipfile.ZipFile(io.BytesIO(saved(page, "ZIP"))) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["alt-texts.csv", "red.txt", "green.txt", "blue.txt"]

    page.reload()
    expect(page.locator(".bulk-row").first.get_by_role("textbox").first).to_have_value(
        "=A red poster with a white circle"
    )
    page = owner.open("/dashboard/jobs")
    name = page.get_by_role("link", name="red.jpg and 2 more")
    expect(page.locator("tr", has=name).locator("img")).to_have_count(1)
    name.click()
    expect(page.locator(".bulk-row")).to_have_count(3)
    expect(page.locator(".bulk-row img").first).to_be_visible()
    expect(page.locator(".bulk-row").first).to_contain_text("accepted")


def test_a_list_is_checked_by_row_before_anything_is_sent(service: Running, owner: Reader) -> None:
    text = "sku;photo;product\nA1;http://127.0.0.1:9/a.jpg;Oak chair\nA2;no address;Table\nA3;;Lamp\n"
    page = owner.open("/dashboard/try/alt-text")
    listed = {"name": "products.csv", "mimeType": "text/csv", "buffer": text.encode()}
    page.get_by_label("Picture", exact=True).set_input_files(listed)
    expect(page.get_by_label("Address of the picture")).to_have_value("1")
    expect(page.get_by_label("Title of its page")).to_have_value("2")
    page.route("**/check", lambda route: route.abort(), times=1)
    page.keyboard.press("Enter")  # the button has the focus
    expect(page.get_by_role("alert")).to_have_text("The service can't be reached. Try again.")
    owner.excuse("ERR_FAILED")
    page.get_by_role("button", name="Check the rows").click()

    rows = page.locator(".bulk-row")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("Line 3")
    expect(rows.nth(2)).to_contain_text("Line 4: Address of the picture: This field is required.")
    expect(page.locator("[data-price]")).to_contain_text("1 credit; you have ")
    page.get_by_role("button", name="Describe 1 picture").click()
    expect(rows.first).to_contain_text("failed")  # nobody answers there, and nothing is charged
    expect(page.get_by_text("1 failed, 2 left out")).to_be_visible()


def test_a_pause_ends_what_is_not_done_and_going_on_does_the_rest(service: Running, owner: Reader) -> None:
    colours = [f"#{place:02}4488" for place in range(0, 96, 16)]
    page = owner.open("/dashboard/try/alt-text")
    page.get_by_label("Picture", exact=True).set_input_files(chosen(*colours))
    with Database(service.database_url) as database:
        database.run(pause("queue", "vision"))  # or all might be done before somebody pauses
        page.get_by_role("button", name="Describe 6 pictures").click()
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name=re.compile(r"^(Continue with|Describe) \d+ pictures?$")).click()
        database.run(resume("queue", "vision"))
    expect(page.get_by_text("6 of 6 pictures done.")).to_be_visible()
    assert "failed" not in page.locator(".bulk-told").inner_text()


def test_a_table_outlasts_a_restart_and_cancels_what_is_being_sent(owner: Reader) -> None:
    page = owner.open("/dashboard/try/alt-text")
    page.route("**/jobs?request_id=*", lambda route: route.abort(), times=1)
    describe(page, "red", "green")
    owner.excuse("ERR_FAILED")

    held: list[Route] = []
    owner.open("/dashboard/try/alt-text").route("**/batch", lambda route: held.append(route))
    page.get_by_label("Picture", exact=True).set_input_files(chosen("red", "green"))
    page.get_by_role("button", name="Describe 2 pictures").click()
    expect(page.locator(".bulk-row").first).to_contain_text("sending")
    page.get_by_role("button", name="Cancel").click()
    with page.expect_response("**/cancel") as cancelled:
        held[0].continue_()
    assert cancelled.value.ok


def test_a_recording_is_found_again_corrected_kept_and_saved_as_subtitles(owner: Reader) -> None:
    page = owner.open("/dashboard/try/transcript")
    page.get_by_label("Recording", exact=True).set_input_files([RECORDING, RECORDING])
    page.get_by_role("button", name="Transcribe 2 recordings").click()
    expect(page.get_by_text("2 of 2 recordings done.")).to_be_visible()
    with zipfile.ZipFile(io.BytesIO(saved(page, "ZIP"))) as archive:
        assert {"library.srt", "library.vtt", "library.txt", "library.docx"} < set(archive.namelist())

    page.keyboard.press("Control+k")
    page.keyboard.type("library")
    expect(page.get_by_role("option", name=re.compile("library.flac"))).not_to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Transcript: library.flac")).to_be_visible()
    audio = page.locator("[data-job-result] audio")
    audio.evaluate("(audio) => audio.play()")
    page.wait_for_function(IS_PLAYING, arg=audio.element_handle())
    page.get_by_role("button", name="Correct the text").click()
    page.get_by_label("Line 1").fill("The library opens at nine.")
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.get_by_text("You keep this until you delete it.")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as SRT").click()
    assert download.value.suggested_filename == "library.srt"
    assert Path(download.value.path()).read_text().startswith("1\n00:00:00,")
    assert "The library opens at nine." in Path(download.value.path()).read_text()


def test_posts_of_files_become_cards_and_one_alone_fills_the_form(owner: Reader) -> None:
    posts: list[Any] = [
        {
            "name": "a.markdown",
            "mimeType": "text/markdown",
            "buffer": b"# Growing tomatoes\n\nTomatoes need sun and water.",
        },
        {"name": "b.txt", "mimeType": "text/plain", "buffer": b"Bread for beginners\n\nFlour, water, salt and time."},
    ]
    page = owner.open("/dashboard/try/blog")
    content = base64.b64encode(posts[0]["buffer"]).decode()
    page.locator(".drop").evaluate(DROP, ["text/markdown", content, "a.markdown"])
    expect(page.get_by_role("textbox", name="Title")).to_have_value("Growing tomatoes")
    expect(page.locator("[data-chosen]")).to_have_text("a.markdown")
    page.get_by_label("Posts").set_input_files(posts)
    page.get_by_role("button", name="Create cards for 2 posts").click()
    expect(page.get_by_text("2 of 2 posts done.")).to_be_visible()
    with zipfile.ZipFile(io.BytesIO(saved(page, "ZIP"))) as archive:
        assert "Growing tomatoes 1.jpg" in archive.namelist()
    page.get_by_role("link", name="Bread for beginners").click()
    expect(page.locator("[data-job-result] .post .cover")).to_be_visible()


def test_texts_of_files_and_of_a_list_become_mp3s_under_their_names(owner: Reader) -> None:
    page = owner.open("/dashboard/try/speech")
    box = page.get_by_label("Many texts")
    box.set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": b"Good evening."})
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("Good evening.")
    texts = [
        {"name": f"{name}.md", "mimeType": "text/markdown", "buffer": text}
        for name, text in (("hello", b"Good morning! Here is the news of the town."), ("empty", b" "))
    ]
    box.set_input_files(texts)
    expect(page.locator(".bulk-row").nth(1)).to_contain_text("This file is empty.")
    listed = b"sku,script\nA1,Welcome to our shop.\nA2,\n"
    box.set_input_files({"name": "shop.csv", "mimeType": "text/csv", "buffer": listed})
    expect(page.get_by_label("Name of the MP3")).to_have_value("0")
    page.get_by_role("button", name="Check the rows").click()
    expect(page.locator(".bulk-row")).to_have_count(4)
    expect(page.locator("[data-price]")).to_contain_text("2 credits; you have ")
    page.get_by_role("button", name="Speak 2 texts").click()

    expect(page.get_by_text("2 of 2 texts done, 2 left out.")).to_be_visible()
    button = page.get_by_role("button", name="Play hello")
    button.click()
    expect(button.locator("use")).to_have_attribute("href", re.compile("square"))
    with zipfile.ZipFile(io.BytesIO(saved(page, "ZIP"))) as archive:
        assert archive.namelist() == ["speech.csv", "hello.mp3", "A1.mp3"]
        assert len(archive.read("A1.mp3")) > 1_000


def test_five_hundred_pictures_leave_the_page_at_hand(owner: Reader) -> None:
    page = owner.open("/dashboard/try/alt-text")
    box = page.locator(".drop")
    slowness = max(1.0, float(page.evaluate(CALIBRATE)) / QUIET_MILLISECONDS)
    box.evaluate(DROP_MANY)
    expect(page.get_by_role("button", name="Describe 500 pictures")).to_be_visible()
    expect(page.locator(".bulk-row img")).to_have_count(500)
    assert page.evaluate("window.longest") <= 100 * slowness


def test_tables_search_and_jobs_fit_and_axe_finds_nothing(service: Running, browser: Browser, state: object) -> None:
    found: list[str] = []

    def look(page: Page) -> None:
        for width in (NARROW, MIDDLE, WIDE):
            page.set_viewport_size({"width": width, "height": HEIGHT})
            if (over := sideways(page)) > 0:
                found.append(f"sideways by {over} at {width}")
        found.extend(faults(page))

    with reader(browser, service.address, storage_state=state, scheme="dark") as window:
        page = window.open("/dashboard/try/alt-text")
        page.locator(".drop").evaluate(
            DROP, ["image/jpeg", base64.b64encode(picture("teal")).decode(), "a" * 60 + ".jpg", "teal.jpg"]
        )
        page.get_by_role("button", name="Describe 2 pictures").click()
        expect(page.get_by_text("2 of 2 pictures done")).to_be_visible()
        look(page)
        page.locator(".bulk-name a").first.click()
        expect(page.locator(".bulk-row textarea").first).to_be_visible()
        look(page)
        page.locator("body").press("/")
        expect(page.get_by_role("option", name=re.compile("Alt text"))).not_to_have_count(0)
        look(page)
    assert found == []
