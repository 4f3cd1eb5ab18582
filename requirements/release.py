"""Make a release, by `make release VERSION=1.0.0 KEY=~/release.pem`; verify one, by `release.py verify dist`.

The first release makes the key. The version is set, the changelog is cut, both are committed and tagged; then dist/
gets the wheels and source archives of the service and its Python client, the npm package, the images' context, the
lists of what is in them (SBOM), the public key, the sums of all these, and an Ed25519 signature of the sums.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

ROOT = Path(__file__).parent.parent
SUMS, SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"
#: The key that releases are verified with; it is in the repository, and its other half is in nobody's clone.
PUBLIC_KEY = ROOT / "requirements" / "release.pub"
UNRELEASED = "## Unreleased\n"
PACKAGE = "clients/javascript/package.json"
UV = ROOT / ".venv-tools" / "bin" / "uv"


def set_version(pyproject: str, version: str) -> str:
    """Return a pyproject.toml or package.json with a version, which is the clients' too."""
    pyproject = re.sub(r'"pressroom-client==[^"]*"', f'"pressroom-client=={version}"', pyproject)
    told = re.compile(r'^(version = |  "version": )".*"', flags=re.MULTILINE)
    return told.sub(rf'\g<1>"{version}"', pyproject, count=1)


def cut(changelog: str, version: str, day: str) -> str:
    """Return the changelog with what is unreleased under a version. Raises ValueError when that is nothing."""
    before, found, after = changelog.partition(UNRELEASED)
    changes = re.split(r"^## ", after, maxsplit=1, flags=re.MULTILINE)[0]
    if not found or not changes.strip():
        raise ValueError("CHANGELOG.md has nothing under Unreleased.")
    return f"{before}{UNRELEASED}\n## {version} ({day})\n{after}"


def signing_key(file: Path) -> Ed25519PrivateKey:
    """Return the key of a file outside the clone; a file that is missing is made, for its owner alone.

    Raises ValueError."""
    if file.resolve().is_relative_to(ROOT):
        raise ValueError(f"{file} is in the clone, where it might be committed. Keep the key elsewhere.")
    if not file.exists():
        file.touch(mode=0o600)
        made = Ed25519PrivateKey.generate()
        file.write_bytes(made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    if isinstance(key := load_pem_private_key(file.read_bytes(), password=None), Ed25519PrivateKey):
        return key
    raise ValueError(f"{file} is not an Ed25519 key.")


def publish(key: Ed25519PrivateKey, file: Path) -> None:
    """Write the public half of the first release's key. Raises ValueError if releases are verified with another one."""
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    if file.exists() and file.read_bytes() != public:
        raise ValueError(f"{file.name} belongs to another key. Releases are signed with one key.")
    file.write_bytes(public)


def sign(folder: Path, key: Ed25519PrivateKey) -> None:
    """Write the sums of a folder's files, and their signature."""
    files = sorted(file for file in folder.iterdir() if file.name not in (SUMS, SIGNATURE))
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    (folder / SUMS).write_text(sums)
    (folder / SIGNATURE).write_bytes(key.sign(sums.encode()))


def verify(folder: Path, key: Ed25519PublicKey) -> list[str]:
    """Return what is wrong with a folder's files; nothing is asked of anybody."""
    sums = (folder / SUMS).read_bytes()
    try:
        key.verify((folder / SIGNATURE).read_bytes(), sums)
    except InvalidSignature:
        return [f"{SUMS} was not signed with this key"]
    wrong = []
    for line in sums.decode().splitlines():
        digest, name = line.split("  ", 1)
        file = folder / name
        if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != digest:
            wrong.append(f"{name} is missing or was changed")
    return wrong


def release(version: str, key: Ed25519PrivateKey, dist: Path) -> None:
    """Cut, commit, tag, build and sign a version. Raises ValueError, CalledProcessError."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise ValueError(f"{version!r} is not a version: use three numbers, such as 1.0.0.")
    if _output("git", "status", "--porcelain"):
        raise ValueError("There are changes that are not committed.")
    changelog = ROOT / "CHANGELOG.md"
    changed = cut(changelog.read_text("utf-8"), version, f"{datetime.now(UTC):%Y-%m-%d}")
    for pyproject in (ROOT / name for name in ("pyproject.toml", "clients/python/pyproject.toml", PACKAGE)):
        pyproject.write_text(set_version(pyproject.read_text("utf-8"), version), "utf-8")
    publish(key, PUBLIC_KEY)
    changelog.write_text(changed, "utf-8")
    _run("git", "add", "--all")
    _run("git", "commit", "--quiet", "--message", f"release: {version}")
    _run("git", "tag", f"v{version}")
    build(version, dist)
    sign(dist, key)


def build(version: str, dist: Path) -> None:
    """Build all that a release has. Raises CalledProcessError."""
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir(parents=True)
    locked = ("--build-constraints", str(ROOT / "requirements" / "build.txt"), "--require-hashes")
    _run(str(UV), "build", "--all-packages", "--quiet", "--out-dir", str(dist), *locked)
    _run("make", "--silent", "npm")
    for package in (ROOT / PACKAGE).parent.glob(f"*-{version}.tgz"):
        shutil.copy(package, dist)
    context = dist / f"pressroom-{version}-images.tar.gz"
    _run("git", "archive", "--format=tar.gz", f"--prefix=pressroom-{version}/", f"--output={context}", "HEAD")
    _run("make", "--silent", "sbom")
    shutil.copy(PUBLIC_KEY, dist)
    for file in (ROOT / "out" / "sbom").glob("*.json"):
        shutil.copy(file, dist / f"pressroom-{version}-{file.name}")
    (dist / ".gitignore").unlink(missing_ok=True)  # uv's


def main() -> None:
    """Make a release, or verify one."""
    parser = argparse.ArgumentParser(description="Make a release, or verify one.")
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("version")
    making.add_argument("--key", type=Path, required=True, help="Outside the clone; it is made if it is missing.")
    verifying = commands.add_parser("verify")
    verifying.add_argument("folder", type=Path)
    verifying.add_argument("--key", type=Path, default=PUBLIC_KEY)
    chosen = parser.parse_args()
    if chosen.command == "verify":
        key = load_pem_public_key(chosen.key.read_bytes())
        if not isinstance(key, Ed25519PublicKey):
            sys.exit(f"{chosen.key} is not an Ed25519 key.")
        sys.exit("\n".join(verify(chosen.folder, key)) or None)
    try:
        release(chosen.version, signing_key(chosen.key.expanduser()), ROOT / "dist")
    except (ValueError, subprocess.CalledProcessError) as error:
        sys.exit(str(error))


def _run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True)


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
