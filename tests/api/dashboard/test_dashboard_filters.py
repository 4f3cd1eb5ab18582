"""How pages show texts with commands in them."""

import pytest
from markupsafe import Markup

from api.dashboard.filters import marked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Say `doctor`, or `up`.", "Say <code>doctor</code>, or <code>up</code>."),
        ("`<b>` & <i>", "<code>&lt;b&gt;</code> &amp; &lt;i&gt;"),
        ("a ` alone <b>", "a ` alone &lt;b&gt;"),
        ("", ""),
    ],
)
def test_what_stands_between_backticks_is_code_and_all_else_text(text: str, shown: str) -> None:
    assert marked(text) == Markup(shown)
