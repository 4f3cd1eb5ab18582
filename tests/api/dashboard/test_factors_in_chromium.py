"""Second factors in Chromium, with a virtual authenticator: added, used, and pages that everybody can use."""

from browser import sign_in
from chromium import MIDDLE, NARROW, chromium, faults, reader, sideways, unseen
from http_service import Service
from payers import open_account, owner_of
from playwright.sync_api import Page, expect
from pyotp import TOTP

from pipeline.accounts.sign_in import set_email, set_password
from pipeline.database import Database

PASSWORD = "four words in a row"
FACTORS = "/dashboard/account/factors"
DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def check(page: Page) -> None:
    assert (faults(page), unseen(page)) == ([], [])
    for width in (NARROW, MIDDLE):
        page.set_viewport_size({"width": width, "height": 900})
        assert sideways(page) <= 0, (page.url, width)


def test_a_passkey_and_an_app_are_added_and_sign_in(service: Service, api_database: Database) -> None:
    payer = open_account(api_database, name="Gazette")
    person = owner_of(api_database, payer)
    api_database.run(set_email(person, "chromium@example.com"))
    api_database.run_together(set_password(person, PASSWORD))
    cookies = sign_in(service, api_database, payer).cookies
    address = f"http://localhost:{service.port}"  # passkeys are for names, not for numbers
    with chromium() as browser, reader(browser, address) as opened:
        page = opened.page
        page.on("dialog", lambda dialog: dialog.accept())
        opened.context.add_cookies([{"name": name, "value": value, "url": address} for name, value in cookies.items()])
        devices = opened.context.new_cdp_session(page)
        devices.send("WebAuthn.enable")
        devices.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})

        opened.open(FACTORS)
        page.get_by_label("Name").fill("This laptop")
        page.get_by_role("button", name="Add a passkey").click()
        expect(page.get_by_role("row", name="This laptop")).to_be_visible()
        expect(page.get_by_role("button", name="Copy the codes")).to_be_visible()
        check(page)

        page.get_by_role("button", name="Add an authenticator app").click()
        expect(page.get_by_alt_text("Picture of the key below")).to_be_visible()
        check(page)
        secret = page.locator("#app ~ form pre").inner_text().strip()
        page.get_by_label("Code", exact=True).fill(TOTP(secret).now())
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text("The authenticator app was added.")

        page.get_by_role("button", name="Sign out").click()
        opened.open("/dashboard/sign-in")
        page.get_by_role("button", name="Sign in with a passkey").click()
        expect(page).to_have_url(f"{address}/dashboard")

        page.get_by_role("button", name="Sign out").click()
        page.get_by_role("textbox", name="E-mail").fill("chromium@example.com")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_role("heading", name="Second step")).to_be_visible()
        check(page)
        page.get_by_role("button", name="Use a passkey").click()
        expect(page).to_have_url(f"{address}/dashboard")

        opened.open(FACTORS)
        page.get_by_role("row", name="This laptop").get_by_role("button", name="Remove").click()
        expect(page.get_by_role("status")).to_contain_text("The passkey was removed.")
