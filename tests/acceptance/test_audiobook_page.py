"""An audiobook in the dashboard, in Chromium: planned, begun, heard, changed and saved."""

import re

import pytest
from chromium import NARROW, Reader, faults, sideways
from playwright.sync_api import expect

pytestmark = pytest.mark.system

BOOK = (
    "# The Lamp\n\n## Night\n\nIt was dark. The lamp went out.\n\n| a |\n|---|\n| 1 |\n\n## Day\n\nThen it was light.\n"
)
IS_PLAYING = "(audio) => audio.currentTime > 0.1"


def test_a_book_is_planned_heard_changed_and_saved(owner: Reader) -> None:
    page = owner.open("/dashboard/try/audiobooks")
    manuscript = {"name": "lamp.markdown", "mimeType": "text/markdown", "buffer": BOOK.encode()}
    page.get_by_label("Manuscript", exact=True).set_input_files([manuscript])
    page.get_by_role("button", name="Show the plan").click()
    plan = page.get_by_role("form", name="Audiobook")
    expect(plan).to_contain_text("Left out: 1 tables.")
    plan.get_by_role("checkbox", name=re.compile("The Lamp")).uncheck()
    expect(plan.locator("[data-sum]")).to_contain_text("1 credit")
    plan.get_by_role("radio", name=re.compile("Heart")).check()
    plan.get_by_text("Speed and other voices").click()
    plan.get_by_label("Speed").fill("1.2")
    plan.get_by_label("Voices by speaker").fill("Emma = en-GB-female\n")
    plan.get_by_role("checkbox", name=re.compile("The cast speaks")).check()
    assert faults(page) == []
    owner.picture("audiobook-plan", above="form[aria-label=Audiobook]")
    plan.get_by_role("button", name="Make the audiobook").click()

    expect(page.get_by_role("heading", name="The Lamp")).to_be_visible()
    expect(page.get_by_text("2 of 2 passages")).to_be_visible()
    page.get_by_role("button", name="Listen to and edit Night").click()
    player = page.locator("#chapter audio")
    expect(player).to_have_js_property("paused", False)
    page.wait_for_function(IS_PLAYING, arg=player.element_handle())
    assert faults(page) == []
    owner.picture("audiobook")
    page.get_by_role("button", name="Edit passage 1").click()
    page.get_by_role("textbox", name="Text of passage 1").fill("Night\n\nIt was very dark.")
    before = page.url
    page.get_by_role("button", name="Speak it again").click()
    page.wait_for_url(lambda url: url.split("#")[0] != before.split("#")[0])

    expect(page.locator("#chapter")).to_contain_text("It was very dark.")
    expect(page.get_by_text("2 of 2 passages")).to_be_visible()
    expect(page.get_by_text("1 credit used")).to_be_visible()
    page.get_by_label("File", exact=True).select_option("mp3")
    page.get_by_role("button", name="Make the file").click()
    link = page.get_by_role("link", name="Download The Lamp.zip")
    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename == "The Lamp.zip"
    page.set_viewport_size({"width": NARROW, "height": 800})
    assert sideways(page) <= 0
    page = owner.open("/dashboard/try/audiobooks")
    expect(page.locator("[data-books]").get_by_role("link", name="The Lamp")).to_have_count(2)
