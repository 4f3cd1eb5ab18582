"""Weights: where a Whisper's files are: a folder, what was downloaded before, or the hub, if it can be reached."""

import ssl
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from pipeline.errors import NotReady
from pipeline.log import get_logger

log = get_logger(__name__)

#: How long the hub may take to say anything at all: its own library waits for minutes.
PATIENCE_SECONDS = 10


#: Files without which a folder is no model. Where there is no tokenizer, faster-whisper takes that of another model
#: from the hub, whose words a large one numbers differently.
NEEDED = ("model.bin", "tokenizer.json")


def missing(model: str, *, setting: str) -> str | None:
    """Return what a model lacks, as far as can be told without the hub; None: nothing."""
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
    except ValueError as error:  # no size, no name/of-a-model
        raise NotReady(f"{setting} is {model!r}, which is no folder and no model: {error}") from error
    except OSError:
        folder = ""
    # One whose download was broken off is found as well.
    if folder and _lacking(Path(folder)) is None:
        return folder
    _require_hub(model, setting)
    log.info("model is being downloaded", model=model)
    try:
        return str(download_model(model))
    except Exception as error:  # its own, those of its HTTP library, and whatever an answer makes of it that is none
        raise NotReady(
            f"The model {model!r} could not be downloaded: {_first_line(error)} Start the pool again to go on with it."
        ) from error


def _lacking(folder: Path) -> str | None:
    return " and no ".join(name for name in NEEDED if not (folder / name).is_file()) or None


def _require_hub(model: str, setting: str) -> None:
    """Raise NotReady when nobody answers at the hub."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        reason = "HF_HUB_OFFLINE is set"
    else:
        try:
            with urlopen(constants.ENDPOINT, timeout=PATIENCE_SECONDS):  # noqa: S310  the operator's own HF_ENDPOINT
                return
        except HTTPError:
            return
        except (OSError, HTTPException) as error:
            if isinstance(getattr(error, "reason", None), ssl.SSLError):
                return  # somebody is there; its library brings certificates of its own
            reason = f"{constants.ENDPOINT} can't be reached ({error})"
    raise NotReady(
        f"The model {model!r} is not on this machine, and {reason}. Download it where there is a network "
        f"(`hf download NAME --local-dir FOLDER`), set {setting} to that folder, and start the pool again."
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
