"""Locks what a release is installed with: resolves pyproject.toml into uv.lock, and writes requirements/*.txt from it.

`make lock` keeps the versions that are locked and still fit; `make lock UPGRADE=1` takes the newest.

base.txt has what the base install needs, and each extra's file what the extra adds to it. torch.txt has torch and what
its build for CUDA brings, because another build may be wanted in its place (docs/decisions/0036). build.txt builds the
wheel, and tools.txt has what runs here. Every file names versions and SHA-256 sums alone, no address: pip asks the
index that it is set to, and takes nothing else from it.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Another index, as machines of companies have them, would be written into uv.lock.
INDEX = "https://pypi.org/simple"
#: One requirement: its line, and its sums, which are indented.
REQUIREMENT = re.compile(r"^\S.*\n(?: +--hash=.*\n)+", re.MULTILINE)
HEADER = "# Made by `make lock` from pyproject.toml; {what}.\n"


def main() -> None:
    """Lock, and write the files."""
    uv("lock", *sys.argv[1:], "--default-index", INDEX)
    for name, text in files().items():
        (ROOT / "requirements" / f"{name}.txt").write_text(text)


def files() -> dict[str, str]:
    """Return the text of each file, by its name."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    base = exported()
    torch = builds(without(exported("--extra", "vision"), exported("--extra", "vision", "--prune", "torch")))
    made = {
        "base": text(base, "the base install"),
        "torch": text(torch, "torch, with CUDA on Linux, beside base.txt and the file of an extra that needs it"),
        "build": text(exported("--only-group", "build"), "builds the wheel"),
        "tools": text(exported("--only-group", "tools"), "`make lock`, `make sbom` and `make audit`"),
    }
    for extra in extras:
        needed = exported("--extra", extra)
        beside = "base.txt and torch.txt" if "torch" in needed else "base.txt"
        made[extra] = text(without(needed, base | torch), f"what the extra `{extra}` adds, beside {beside}")
    return made


def exported(*arguments: str) -> dict[str, str]:
    """Return the locked requirements of a part of the project, by name, each with its sums."""
    plain = ("--no-emit-workspace", "--no-header", "--no-annotate", "--quiet")
    found: dict[str, str] = {}
    for block in REQUIREMENT.findall(uv("export", "--frozen", *plain, *arguments)):
        name = re.split(r"[=\[]", block, maxsplit=1)[0]
        found[name] = found.get(name, "") + block  # two versions, of which each Python takes one
    return found


def builds(of_torch: Mapping[str, str]) -> dict[str, str]:
    """Return torch and the libraries of its build: what it needs on macOS as well, all of its builds need."""
    return {name: block for name, block in of_torch.items() if name == "torch" or "darwin" not in block}


def without(all_of: Mapping[str, str], there: Mapping[str, str]) -> dict[str, str]:
    """Return the requirements that are not there already."""
    return {name: block for name, block in all_of.items() if there.get(name) != block}


def text(blocks: Mapping[str, str], what: str) -> str:
    """Return a file's text."""
    return HEADER.format(what=what) + "".join(blocks.values())


def uv(*arguments: str) -> str:
    """Run uv as no file or variable of this machine configures it; return what it writes."""
    named = {name: value for name, value in os.environ.items() if not name.startswith("UV_") or name == "UV_CACHE_DIR"}
    beside = Path(sys.executable).with_name("uv")
    ran = subprocess.run(
        [beside, *arguments, "--no-config"], cwd=ROOT, env=named, check=True, stdout=subprocess.PIPE, text=True
    )
    return ran.stdout


if __name__ == "__main__":
    main()
