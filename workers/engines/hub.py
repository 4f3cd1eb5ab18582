"""Hub: whether the Hugging Face hub can be reached, found out before its own libraries ask for it for minutes."""

import ssl
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

#: How long the hub has for its first answer.
PATIENCE_SECONDS = 5.0


def hub_fault() -> str | None:
    """Return why the hub can't be asked for a model; None: it answers."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    try:
        # The address is the operator's own HF_ENDPOINT.
        with urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=PATIENCE_SECONDS):  # noqa: S310
            return None
    except HTTPError:
        return None
    except (OSError, HTTPException) as error:
        # A server whose certificate is not accepted here is there: the libraries bring certificates of their own.
        if isinstance(getattr(error, "reason", None), ssl.SSLError):
            return None
        return f"{constants.ENDPOINT} can't be reached ({error})"
