"""Tools: what tests need of the machine beside Python packages, such as programs and rights.

PRESSROOM_TESTS_NEED names, with commas between them, what must be there: a test that lacks it fails. Other tests are
skipped, or do without. The names are those of programs (node, npm, chromium, cc), and

- pypi: PyPI can be reached,
- wordpress: PHP with its extensions is installed, and `python tests/wordpress_site.py` has fetched WordPress,
- ghost: `python tests/ghost_site.py` has fetched Ghost, as `make ghost` does,
- netns: network namespaces can be made, for tests of many machines,
- mount: file systems can be mounted, for faults of disks."""

import os
import shutil
from typing import NoReturn

import pytest

#: Required programs, separated by commas.
NEEDED = "PRESSROOM_TESTS_NEED"


def require(name: str) -> str:
    """Return where a program is. Skips the test where it is not, or fails it where PRESSROOM_TESTS_NEED names it."""
    found = shutil.which(name)
    if found is None:
        skip(name, f"{name} is not installed")
    return found


def skip(name: str, why: str) -> NoReturn:
    """Skip the test for want of something, or fail it where PRESSROOM_TESTS_NEED names that."""
    do_without(name, why)
    pytest.skip(why)


def do_without(name: str, why: str) -> None:
    """Fail the test where PRESSROOM_TESTS_NEED names what is not here; else return, to go on without it."""
    if name in {one.strip() for one in os.environ.get(NEEDED, "").split(",")}:
        pytest.fail(f"{NEEDED} names {name}, but {why}", pytrace=False)
