"""Looks up what is known to be vulnerable among all locked packages, with pip-audit; further arguments are passed on.

Exit codes: 0, all were looked up and nothing is known; 1, a vulnerability is known; 3, no service could be asked, or
none knew all packages. pip-audit itself ends with 0 and "No known vulnerabilities found" where an index has no such
pages, as mirrors have none: so what counts is what was looked up.
"""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FOLDER = Path(__file__).resolve().parent
#: In this order, until one knows every package. Both have the advisories of the Python Packaging Authority.
SERVICES = ("osv", "pypi")
FOUND = 1
NOT_LOOKED_UP = 3


@dataclass
class Looked:
    """The answer of a service."""

    service: str
    #: Why it could not be asked; empty when it answered.
    failure: str = ""
    packages: int = 0
    unknown: list[str] = field(default_factory=list)
    vulnerabilities: list[str] = field(default_factory=list)


def main() -> int:
    """Ask the services in turn until one knows every package; return the exit code."""
    pages = [file.read_text() for file in sorted(FOLDER.glob("*.txt"))]
    for service in SERVICES:
        looked = Looked(service)
        for pins in columns(pages):
            look_up(looked, pins, sys.argv[1:])
        code = tell(looked)
        if code != NOT_LOOKED_UP:
            return code
    print("The packages could NOT all be looked up. Run this where a service can be reached.")
    return NOT_LOOKED_UP


def columns(pages: Sequence[str]) -> list[list[str]]:
    """Return all pins, each name once in a list: pip-audit takes no second version, and leaves out other platforms'."""
    versions: dict[str, dict[str, None]] = {}
    for page in pages:
        for name, version in re.findall(r"^([\w.-]+)(?:\[[^]]*\])?==([^\s;]+)", page, re.MULTILINE):
            versions.setdefault(name, {})[version] = None
    rows = [[f"{name}=={version}" for version in found] for name, found in versions.items()]
    return [[pin for pin in column if pin] for column in zip_longest(*rows)]


def look_up(looked: Looked, pins: Sequence[str], arguments: Sequence[str]) -> None:
    """Ask a service about packages; add what it says."""
    program = Path(sys.executable).with_name("pip-audit")
    with TemporaryDirectory() as folder:
        file = Path(folder, "pins.txt")
        file.write_text("\n".join(pins))
        options = ["--no-deps", "--disable-pip", "--progress-spinner=off", "--format=json", "-s", looked.service]
        ran = subprocess.run(
            [program, *options, "-r", file, *arguments], capture_output=True, text=True, check=False
        )  # fmt: skip
    try:
        found: list[dict[str, Any]] = json.loads(ran.stdout)["dependencies"]
    except ValueError:
        looked.failure = ran.stderr.strip().rpartition("\n")[2] or f"pip-audit ended with {ran.returncode}"
        return
    looked.packages += len(found)
    looked.unknown += [one["name"] for one in found if "skip_reason" in one]
    for one in found:
        for known in one.get("vulns", ()):
            mended = ", ".join(known["fix_versions"]) or "no version"
            looked.vulnerabilities.append(f"{one['name']} {one['version']}: {known['id']}, mended in {mended}")


def tell(looked: Looked) -> int:
    """Print what a service said; return the exit code that it makes."""
    asked = looked.packages - len(looked.unknown)
    print(f"{looked.service}: {asked} packages looked up, {len(looked.vulnerabilities)} vulnerabilities known")
    for line in looked.vulnerabilities:
        print(f"  {line}")
    if looked.failure:
        print(f"  it could not be asked: {looked.failure}")
    if looked.unknown:
        print(f"  it has no page of {len(looked.unknown)} packages, such as {', '.join(looked.unknown[:3])}")
    if looked.vulnerabilities:
        return FOUND
    return NOT_LOOKED_UP if looked.failure or looked.unknown or not looked.packages else 0


if __name__ == "__main__":
    sys.exit(main())
