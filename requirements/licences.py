"""Check the licences of all that Pressroom installs: `.venv/bin/python requirements/licences.py`.

Each package is under a licence that asks for no more than its notice, or docs/licences.md says what follows from it."""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

PAGE = Path(__file__).parent.parent / "docs" / "licences.md"
#: Packages that the images install.
EXTRAS = frozenset({"", "blog", "cjk", "japanese", "search-console", "tracing", "vision"})
PERMISSIVE = re.compile(
    r"(The )?(0BSD|(3-Clause |[23]-Clause )?BSD([ -][23]-Clause)?( License)?|BSD-[23]-Clause|MIT(-0|-CMU)?( License)?"
    r"|Apache[ -](Software License|2\.0( License)?|2\.0 WITH LLVM-exception)|ISC License \(ISCL\)?|ISC|PSF-2\.0"
    r"|Python Software Foundation License|CNRI-Python|BSL-1\.0|Zlib|CC0-1\.0|OSI Approved)"
)


def installed() -> Iterator[tuple[str, str]]:
    """Yield each package that Pressroom needs, as far as it is installed, and its licence."""
    waiting, seen = [("pressroom", EXTRAS)], set()
    while waiting:
        name, extras = waiting.pop()
        try:
            found = distribution(name)
        except PackageNotFoundError:  # of another platform
            continue
        key = (found.name.lower(), extras)
        if key in seen:
            continue
        seen.add(key)
        yield found.name, licence_of(found)
        for requirement in map(Requirement, found.requires or []):
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras or {""}):
                waiting.append((requirement.name, frozenset(requirement.extras)))


def licence_of(found: Distribution) -> str:
    """Return a package's licence by its metadata; empty if that names none."""
    classifiers = [one for one in found.metadata.get_all("Classifier") or [] if one.startswith("License ::")]
    expression = found.metadata.get("License-Expression")
    named = "; ".join(one.rpartition(" :: ")[2] for one in classifiers)
    return expression or named or (found.metadata.get("License") or "").partition("\n")[0]


def faults(packages: dict[str, str], page: str) -> list[str]:
    """Return the packages whose licence has conditions that the page says nothing about."""
    cells = " ".join(cell for row in re.findall(r"^\|(.*?)\|(.*?)\|", page.lower(), re.MULTILINE) for cell in row)
    told = set(re.findall(r"[a-z0-9]+(?:[-_][a-z0-9]+)*", cells))
    return [
        f"{name}: {licence or 'its metadata names no licence'}"
        for name, licence in sorted(packages.items())
        if not is_permissive(licence) and re.split(r"[-_]", name.lower())[0] not in told and name.lower() not in told
    ]


def is_permissive(licence: str) -> bool:
    """Return whether each part of a licence asks for no more than its notice, or one of several to choose from."""
    choices = [re.split(r" AND |; ", choice) for choice in re.split(r" OR ", licence)]
    return any(all(PERMISSIVE.fullmatch(part.strip("() ")) for part in parts) for parts in choices)


if __name__ == "__main__":
    packages = dict(installed())
    if found := faults(packages, PAGE.read_text("utf-8")):
        sys.exit("\n".join([f"{PAGE.name} says nothing of:", *found]))
    sys.stdout.write(f"{len(packages)} packages: permissive, or told in docs/{PAGE.name}\n")
