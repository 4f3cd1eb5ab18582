"""The dashboard as its readers have it: a whole system, and Chromium.

`PRESSROOM_TESTS_PICTURES=docs/pictures/dashboard` takes the pictures of docs/dashboard.md anew."""

import base64
import re
from collections.abc import Callable
from datetime import timedelta
from itertools import cycle
from pathlib import Path

import pytest
from chromium import (
    HEIGHT,
    MIDDLE,
    NARROW,
    WIDE,
    Reader,
    broken_words,
    faults,
    reader,
    sideways,
    unreachable,
    unseen,
)
from playwright.sync_api import Browser, Page, expect
from search_engine import SearchEngine
from systems import Running

from pipeline.accounts.accounts import open_account
from pipeline.accounts.sessions import make_token
from pipeline.accounts.sign_in import add_link, set_operator
from pipeline.database import Database

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
COVER = ROOT / "docs/pictures/cover-01-illustration.jpg"
RECORDING = ROOT / "tests/recordings/library.flac"
POST = (
    "A balcony with six hours of sun is enough for three or four tomato plants. Choose compact varieties, because tall"
    " vines need stakes and a lot of water. Cherry tomatoes ripen first and forgive most mistakes."
)
#: A page that is not there.
NOWHERE = "/dashboard/nowhere"
#: Pages through which the Tab key goes in earnest: the frame of all, and those whose scripts hear keys.
BY_TAB = ("/dashboard", "/dashboard/jobs", "/dashboard/try/speech", "/dashboard/try/transcript", "/dashboard/keys")
#: Most bytes of the first page as sent, with style, scripts and pictures.
MOST_FIRST_PAGE_BYTES = 200_000
#: Would run where it is not shown as text; as long as a name may be.
HOSTILE = "\"'><img src=x onerror='top.ran=1'><script>top.ran=1</script>{{7*7}}"
#: Puts files where a mouse has let them fall.
DROP = """(box, [type, content, ...names]) => {
  const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  for (const name of names) dataTransfer.items.add(new File([bytes], name, {type}));
  const how = {dataTransfer, bubbles: true, cancelable: true};
  for (const kind of ['dragover', 'drop']) box.dispatchEvent(new DragEvent(kind, how));
}"""
#: The labels of tables that are wider than their place.
CUT_OFF = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)"
#: Lets a stream answer with so many megabytes of its sound, and then break off, if it should.
LONG_STREAM = """([megabytes, breaks]) => {
  const real = window.fetch;
  window.fetch = async (path, options) => {
    const answer = await real(path, options);
    if (path !== '/tts/stream') return answer;
    const sound = new Uint8Array(await answer.arrayBuffer());
    let rest = Math.ceil(megabytes * 1e6 / sound.length);
    const body = new ReadableStream({pull(to) {
      if (rest-- > 0) to.enqueue(sound.slice());
      else if (breaks) to.error(new TypeError('network error'));
      else to.close();
    }});
    return new Response(body, {headers: answer.headers});
  };
}"""
IS_PLAYING = "(audio) => audio.currentTime > 0.1 && audio.duration > 1"


@pytest.fixture(scope="module")
def engine(dashboard_engine: SearchEngine) -> SearchEngine:
    return dashboard_engine


@pytest.fixture(scope="module")
def service(dashboard: Running) -> Running:
    return dashboard


def test_a_key_works_until_it_is_deleted(service: Running, owner: Reader) -> None:
    page = owner.open("/dashboard/keys")
    page.get_by_role("textbox", name="Name").fill("Newsletter")
    page.get_by_label("Credits a month").fill("500")
    page.get_by_label("/made-up").check()
    page.get_by_role("button", name="Create key").click()
    secret = page.locator("#made pre").first.inner_text()
    owner.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the key").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == secret

    assert service.ask("/made-up", {"count": 3}, X_API_Key=secret).status == 200
    assert service.ask("/tts", {"text": "Not with this key."}, X_API_Key=secret).status == 403
    row = owner.open("/dashboard/keys").get_by_role("row", name="Newsletter")
    expect(row).to_contain_text("3 of 500")
    owner.picture("keys")
    row.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("row", name="Newsletter")).to_have_count(0)
    assert service.ask("/made-up", {"count": 1}, X_API_Key=secret).status == 401


