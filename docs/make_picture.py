"""Take the README's picture: `.venv/bin/python docs/make_picture.py LINK`.

LINK signs in to a running system; `pressroom accounts sign-in-link ACCOUNT` prints one. The card costs 3 credits."""

import io
import shutil
import sys
from pathlib import Path
from urllib.parse import urljoin

from PIL import Image
from playwright.sync_api import ViewportSize, sync_playwright

PICTURE = Path(__file__).parent / "images" / "dashboard.png"
SIZE: ViewportSize = {"width": 1440, "height": 960}
TITLE = "Tomatoes on a balcony"
CONTENT = (
    "A balcony with six hours of sun is enough for three or four tomato plants. Choose compact varieties, because tall"
    " vines need stakes and a lot of water. Cherry tomatoes ripen first and forgive most mistakes."
)
#: Enough for a page, and a file of about 100 kB.
COLOURS = 256


def main(link: str) -> None:
    """Sign in, have a card made of a post, and save the page as a reader sees it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light", locale="en-GB", timezone_id="UTC")
        page.goto(link)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_load_state()
        page.goto(urljoin(link, "/dashboard/try/blog"))
        page.locator("[name=title]").fill(TITLE)
        page.locator("[name=content]").fill(CONTENT)
        page.locator("[data-submit]").click()
        page.locator("[data-result] img").first.wait_for()
        page.wait_for_function("[...document.images].every((one) => one.complete && one.naturalWidth > 0)")
        page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
        shown = Image.open(io.BytesIO(page.screenshot(animations="disabled", caret="hide"))).convert("RGB")
        browser.close()
    PICTURE.parent.mkdir(exist_ok=True)
    shown.quantize(COLOURS, Image.Quantize.MEDIANCUT, kmeans=4, dither=Image.Dither.NONE).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
