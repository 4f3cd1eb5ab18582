"""Releases install packages locked by sums, in step with pyproject.toml, and audited honestly."""

import json
import re
import runpy
import shlex
import shutil
import stat
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "requirements"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
#: The images' packages; other extras may need building.
IN_IMAGES = ("base", "torch", "build", "blog", "cjk", "japanese", "search-console", "tracing")
#: Where a marker is looked at: uv writes markers in a way of its own.
PLACES = [
    {
        "sys_platform": system,
        "platform_machine": machine,
        "python_version": python,
        "python_full_version": f"{python}.0",
    }
    for system, machine in (("linux", "x86_64"), ("darwin", "arm64"), ("darwin", "x86_64"), ("win32", "AMD64"))
    for python in ("3.11", "3.12", "3.13", "3.14")
]
#: A stand-in for pip-audit: it answers about each service what a file beside it says.
STAND_IN = """import sys
from pathlib import Path
answers = Path(__file__).with_name(sys.argv[sys.argv.index("-s") + 1])
if not answers.exists():
    sys.exit("ConnectionError: no such host")
print(answers.read_text())
"""


@cache
def locked() -> dict[str, list[dict[str, Any]]]:
    """Return the packages of uv.lock by name; some have two versions, for different Pythons."""
    found: dict[str, list[dict[str, Any]]] = {}
    for package in tomllib.loads((ROOT / "uv.lock").read_text())["package"]:
        found.setdefault(package["name"], []).append(package)
    return found


@cache
def pinned(file: str) -> dict[tuple[str, str], set[str]]:
    """Return the sums in one of requirements/*.txt by name and version."""
    text = (FOLDER / f"{file}.txt").read_text()
    blocks = re.findall(r"^([\w.-]+)(?:\[\S+\])?==(\S+)(.*\n(?: .*\n)*)", text, re.MULTILINE)
    assert len(blocks) == len(re.findall(r"^[^ #\n]", text, re.MULTILINE)), f"{file}.txt has lines that pin nothing"
    return {(name, version): set(re.findall(r"--hash=sha256:(\w{64})\b", sums)) for name, version, sums in blocks}


def told(lines: list[str]) -> set[tuple[Any, ...]]:
    """Return requirements as they can be compared, however they are written."""
    read = [Requirement(line) for line in lines]
    return {
        (
            one.name.lower(),
            frozenset(one.extras),
            one.specifier,
            *(not one.marker or one.marker.evaluate(at) for at in PLACES),
        )
        for one in read
    }


def as_lines(listed: list[dict[str, Any]]) -> list[str]:
    """Return what uv.lock says that the project asks for, as pyproject.toml writes it."""
    lines = []
    for one in listed:
        marker = re.sub(r"(?: and )?extra == '[\w-]+'", "", one.get("marker", ""))
        extras = f"[{','.join(one['extras'])}]" if "extras" in one else ""
        lines.append(f"{one['name']}{extras}{one.get('specifier', '')}" + (f"; {marker}" if marker else ""))
    return lines


def test_the_lock_is_in_step_with_pyproject() -> None:
    ours = locked()["pressroom"][0]["metadata"]
    asked = ours["requires-dist"]
    base = as_lines([one for one in asked if "extra ==" not in one.get("marker", "")])
    (client,) = (one for one in PROJECT["project"]["dependencies"] if one.startswith("pressroom-client"))
    others = [one for one in PROJECT["project"]["dependencies"] if one != client]
    assert told(["pressroom-client", *others]) == told(base), "a dependency changed: run `make lock`"
    assert set(ours["provides-extras"]) == EXTRAS.keys()
    for extra, lines in EXTRAS.items():
        of_extra = [one for one in asked if f"extra == '{extra}'" in one.get("marker", "")]
        assert told(lines) == told(as_lines(of_extra)), f"the extra {extra} changed: run `make lock`"
    for group, lines in PROJECT["dependency-groups"].items():
        assert told(lines) == told(as_lines(ours["requires-dev"][group])), f"the group {group} changed: run `make lock`"
    assert PROJECT["dependency-groups"]["build"] == PROJECT["build-system"]["requires"]


