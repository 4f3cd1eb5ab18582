"""Weights: where a Whisper's files are: a folder, what was downloaded before, or the hub, if it can be reached."""

import os
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


def find_weights(model: str, *, setting: str) -> str:
    """Return the folder of a model, downloaded if need be; `setting` is the variable that names it. Raises NotReady."""
    if Path(model).is_dir():
        return model
    if os.sep in model and not model.count("/") == 1:
        raise NotReady(f"{setting} is {model!r}, and there is no such folder.")
    from faster_whisper.utils import download_model
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return str(download_model(model, local_files_only=True))
    except ValueError as error:  # no size, no name/of-a-model
        raise NotReady(f"{setting} is {model!r}, which is no folder and no model: {error}") from error
    except OSError:
        _require_hub(model, setting)
    log.info("model is being downloaded", model=model)
    try:
        return str(download_model(model))
    except (OSError, HfHubHTTPError) as error:
        raise NotReady(f"The model {model!r} could not be downloaded: {_first_line(error)}") from error


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
