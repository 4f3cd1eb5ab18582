"""Files of models: whether they are as they should be, and where installed packages have them."""

import hashlib
import importlib.util
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pipeline.errors import NotReady
from workers.models.catalogue import CatalogueModel, File


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256, in hexadecimal. Raises OSError."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def check(name: str, folder: Path, files: Iterable[File]) -> None:
    """Compare a model's files with their sizes and hashes. Raises NotReady, naming the first that differs."""
    for file in files:
        path = folder / file.name
        try:
            size = path.stat().st_size
            file = file.sized(size)
            if file.size_bytes is not None and size != file.size_bytes:
                raise NotReady(
                    f"The model {name} is damaged: {path} has {size:,} bytes, not {file.size_bytes:,}. {remedy(name)}"
                )
            found = sha256_of(path) if file.sha256 is not None else None
        except OSError as error:
            raise NotReady(f"The model {name} can't be read: {path}: {error.strerror}. {remedy(name)}") from error
        if found != file.sha256:
            raise NotReady(
                f"The model {name} is damaged or altered: the SHA-256 of {path} begins with {str(found)[:8]}, "
                f"not with {str(file.sha256)[:8]}. {remedy(name)}"
            )


def remedy(name: str) -> str:
    """Return the remedy for a model whose files can't be used."""
    return f"Run `pressroom models remove {name}` and `pressroom models fetch {name}`, or reinstall its package."


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
