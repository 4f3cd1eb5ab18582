"""The demo of marks: a cover that another Pressroom drew and signed."""

from pathlib import Path

from capabilities.marks.kinds import Verification
from scripts.demo.steps import Answered

FILES = {"file": Path(__file__).with_name("cover.jpg")}


async def _show(answered: Answered) -> str:
    found = answered.document
    return f"{found['status']}: {found['origin']} by {found['engine']}, signed by {found['signer']}"


SHOWN = {Verification.name: _show}
