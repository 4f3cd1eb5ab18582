"""Tools: programs that tests run and that are no Python packages."""

import os
import shutil

import pytest

#: Programs, separated by commas, whose absence is a failure.
NEEDED = "PRESSROOM_TESTS_NEED"


def require(name: str) -> str:
    """Return where a program is. Skips the test where it is not, or fails it where PRESSROOM_TESTS_NEED names it."""
    found = shutil.which(name)
    if found is not None:
        return found
    needed = {one.strip() for one in os.environ.get(NEEDED, "").split(",")}
    if name in needed:
        pytest.fail(f"{NEEDED} names {name}, which is not installed", pytrace=False)
    pytest.skip(f"{name} is not installed")
