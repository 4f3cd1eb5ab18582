"""Store: which models are on this machine, and where. Every file that it gives out was verified."""

import shutil
import tempfile
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from pipeline.errors import NotReady
from pipeline.settings import Settings
from workers.models.catalogue import CatalogueModel, File, models_of, read_catalogue
from workers.models.files import check, common_folder, find_parts, join
from workers.models.lock_file import LockFile, exclusive

#: Folder of unfinished downloads: in the models' folder, so that a finished one is only renamed.
PARTIAL = ".partial"


class ModelStore:
    """The models of installed packages, and of one folder, which downloads go to as well."""

    def __init__(self, settings: Settings, catalogue: Mapping[str, CatalogueModel] | None = None) -> None:
        self.catalogue = read_catalogue() if catalogue is None else catalogue
        self.root = (settings.models.folder or settings.data / "models").absolute()
        self.lock = LockFile(self.root)

    def folder(self, model: CatalogueModel) -> Path | None:
        """Return the folder of a model's files, each of which has the right SHA-256; None: it is not here.

        Files of a package that lie apart, or in parts, are put together in the models' folder first. Raises NotReady
        when files are damaged or altered."""
        parts, folder = find_parts(model), self.root / model.name
        if parts is not None and (installed := common_folder(parts)) is not None:
            try:
                return _checked(model.name, installed, model.files)
            except NotReady:
                # A copy in the folder is as good as the package's.
                if not folder.is_dir():
                    raise
        elif parts is not None and not folder.is_dir():
            self._put_together(model, parts)
        return _checked(model.name, folder, self.files(model)) if folder.is_dir() else None

    def is_here(self, model: CatalogueModel) -> bool:
        """Return whether a model is here, without reading its files."""
        return find_parts(model) is not None or (self.root / model.name).is_dir()

    def is_downloaded(self, model: CatalogueModel) -> bool:
        """Return whether a model is in the folder, from which it can be removed, and not only in a package."""
        return (self.root / model.name).is_dir()

    def is_known(self, model: CatalogueModel) -> bool:
        """Return whether the SHA-256 of each of a model's files is known: without, its folder may be half of it.

        Raises NotReady when the lock file can't be read."""
        files = self.files(model)
        return bool(files) and all(file.sha256 for file in files)

    def here(self, family: str, engine: str) -> Sequence[CatalogueModel]:
        """Return an engine's models that are here, in order of preference."""
        return [model for model in models_of(family, engine, self.catalogue) if self.is_here(model)]

    def missing(self, family: str, engine: str) -> Sequence[CatalogueModel]:
        """Return an engine's models that are not here, in order of preference."""
        return [model for model in models_of(family, engine, self.catalogue) if not self.is_here(model)]

    def stamp(self) -> Hashable:
        """Return a value that changes whenever a model comes to the folder, or leaves it."""
        try:
            found = [path for path in self.root.iterdir() if path.is_dir() and path.name != PARTIAL]
            return tuple(sorted((path.name, path.stat().st_mtime_ns) for path in found))
        except OSError:  # not made yet, or just being removed
            return ()

    def remove(self, model: CatalogueModel) -> bool:
        """Delete a model from the folder; return whether it was there. Raises OSError."""
        folder = self.root / model.name
        if not folder.is_dir():
            return False
        # Renamed first: nobody finds half of it.
        with self._scratch(model) as scratch:
            folder.rename(Path(scratch) / model.name)
        return True

    def discard(self, model: CatalogueModel) -> bool:
        """Delete the files of an interrupted download; return whether there were any. A running download stays.

        Raises OSError."""
        unfinished = self.unfinished(model)
        if not unfinished.is_dir():
            return False
        with exclusive(self.root / PARTIAL / f"{model.name}.lock", wait=False) as is_held:
            if is_held:
                shutil.rmtree(unfinished)
        return is_held

    def files(self, model: CatalogueModel) -> Sequence[File]:
        """Return a model's files with what is known of each: by the catalogue, or else by the first download."""
        locked = self.lock.find(model)
        if locked is None:
            return model.files
        known = {file.name: file for file in locked.files}
        return [_completed(file, known.get(file.name)) for file in model.files] or locked.files

    def unfinished(self, model: CatalogueModel) -> Path:
        """Return where a download of a model is until it is complete, on the disk of the models' folder."""
        return self.root / PARTIAL / model.name

    def move_in(self, made: Path, model: CatalogueModel) -> Path:
        """Make a folder the model's, in place of one that is damaged; who loads it finds all of it. Raises OSError."""
        folder = self.root / model.name
        self.remove(model)
        try:
            made.rename(folder)
        except OSError:
            # Another process was quicker.
            if not folder.is_dir():
                raise
        return folder

    def _put_together(self, model: CatalogueModel, parts: Mapping[File, Sequence[Path]]) -> None:
        """Copy a package's files into the models' folder, each joined from its parts. Raises NotReady."""
        try:
            with self._scratch(model) as scratch:
                made = Path(scratch) / model.name
                for file, found in parts.items():
                    join(found, made / file.name)
                check(model.name, made, model.files)
                if not (self.root / model.name).is_dir():
                    self.move_in(made, model)
        except OSError as error:
            reason = error.strerror or error
            raise NotReady(f"The model {model.name} can't be put into {self.root}: {reason}.") from error

    def _scratch(self, model: CatalogueModel) -> tempfile.TemporaryDirectory[str]:
        """Return a folder that is deleted at the end, whatever is in it. Raises OSError."""
        partial = self.root / PARTIAL
        partial.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix=f"{model.name}-", dir=partial)

    def free_bytes(self) -> int:
        """Return how much the disk of the models' folder can still take."""
        above = next(path for path in (self.root, *self.root.parents) if path.exists())
        return shutil.disk_usage(above).free


def _completed(file: File, known: File | None) -> File:
    """Return a file of the catalogue with the hash and the size of the first download, where it has none."""
    return file if file.sha256 or known is None else replace(file, sha256=known.sha256, size_bytes=known.size_bytes)


def verify_in_place(folder: Path) -> None:
    """Compare the files of a folder with the hashes that are known, if it is a model's of a store. Raises NotReady."""
    model = read_catalogue().get(folder.name)
    if model is None:
        return
    locked = LockFile(folder.parent).find(model)
    files = locked.files if locked else tuple(file for file in model.files if file.sha256)
    _checked(model.name, folder, files)


#: The SHA-256 of the largest file of each model that this process has verified, by the model's name.
_VERIFIED: dict[str, str] = {}


def hash_of(name: str) -> str | None:
    """Return the SHA-256 of the weights of a model that this process runs; None if it did not verify them."""
    return _VERIFIED.get(name)


def _checked(name: str, folder: Path, files: Sequence[File]) -> Path:
    looks = _looks(folder, files)
    if looks is None:
        check(name, folder, files)
    else:
        _check_once(name, folder, tuple(files), looks)
    if hashed := [file for file in files if file.sha256]:
        _VERIFIED[name] = str(max(hashed, key=lambda file: file.size_bytes or 0).sha256)
    return folder


@lru_cache(maxsize=64)
def _check_once(name: str, folder: Path, files: Sequence[File], looks: Hashable) -> None:
    """Read the files of a model once a process, as long as they look the same: some have gigabytes."""
    check(name, folder, files)


def _looks(folder: Path, files: Sequence[File]) -> Hashable:
    """Return sizes and times of files, which differ when one has been written to; None: one can't be found."""
    try:
        found = [(folder / file.name).stat() for file in files]
    except OSError:
        return None
    return tuple((stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for stat in found)