def test_the_files_have_the_versions_and_all_sums_of_the_lock() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == {"base", "torch", "build", "tools", *EXTRAS}
    sums = {
        (name, package["version"]): {
            file["hash"].removeprefix("sha256:")
            for file in (*package.get("wheels", ()), *filter(None, [package.get("sdist")]))
        }
        for name, packages in locked().items()
        for package in packages
    }
    for file in ("base", "torch", "build", "tools", *EXTRAS):
        for pin, found in pinned(file).items():
            assert found, pin
            assert found == sums[pin], f"{file}.txt is not what uv.lock says of {pin}: run `make lock`"


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_a_file_and_base_have_all_that_is_needed(extra: str) -> None:
    """pip looks for nothing else, so what is missing would be missing at run time."""
    files = ("base", "torch", extra) if extra else ("base",)
    there = {name for file in files for name, _ in pinned(file)}
    (ours,) = locked()["pressroom"]
    open_names = [(one["name"], tuple(one.get("extra", ()))) for one in ours["dependencies"]]
    if extra:
        open_names += [(one["name"], tuple(one.get("extra", ()))) for one in ours["optional-dependencies"][extra]]
    seen = set()
    while open_names:
        name, extras = open_names.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        assert name in there | {"pressroom-client"}
        for package in locked()[name]:
            wanted = [*package.get("dependencies", ())]
            wanted += [one for each in extras for one in package.get("optional-dependencies", {}).get(each, ())]
            open_names += [(one["name"], tuple(one.get("extra", ()))) for one in wanted]


def test_no_address_but_pypis_is_locked() -> None:
    """A mirror, or a folder, that pip or uv is set to on somebody's machine must not come along."""
    found = re.findall(r'(\w+) = "((?:\w+:/|\.*/).*?)"', (ROOT / "uv.lock").read_text())
    other = [
        (kind, address)
        for kind, address in found
        if not address.startswith("https://files.pythonhosted.org/packages/")
        and (kind, address) != ("registry", "https://pypi.org/simple")
    ]
    assert found
    assert other == []
    for file in FOLDER.glob("*.txt"):
        lines = file.read_text().splitlines()
        assert [line for line in lines if re.search(r"://| @ |^ *(?!--hash=)[-/.]", line)] == []


def test_what_the_images_have_needs_no_building() -> None:
    pins = {pin for file in IN_IMAGES for pin in pinned(file)}
    built = {
        name for name, version in pins for one in locked()[name] if one["version"] == version and "wheels" not in one
    }
    assert built == set()


def test_the_image_takes_only_what_is_locked() -> None:
    text = (ROOT / "deploy" / "docker" / "Dockerfile").read_text()
    environment = set(re.findall(r"\b(PIP_NO_DEPS=1|PIP_ONLY_BINARY=:all:)", text))
    assert environment == {"PIP_NO_DEPS=1", "PIP_ONLY_BINARY=:all:"}
    installs = [shlex.split(line) for line in re.findall(r"\bpip (?:install|wheel) .*", text)]
    assert len(installs) >= 5
    for words in installs:
        assert "--require-hashes" in words or "--no-index" in words
        files = [words[at + 1] for at, word in enumerate(words) if word == "-r"]
        assert bool(files) == ("--require-hashes" in words)
        for file in files:
            named = file.replace("$TORCH", re.findall(r"^ARG TORCH=(\S+)", text, re.MULTILINE)[0])
            assert (ROOT / named).exists()
            assert Path(named).stem in IN_IMAGES


def audit(tmp_path: Path, stand_in: str) -> tuple[int, str]:
    """Run audit.py with this in place of pip-audit; return its exit code and what it says."""
    (tmp_path / "python").symlink_to(sys.executable)
    program = tmp_path / "pip-audit"
    program.write_text(f"#!{sys.executable} -IS\n{stand_in}")
    program.chmod(0o755)
    ran = subprocess.run([tmp_path / "python", "-IS", FOLDER / "audit.py"], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


CLEAN = {"name": "idna", "version": "3.10", "vulns": []}
UNKNOWN = {"name": "lxml", "skip_reason": "Dependency not found on PyPI and could not be audited: lxml (5.0)"}
KNOWN = {"name": "jinja2", "version": "3.1.2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.1.3"]}]}


@pytest.mark.parametrize(
    ("answers", "code", "said"),
    [
        ({"osv": [CLEAN]}, 0, "osv: 2 packages looked up, 0 vulnerabilities known"),
        ({"osv": [CLEAN, KNOWN]}, 1, "jinja2 3.1.2: PYSEC-1, mended in 3.1.3"),
        ({"osv": [UNKNOWN, KNOWN]}, 1, "jinja2 3.1.2: PYSEC-1, mended in 3.1.3"),
        ({"pypi": [CLEAN]}, 0, "it could not be asked: ConnectionError: no such host"),
        ({"pypi": [CLEAN, UNKNOWN]}, 3, "could NOT all be looked up"),
        ({}, 3, "could NOT all be looked up"),
    ],
    ids=[
        "clean",
        "a vulnerability",
        "one beside what is unknown",
        "the second service",
        "some unknown",
        "none reached",
    ],
)
def test_an_audit_that_could_not_look_says_so(
    tmp_path: Path, answers: dict[str, list[dict[str, Any]]], code: int, said: str
) -> None:
    for service, dependencies in answers.items():
        (tmp_path / service).write_text(json.dumps({"dependencies": dependencies}))
    returned, written = audit(tmp_path, STAND_IN)
    assert (returned, said in written) == (code, True), written


