"""Browsers: what people call the one that a User-Agent header is of."""

#: By the first word that the header has, since browsers name those that they resemble as well.
_BROWSERS = {
    "Edg": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "FxiOS/": "Firefox", "CriOS/": "Chrome",
    "Chrome/": "Chrome", "Safari/": "Safari", "Mozilla/": "Another browser",
}  # fmt: skip
_SYSTEMS = {
    "Android": "Android", "iPhone": "iOS", "iPad": "iPadOS", "CrOS": "ChromeOS",
    "Windows": "Windows", "Mac OS X": "macOS", "Linux": "Linux",
}  # fmt: skip


def name_browser(user_agent: str) -> str:
    """Return a browser's family and system, as in "Firefox on Linux"; the header may lie."""
    browser = next((name for mark, name in _BROWSERS.items() if mark in user_agent), "A program")
    system = next((name for mark, name in _SYSTEMS.items() if mark in user_agent), "")
    return f"{browser} on {system}" if system else browser
