"""Chromium, as readers of the pages have it: what a page complains of, whether it fits, and what axe finds in it."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tools
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    ViewportSize,
    expect,
    sync_playwright,
)

#: A folder for pictures of the pages; without it none is taken.
PICTURES = "PRESSROOM_TESTS_PICTURES"
#: The owner of the first account, in a browser.
EMAIL, PASSWORD = "editor@example.org", "correct horse battery staple"
#: CSS pixels; the narrowest telephone, a tablet, and a usual screen.
NARROW, MIDDLE, WIDE = 360, 768, 1440
HEIGHT = 900
#: For each step in a page: a busy machine may need long.
PATIENCE_MILLISECONDS = 60_000
#: A picture of a page in the documents takes at most so much.
MOST_PICTURE_BYTES = 70_000
#: Notes what a policy has refused; Chromium says it on the console as well, in words that change.
NOTE_REFUSED = "addEventListener('securitypolicyviolation', e => console.error('refused by policy: ' + e.blockedURI))"
#: Numbers the controls that a reader can see and use, and notes which get the focus, and whether that is seen. Radio
#: buttons are left out: one of a group is reached. Returns the controls.
WATCH_FOCUS = """(within) => {
  const controls = [...document.querySelectorAll(
      'a[href], button, input, select, textarea, summary, audio[controls], [tabindex="0"]')]
    .filter((one) => !one.disabled && one.tabIndex >= 0 && !['hidden', 'radio'].includes(one.type)
        && one.closest(within) && one.checkVisibility({visibilityProperty: true}));
  window.reached = controls.map(() => null);
  addEventListener('focusin', ({target}) => {
    const style = getComputedStyle(target);
    const box = target.getBoundingClientRect();
    window.reached[controls.indexOf(target)] = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2
      && box.width > 0 && box.bottom > 0 && box.top < innerHeight;
  });
  document.querySelector(within).focus();
  return controls.map((one) => one.outerHTML.slice(0, 120));
}"""

#: Gives each control the focus, and returns those that don't take it in their turn, or don't show it.
FOCUS_EACH = """(within) => {
  const controls = [...document.querySelectorAll(
      'a[href], button, input, select, textarea, summary, audio[controls], [tabindex]:not([tabindex="-1"])')]
    .filter((one) => !one.disabled && one.tabIndex >= 0 && !['hidden', 'radio'].includes(one.type)
        && one.closest(within) && one.checkVisibility({visibilityProperty: true}));
  return controls.filter((one) => {
    one.focus();
    const style = getComputedStyle(one);
    const box = one.getBoundingClientRect();
    return document.activeElement !== one || one.tabIndex > 0 || style.outlineStyle === 'none'
      || parseFloat(style.outlineWidth) < 2 || box.width === 0 || box.bottom <= 0 || box.top >= innerHeight;
  }).map((one) => one.outerHTML.slice(0, 120));
}"""

#: Routes of /docs are of one template; axe would look at all of them for seven seconds.
ALIKE = {"exclude": [["details.route:nth-of-type(n+9)"]]}

#: Returns the words of tables that stand on two lines, though they are not long.
BROKEN_WORDS = r"""() => {
  const found = [];
  for (const cell of document.querySelectorAll('td, th')) {
    if (!cell.checkVisibility()) continue;
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const word of texts.currentNode.data.matchAll(/\S+/g)) {
        if (!/^\p{L}{2,12}[.,:;]?$/u.test(word[0])) continue;
        const range = document.createRange();
        range.setStart(texts.currentNode, word.index);
        range.setEnd(texts.currentNode, word.index + word[0].length);
        if (range.getClientRects().length > 1) found.push(word[0]);
      }
    }
  }
  return found;
}"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Debian's Chromium, without sound devices and with sounds that may start by themselves."""
    path = tools.require("chromium")
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--mute-audio"]
        )
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Reader:
    """One browser window of a reader, and what its pages have complained of."""

    context: BrowserContext
    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Go to a path of the service."""
        self.page.goto(self.address + path)
        return self.page

    def excuse(self, words: str) -> None:
        """Forget complaints with these words, which a test has brought about by itself; there must be some."""
        kept = [one for one in self.complaints if words not in one]
        assert kept != self.complaints, self.complaints
        self.complaints[:] = kept

    def picture(self, name: str, *, above: str | None = None) -> None:
        """Take a picture of what is seen for the documents, if that is asked for; of a part that `above` begins."""
        folder = os.environ.get(PICTURES)
        if not folder:
            return
        if above is not None:
            self.page.locator(above).first.scroll_into_view_if_needed()
        self.page.evaluate("document.activeElement.blur()")
        shown = Image.open(io.BytesIO(self.page.screenshot(animations="disabled", caret="hide"))).convert("RGB")
        kept = io.BytesIO()
        shown.save(kept, "WEBP", quality=60, method=6)
        assert kept.tell() <= MOST_PICTURE_BYTES, (name, kept.tell())
        (Path(folder) / f"{name}.webp").write_bytes(kept.getvalue())


@contextmanager
def reader(
    browser: Browser, address: str, *, width: int = WIDE, scheme: Any = "light", **options: Any
) -> Iterator[Reader]:
    """Open a window of its own. Whoever leaves the block without a failure has heard no complaint."""
    viewport: ViewportSize = {"width": width, "height": HEIGHT}
    # Its zone and language are the same on all machines, and so are pictures.
    named = {"locale": "en-GB", "timezone_id": "UTC", "viewport": viewport, "color_scheme": scheme}
    with browser.new_context(**named, **options) as context:
        context.set_default_timeout(PATIENCE_MILLISECONDS)
        context.add_init_script(NOTE_REFUSED)
        opened = Reader(context, context.new_page(), address)

        def hear(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                opened.complaints.append(f"{message.text} at {opened.page.url}")

        def see(request: Request) -> None:
            if not request.url.startswith((address, "blob:", "data:")):
                opened.complaints.append(f"asked another address: {request.url}")

        opened.page.on("console", hear)
        opened.page.on("pageerror", lambda error: opened.complaints.append(f"{error} at {opened.page.url}"))
        opened.page.on("request", see)
        yield opened
        assert opened.complaints == []


def sideways(page: Page) -> int:
    """Return by how many pixels a page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def broken_words(page: Page) -> list[str]:
    """Return words of tables that are broken, though they would fit into a column."""
    return [f"broken: {word}" for word in page.evaluate(BROKEN_WORDS)]