def test_an_audit_asks_about_every_version_that_is_locked(tmp_path: Path) -> None:
    """pip-audit itself asks about those alone that the Python which runs it would install."""
    asked = tmp_path / "asked"
    audit(
        tmp_path,
        f"import sys; open({str(asked)!r}, 'a').write(open(sys.argv[sys.argv.index('-r') + 1]).read() + chr(10))",
    )
    pins = {f"{name}=={version}" for file in FOLDER.glob("*.txt") for name, version in pinned(file.stem)}
    assert set(asked.read_text().split()) == pins


def test_a_release_is_verified_offline_and_no_change_goes_unseen(tmp_path: Path) -> None:
    release, key = runpy.run_path(str(FOLDER / "release.py")), Ed25519PrivateKey.generate()
    for name in ("a.whl", "b.tar.gz"):
        (tmp_path / name).write_text(name)
    release["sign"](tmp_path, key)
    assert release["verify"](tmp_path, key.public_key()) == []
    assert "not signed" in release["verify"](tmp_path, Ed25519PrivateKey.generate().public_key())[0]
    (tmp_path / "a.whl").write_text("evil")
    (tmp_path / "b.tar.gz").unlink()
    assert [line.split()[0] for line in release["verify"](tmp_path, key.public_key())] == ["a.whl", "b.tar.gz"]


def test_a_release_key_is_made_once_outside_the_clone_and_openssl_verifies_with_it(tmp_path: Path) -> None:
    release, dist = runpy.run_path(str(FOLDER / "release.py")), tmp_path / "dist"
    key, public = release["signing_key"](tmp_path / "release.pem"), dist / "release.pub"
    dist.mkdir()
    (dist / "a.whl").write_bytes(b"wheel")
    release["publish"](key, public)
    release["sign"](dist, key)

    assert stat.S_IMODE((tmp_path / "release.pem").stat().st_mode) == 0o600
    release["publish"](release["signing_key"](tmp_path / "release.pem"), public)
    with pytest.raises(ValueError, match="belongs to another key"):
        release["publish"](release["signing_key"](tmp_path / "other.pem"), public)
    with pytest.raises(ValueError, match="Keep the key elsewhere"):
        release["signing_key"](ROOT / "release.pem")
    if shutil.which("openssl"):  # as docs/deploying.md says
        verify = "openssl pkeyutl -verify -pubin -inkey release.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig"
        for command in (verify, "sha256sum --check SHA256SUMS"):
            assert subprocess.run(command.split(), cwd=dist, check=False).returncode == 0
            assert command in (ROOT / "docs" / "deploying.md").read_text("utf-8")


def test_a_release_sets_the_version_and_cuts_the_changelog() -> None:
    release = runpy.run_path(str(FOLDER / "release.py"))
    pyproject = release["set_version"]((ROOT / "pyproject.toml").read_text(), "1.2.3")
    project = tomllib.loads(pyproject)["project"]
    assert project["version"] == "1.2.3"
    assert "pressroom-client==1.2.3" in project["dependencies"]
    log = "# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.9.0 (2025-01-01)\n\n- Old.\n"
    made = release["cut"](log, "1.2.3", "2026-01-01")
    assert made.startswith("# Changelog\n\n## Unreleased\n\n## 1.2.3 (2026-01-01)\n\n- New.\n\n## 0.9.0")
    with pytest.raises(ValueError, match="nothing under Unreleased"):
        release["cut"](made, "1.2.4", "2026-01-02")


def test_licences_with_conditions_are_told() -> None:
    licences = runpy.run_path(str(FOLDER / "licences.py"))
    page, packages = (ROOT / "docs" / "licences.md").read_text(), dict(licences["installed"]())
    assert licences["faults"](packages, page) == []
    added = {"evil": "GPL-3.0-only", "nameless": "", "both": "MIT AND GPL-2.0-only", "choice": "GPL-2.0-only OR MIT"}
    assert [line.split(":")[0] for line in licences["faults"](added, page)] == ["both", "evil", "nameless"]
