"""Wheels: models whose files are in installed packages."""

import importlib.util
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from workers.models.catalogue import CatalogueModel, File


def find_parts(model: CatalogueModel) -> Mapping[File, Sequence[Path]] | None:
    """Return where installed packages have each file of a model, in parts to be joined; None: they lack some."""
    if not model.is_in_wheels:
        return None
    found = {}
    for file in model.files:
        parts = [_locate(part) for part in file.wheel]
        if any(part is None or not part.is_file() for part in parts):
            return None
        found[file] = [part for part in parts if part is not None]
    return found


def common_folder(parts: Mapping[File, Sequence[Path]]) -> Path | None:
    """Return the folder in which the files already lie under their names; None: they have to be put together."""
    first = next(iter(parts))
    folder = parts[first][0].parents[len(Path(first.name).parts) - 1]
    if all(list(found) == [folder / file.name] for file, found in parts.items()):
        return folder
    return None


def join(parts: Sequence[Path], target: Path) -> None:
    """Write parts one after the other as one file. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as written:
        for part in parts:
            with part.open("rb") as read:
                shutil.copyfileobj(read, written)


def _locate(path: str) -> Path | None:
    """Return the path of `package/path/in/it`, without importing the package."""
    package, _, inner = path.partition("/")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))) / inner