def faults(page: Page) -> list[str]:
    """Return what axe finds."""
    axe = Axe() if page.evaluate("typeof axe === 'undefined'") else Axe("0")  # its script has half a megabyte
    found = axe.run(page, ALIKE).response["violations"]
    return [f"{one['id']}: {[node['html'][:160] for node in one['nodes'][:3]]}" for one in found]


def unseen(page: Page) -> list[str]:
    """Return controls of a page's content that don't take the focus, or don't show it.

    In a hundredth of the time that the Tab key takes to get to each, which `unreachable` presses."""
    page.keyboard.press("Tab")  # from then on a focus is one of the keyboard
    return [
        f"not seen: {html}" for html in page.evaluate(FOCUS_EACH, "main" if page.locator("main").count() else "body")
    ]


def unreachable(page: Page, *, frame: bool) -> list[str]:
    """Return controls that the Tab key does not reach, or on which it can't be seen that they have the focus.

    `frame`: those around the page's content as well."""
    controls = page.evaluate(WATCH_FOCUS, "body" if frame or not page.locator("main").count() else "main")
    # A group of radio buttons is a step, each part of a date is one, and a player has some.
    for _ in range(len(controls) + 5):
        page.keyboard.press("Tab")
    steps = 3 * len(controls) + 20
    while None in (seen := page.evaluate("window.reached")) and (steps := steps - 5) > 0:
        for _ in range(5):
            page.keyboard.press("Tab")
    return [
        f"{'not reached' if is_seen is None else 'not seen'}: {html}"
        for html, is_seen in zip(controls, seen, strict=False)
        if not is_seen
    ]