def test_speech_is_heard(service: Running, owner: Reader) -> None:
    page = owner.open("/dashboard/try/speech")
    page.get_by_role("button", name="Listen to Heart").click()
    expect(page.get_by_role("button", name="Listen to Heart")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("radio", name="Heart").check()
    page.get_by_role("textbox", name="Text").fill("Good morning! Here is the news of the town.")
    page.get_by_text("Use it from a program").click()
    expect(page.get_by_role("tabpanel")).to_contain_text('"voice_name": "en-US-Heart"')
    page.get_by_role("tab", name="Python").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("from pressroom import Pressroom")

    # A restart of the service breaks off what follows the job.
    page.route("**/jobs/*/events", lambda route: route.fulfill(status=503))
    page.route(re.compile("/jobs/[0-9a-f-]{36}$"), lambda route: route.fulfill(status=503), times=1)
    page.get_by_role("button", name="Speak", exact=True).dblclick()
    audio = page.locator("[data-result] audio")
    audio.evaluate("(audio) => audio.play()")
    page.wait_for_function(IS_PLAYING, arg=audio.element_handle())
    owner.picture("speech", above="h1")
    owner.excuse("503")
    assert len(service.ask("/jobs?kind=speech&q=Here%20is").json) == 1


def test_a_text_is_read_by_a_voice_of_its_language(owner: Reader) -> None:
    page = owner.open("/dashboard/try/speech")
    page.get_by_role("textbox", name="Text").fill("Guten Morgen! Hier sind die Nachrichten aus der Stadt.")
    page.get_by_role("combobox", name="Language").select_option(label="Detect from the text")
    page.get_by_text("Use it from a program").click()
    expect(page.get_by_role("tabpanel")).to_contain_text('"language": "auto"')
    page.get_by_role("button", name="Speak", exact=True).click()

    language = page.locator("[data-result] dt", has_text="Language").locator("+ dd")
    expect(language).to_have_text(re.compile("^German"))
    assert "detected" in language.inner_text()


def test_natural_voices_come_first_and_each_is_called_by_words(owner: Reader) -> None:
    page = owner.open("/dashboard/try/speech")
    language = page.get_by_role("combobox", name="Language")
    language.select_option(label="English")
    expect(page.locator("[data-voices] > li")).to_contain_text(["Choose for me", "American English", "Heart"])
    robots = page.get_by_text(re.compile(r"Robotic voices \(\d+\)"))
    expect(page.get_by_role("radio", name="English (Scotland), female")).to_be_hidden()
    robots.click()
    expect(page.get_by_role("radio", name="English (Scotland), female")).to_be_visible()

    names = page.locator("[data-voices] label").all_inner_texts()
    assert len(names) == len(set(names)) > 10
    named = [*names, *language.locator("option").all_inner_texts()]
    assert [name for name in named if re.match(r"\s*[a-z]{2,3}(-|$)", name)] == []


def test_a_speaker_is_set_up_by_the_keyboard_alone(service: Running, owner: Reader) -> None:
    page = owner.open("/dashboard/try/speech")
    page.get_by_role("button", name="Favourite: Heart").press("Enter")
    page.get_by_role("slider", name="Speed").press("ArrowRight")
    page.get_by_text("Pronunciation", exact=True).press("Enter")
    page.get_by_label("Word", exact=True).fill("Siobhan")
    page.get_by_label("Sounds like").fill("Shivawn")
    page.get_by_role("button", name="Save words").press("Enter")
    expect(page.get_by_text("One word is saved.")).to_be_visible()
    text = page.get_by_role("textbox", name="Text")
    text.fill("x" * 10_001)
    expect(page.get_by_text("10,001 of 10,000 characters. Choose “A long sound file”.")).to_be_visible()
    text.fill("Siobhan speaks.")
    page.get_by_role("button", name="Insert a pause of 1 s").press("Enter")
    expect(text).to_have_value("Siobhan speaks.[pause 1s] ")
    text.press("Control+Enter")

    expect(page.locator("[data-result] audio")).to_be_visible()
    asked = service.ask("/jobs?kind=speech&limit=1", X_API_Key=(service.data / "first-key").read_text().strip()).json[0]
    assert service.ask(f"/jobs/{asked['id']}").json["credits"]["captured"] == 1
    expect(owner.open("/dashboard/try/speech").locator("[data-voices] > li")).to_contain_text(
        ["Choose", "Favourites", "Heart"]
    )


@pytest.mark.parametrize(("megabytes", "breaks"), [(16, False), (1, True)])
def test_a_stream_of_any_length_is_heard_and_what_came_of_it_can_be_saved(
    owner: Reader, megabytes: int, breaks: bool
) -> None:
    """Browsers buffer about 12 MB of a stream."""
    page = owner.open("/dashboard/try/speech")
    page.get_by_role("radio", name="Listen at once").check()
    page.get_by_role("textbox", name="Text").fill("Good morning! Here is the news of the town. " * 20)
    page.evaluate(LONG_STREAM, [megabytes, breaks])
    page.get_by_role("button", name="Speak", exact=True).click()

    audio = page.locator("[data-result] audio")
    expect(audio).to_be_visible()
    expect(page.locator("[data-status]")).to_contain_text("broke off" if breaks else "Done")
    audio.evaluate("(audio) => audio.play()")
    page.wait_for_function(IS_PLAYING, arg=audio.element_handle())
    with page.expect_download() as download:
        page.get_by_role("link", name="Download audio").click()
    assert Path(download.value.path()).stat().st_size >= megabytes * 1_000_000


def test_a_picture_that_is_dropped_has_its_alt_text_beside_it(owner: Reader) -> None:
    page = owner.open("/dashboard/try/alt-text")
    content = base64.b64encode(COVER.read_bytes()).decode()
    page.locator(".drop").evaluate(DROP, ["image/jpeg", content, "cover.jpg"])
    page.get_by_role("button", name="Describe").click()

    texts = page.locator("[data-result] blockquote")
    expect(texts).to_have_count(3)
    picture = page.locator("[data-result] img")
    assert picture.evaluate("(one) => one.naturalWidth") > 100
    assert picture.get_attribute("alt") == texts.first.inner_text() != ""
    beside, shown = texts.first.bounding_box(), picture.bounding_box()
    assert beside["x"] >= shown["x"] + shown["width"]
    owner.picture("alt-text")


def test_a_word_of_a_transcript_is_heard_when_it_is_chosen(owner: Reader) -> None:
    page = owner.open("/dashboard/try/transcript")
    page.get_by_label("Recording", exact=True).set_input_files(RECORDING)
    page.get_by_role("button", name="Transcribe").click()

    word = page.locator(".words .word").nth(8)
    word.click()
    expect(page.locator(".words [aria-current]")).not_to_have_count(0)
    audio = page.locator("[data-result] audio")
    start = float(word.get_attribute("data-start") or 0)
    page.wait_for_function("([audio, start]) => audio.currentTime > start", arg=[audio.element_handle(), start])
    owner.picture("transcript")


def test_a_post_gets_its_card(owner: Reader) -> None:
    page = owner.open("/dashboard/try/blog")
    page.get_by_role("textbox", name="Title").fill("Tomatoes on a balcony")
    page.get_by_role("textbox", name="Content").fill(POST)
    page.get_by_role("button", name="Create card").click()

    cover = page.locator(".post .cover")
    expect(cover).to_be_visible()
    page.wait_for_function("(one) => one.naturalWidth > 100", arg=cover.element_handle())
    expect(page.locator(".post .tags li")).not_to_have_count(0)
    owner.picture("blog")


def test_an_index_check_fills_in_while_it_runs(owner: Reader, engine: SearchEngine) -> None:
    page = owner.open("/dashboard/try/index-check")
    page.get_by_role("textbox", name="Addresses").fill("example.org\nexample.org/garden\nexample.org/nowhere")
    engine.is_held = True
    page.get_by_role("button", name="Check", exact=True).click()
    rows = page.locator("[data-result] tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text(re.compile("asking|waiting"))
    engine.is_held = False

    expect(rows.nth(1)).to_contain_text("listed")
    expect(rows.nth(2)).to_contain_text("not listed")
    expect(page.locator("[data-result]")).to_contain_text("3 of 3 answered")


def test_pages_are_watched_until_all_are_listed(owner: Reader, engine: SearchEngine) -> None:
    page = owner.open("/dashboard/indexing")
    page.get_by_role("link", name="Watch pages").first.press("Enter")
    page.get_by_role("textbox", name="Addresses").fill("https://example.org/\nhttps://example.org/late")
    page.get_by_role("textbox", name="Name").fill("Garden")
    page.get_by_role("checkbox", name="Stop once every page is listed").press("Space")
    page.get_by_role("textbox", name="Name").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("are being watched")
    why = page.get_by_role("row", name="https://example.org/late")
    expect(why).to_contain_text("The page could not be opened")
    expect(page.locator(".figure .number").first).to_have_text("1 of 2")

    page.get_by_text("Settings", exact=True).click()
    page.get_by_role("textbox", name="New list of addresses").fill("https://example.org/")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Resume").press("Enter")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(owner.open("/dashboard/indexing").get_by_role("row", name="Garden").first).to_contain_text("every week")
    owner.picture("watched")


def test_jobs_are_watched_live_and_several_are_changed_at_once(service: Running, owner: Reader) -> None:
    slow = {"items": [{"do": "sleep", "seconds": 0.5}] * 40}
    asked = [service.submit(slow) for _ in range(3)]

    page = owner.open(f"/dashboard/jobs/{asked[0]}")
    page.evaluate("window.unchanged = true")
    count = page.locator("#job .number").first
    expect(count).to_have_text(re.compile(r"[1-9]\d* of 40"))
    assert page.evaluate("window.unchanged")  # the page was not loaded again

    owner.open("/dashboard/jobs")
    for job_id in asked:
        page.locator(f'input[value="{job_id}"]').check()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("3")
    for job_id in asked:
        assert service.wait_for_state(job_id)["state"] == "cancelled"
    owner.open("/dashboard/jobs?state=cancelled").get_by_label("Select all on this page").check()
    page.get_by_role("button", name="Retry", exact=True).click()
    owner.open("/dashboard/jobs?state=queued,running")
    expect(page.get_by_role("checkbox", name="made up")).to_have_count(3)
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_text("No matching jobs")).to_be_visible()


def test_the_first_page_is_light(
    service: Running, browser: Browser, state: object, record_property: Callable[[str, object], None]
) -> None:
    with reader(browser, service.address, storage_state=state) as fresh:
        wire = fresh.context.new_cdp_session(fresh.page)
        wire.send("Network.enable")
        sizes: list[float] = []
        wire.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
        fresh.open("/dashboard").wait_for_load_state("networkidle")
        timing = "performance.getEntriesByType('navigation')[0]"
        record_property("first page, bytes", sum(sizes))
        record_property(
            "first page, milliseconds of the server",
            fresh.page.evaluate(f"{timing}.responseStart - {timing}.requestStart"),
        )

    assert len(sizes) >= 3  # the page, its style and its script
    assert sum(sizes) <= MOST_FIRST_PAGE_BYTES


@pytest.fixture(scope="module")
def paths(service: Running, browser: Browser, state: object) -> list[str]:
    """The pages that an operator can see, one of each kind, and that of an error; the last job went well."""
    assert service.ask("/tts", {"text": "Good morning."}).status == 200
    seen = ["/", "/docs", NOWHERE, "/dashboard/indexing/new", "/dashboard/indexing/sites"]
    with reader(browser, service.address, storage_state=state) as owner:
        seen += links(owner.open("/dashboard"), "nav.side a")
        for listed, link, most in (
            ("/dashboard/try", ".card", 20),
            ("/dashboard/jobs", "td a", 1),
            ("/dashboard/keys", "th a", 1),
            ("/dashboard/indexing", "th a", 1),
            ("/dashboard/operators/accounts", "th a", 1),
            ("/dashboard/operators/failures", "td a", 1),
        ):
            seen += links(owner.open(listed), link)[:most]
    return list(dict.fromkeys(seen))


def links(page: Page, found_by: str) -> list[str]:
    """Return where links of a page lead."""
    return [str(one.get_attribute("href")) for one in page.locator(found_by).all()]


def test_every_page_fits_by_day_and_by_night_is_used_by_keyboard_and_axe_finds_nothing(
    service: Running, browser: Browser, state: object, paths: list[str]
) -> None:
    found: dict[str, list[str]] = {}
    by_night = cycle((True, False))

    def note(page: Page, about: str, wrong: list[str]) -> None:
        if wrong:
            found[f"{page.url.removeprefix(service.address)} {about}"] = wrong

    def look_in_each_size(page: Page) -> None:
        """Look at each size; axe looks at one page on the narrowest by night, and at the next on the widest by day.

        All pages have one style sheet, and looking takes axe longer than everything else here."""
        seen_by_axe = NARROW if next(by_night) else WIDE
        for width, scheme in ((NARROW, "dark"), (MIDDLE, "dark"), (WIDE, "light")):
            page.set_viewport_size({"width": width, "height": HEIGHT})
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            wrong = [f"{over} pixels too wide"] if (over := sideways(page)) > 0 else []
            note(page, f"{width}", [*wrong, *broken_words(page), *(faults(page) if width == seen_by_axe else ())])

    with reader(browser, service.address) as visitor:
        look_in_each_size(visitor.open("/dashboard/sign-in"))
        look_in_each_size(visitor.open("/dashboard/sign-in/link?token=none"))
    with reader(browser, service.address, storage_state=state) as owner:
        for path in paths:
            page = owner.open(path)
            if path.startswith(("/dashboard/jobs/", "/dashboard/try/")):  # they show more by a script; it waits 0.5 s
                page.wait_for_load_state("networkidle")
            look_in_each_size(page)
            note(page, "by keyboard", unreachable(page, frame=path == "/dashboard") if path in BY_TAB else unseen(page))
        owner.excuse("404")  # NOWHERE
        owner.open("/dashboard")
        owner.picture("home")
    assert found == {}


def test_a_look_is_chosen_kept_and_sent_by_the_server(owner: Reader) -> None:
    page = owner.open("/dashboard")
    switch = page.get_by_role("button", name="Colours:")
    dark = "rgb(15, 18, 25)"
    for name, colour in (("light", "rgb(246, 247, 250)"), ("dark", dark)):
        switch.press("Enter")
        expect(page.get_by_role("button", name=f"Colours: {name}")).to_be_focused()
        expect(page.locator("body")).to_have_css("background-color", colour)
    assert 'data-theme="dark"' in owner.context.request.get(f"{owner.address}/dashboard").text()
    expect(owner.open("/docs").locator("body")).to_have_css("background-color", dark)  # the same for all: by its script
    page.get_by_role("button", name="Colours: dark").click()
    assert "data-theme=" not in owner.context.request.get(f"{owner.address}/dashboard").text()


def test_narrow_pages_show_all_of_a_table_and_of_a_job(service: Running, browser: Browser, state: object) -> None:
    images = {"images": [{"image_url": "http://127.0.0.1:1/picture.png", "mode": "all"}]}
    job_id = service.submit(images, "/batch")
    service.wait_for_state(job_id)
    with reader(browser, service.address, storage_state=state, width=NARROW) as owner:
        for path, button in (("/dashboard/keys", "Delete"), ("/dashboard/operators/processes", "Scale")):
            box = owner.open(path).get_by_role("row").get_by_role("button", name=button).first.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= NARROW
            assert owner.page.locator(".scrolls").evaluate_all(CUT_OFF) == [], path
        page = owner.open(f"/dashboard/jobs/{job_id}")
        page.wait_for_load_state("networkidle")  # its result is shown anew, by a script
        assert min(page.locator("dl.facts dd").evaluate_all("(all) => all.map((one) => one.clientWidth)")) >= 100
        assert page.evaluate("document.documentElement.scrollHeight") < 4_000


def test_what_anybody_has_written_is_shown_as_text(service: Running, browser: Browser) -> None:
    """The policy of the pages is off in this browser: what got past the escaping would run."""
    token = make_token()
    with Database(service.database_url) as database:
        opened = open_account(database, name=HOSTILE, tier="enterprise", credits=1_000)
        database.run(set_operator(opened.id, is_operator=True))
        database.run(add_link(opened.id, token, lasts=timedelta(minutes=10)))
    assert service.ask("/made-up", {"items": [{"do": HOSTILE}, {"do": "fail"}]}, X_API_Key=opened.key.secret)
    with reader(browser, service.address, bypass_csp=True) as owner:
        page = owner.page

        def is_text(where: str) -> None:
            content = page.locator("main")
            shown = content.inner_text() + "".join(
                one.input_value() for one in content.locator("input:not([type=file]), textarea").all()
            )
            assert HOSTILE in shown, (where, shown)
            assert page.evaluate("window.ran ?? null") is None, where
            assert page.locator("[onerror], main script").count() == 0, where

        owner.open(f"/dashboard/sign-in/link?token={token}").get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_role("heading", name="Account", exact=True)).to_be_visible()
        is_text("the account's name")
        owner.open("/dashboard/keys").get_by_label("Name").fill(HOSTILE)
        page.get_by_role("button", name="Create key").click()
        is_text("a key's name")
        spoken = service.submit({"text": HOSTILE}, "/tts", X_API_Key=opened.key.secret)
        owner.open(f"/dashboard/jobs/{spoken}")
        is_text("a job's text")
