"""Weights: the files of a Whisper model, in a folder, in the cache of downloads, or at the Hugging Face hub."""

from pathlib import Path

from pipeline.errors import NotReady
from pipeline.log import get_logger
from workers.engines.models import first_line, hub_fault

log = get_logger(__name__)

#: Files that a model must have. Without a tokenizer, faster-whisper downloads that of another model, in which the words
#: of a large model have other numbers.
NEEDED = ("model.bin", "tokenizer.json")


def missing(model: str, *, setting: str) -> str | None:
    """Return which files a model lacks, without a request to the hub; None: none is known to be missing."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        lacking = _lacking(folder)
        return lacking and (
            f"The model {model!r} can't be used: there is no {lacking} in that folder. Convert it with "
            "`ct2-transformers-converter … --copy_files tokenizer.json preprocessor_config.json`."
        )
    if model.startswith(("/", ".", "~")) or model.count("/") > 1:
        return f"{setting} is {model!r}, and there is no such folder."
    return None


def find_weights(model: str, *, setting: str) -> str:
    """Return the folder of a model, downloaded if need be; `setting` is the variable that names it. Raises NotReady."""
    if (needs := missing(model, setting=setting)) is not None:
        raise NotReady(needs)
    folder = Path(model).expanduser()
    return str(folder) if folder.is_dir() else _downloaded(model, setting)


def _downloaded(model: str, setting: str) -> str:
    from faster_whisper.utils import download_model

    try:
        folder = str(download_model(model, local_files_only=True))
    except ValueError as error:  # neither a size nor the name of a model
        raise NotReady(f"{setting} is {model!r}, which is no folder and no model: {error}") from error
    except OSError:
        folder = ""
    # An incomplete download is found as well.
    if folder and _lacking(Path(folder)) is None:
        return folder
    if (fault := hub_fault()) is not None:
        raise NotReady(
            f"The model {model!r} is not on this machine, and {fault}. Download it where there is a network "
            f"(`hf download NAME --local-dir FOLDER`), set {setting} to that folder, and start the pool again."
        )
    log.info("model is being downloaded", model=model)
    try:
        return str(download_model(model))
    except Exception as error:  # the library's, its HTTP library's, and any that a strange answer causes
        raise NotReady(
            f"The model {model!r} could not be downloaded: {first_line(error)} Start the pool again to go on with it."
        ) from error


def _lacking(folder: Path) -> str | None:
    return " and no ".join(name for name in NEEDED if not (folder / name).is_file()) or None
