"""Models: the common parts of engines with a model: the source of its files, and its device."""

import hashlib
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypeVar
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from pipeline.errors import NotReady
from pipeline.log import get_logger
from pipeline.settings.fields import ModelSettings
from workers.engines import EngineUnavailable, malloc
from workers.models.store import verify_in_place

log = get_logger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Most time for the Hugging Face hub's first answer. Its own libraries would try for minutes.
HUB_SECONDS = 5.0

#: Remedy for a model that is only at the hub.
AWAY = (
    "it is not on this machine and the hub can't be reached. Download it where there is a network (hf download), and "
    "set MODEL to its folder."
)

#: Errors that torch, CUDA and a model's code raise.
FAULTS = (
    ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, OSError, RuntimeError, TypeError,
    ValueError,
)  # fmt: skip

#: Part of the error that any import of a torchvision raises which was built for another torch.
TORCHVISION_MISMATCH = "torchvision::nms"


def pick_device(settings: ModelSettings) -> str:
    """Return the device to run on: as set, or CUDA where there is one."""
    import torch

    return settings.device or ("cuda" if torch.cuda.is_available() else "cpu")


def gpu_of(settings: ModelSettings) -> str | None:
    """Return the GPU that a model runs on, by one name however it is set: "cuda" is "cuda:0"; None: a processor."""
    import torch

    device = torch.device(pick_device(settings))
    return None if device.type == "cpu" else f"{device.type}:{device.index or 0}"


def pick_dtype(settings: ModelSettings) -> Any:
    """Return the torch dtype: as set, or bfloat16 on CUDA and float32 elsewhere."""
    import torch

    if settings.dtype is not None:
        dtype = getattr(torch, settings.dtype, None)
        if not isinstance(dtype, torch.dtype):
            raise NotReady(f"DTYPE={settings.dtype} is none of torch's; float32, float16 and bfloat16 are.")
        return dtype
    return torch.bfloat16 if pick_device(settings).startswith("cuda") else torch.float32


def load(loader: Callable[..., Any], settings: ModelSettings, **options: Any) -> Any:
    """Return what a `from_pretrained` makes of the model that is set: safetensors only, and no code that comes with it.

    Raises NotReady with a remedy."""
    name = _checked_name(settings)
    if pick_device(settings) == "cpu":
        malloc.keep_freed()
    fault = None if Path(name).is_dir() else hub_fault()
    if is_away := fault is not None:
        log.warning("hub not reached, only models on this machine are loaded", model=name, reason=fault)
    with named(name, is_away=is_away):
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # a log has no use for it
        # Without local_files_only the libraries retry for 40 s a file, also for a model that is on this machine.
        return loader(name, trust_remote_code=False, local_files_only=is_away, **options)


def fingerprint(model: str | None) -> str | None:
    """Return a text that differs for two models of one name: for a folder it has the sizes and times of its files."""
    folder = Path(model).expanduser() if model else None
    if folder is None or not folder.is_dir():
        return model
    files = [(str(path.relative_to(folder)), path.stat()) for path in sorted(folder.rglob("*")) if path.is_file()]
    told = repr([(name, found.st_size, found.st_mtime_ns) for name, found in files])
    return f"{model} {hashlib.sha256(told.encode()).hexdigest()}"


def weights(settings: ModelSettings) -> Mapping[str, Any]:
    """Return the options with which `load` reads weights."""
    return {"use_safetensors": True, "dtype": pick_dtype(settings)}


def place(model: Any, settings: ModelSettings) -> Any:
    """Return a model on its device, ready to answer. Raises NotReady where the device isn't there or is too small."""
    device = pick_device(settings)
    try:
        return model.to(device).eval()
    except (RuntimeError, AssertionError) as error:  # torch without CUDA raises the latter
        raise NotReady(f"{settings.model} can't be put on the device {device}: {first_line(error)}") from error


@contextmanager
def first_use(settings: ModelSettings) -> Iterator[None]:
    """Use a model for the first time in the `with` block: a GPU loads its programs only then, which takes seconds.

    Raises NotReady when the device has no program for the model, or too little memory."""
    try:
        yield
    except FAULTS as error:
        raise NotReady(
            f"{settings.model} can't be used on the device {pick_device(settings)}: {first_line(error)}"
        ) from error


@contextmanager
def named(name: str, *, is_away: bool = False) -> Iterator[None]:
    """Translate what libraries raise when a model can't be loaded into NotReady with a remedy.

    `is_away`: the hub can't be reached, which is then the reason for a file that is missing."""
    from safetensors import SafetensorError

    try:
        yield
    except (ImportError, OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        reason = AWAY if is_away and isinstance(error, OSError) else _reason(error)
        raise NotReady(f"The model {name} can't be loaded: {reason}") from error


def in_batches(
    items: Sequence[Item], size: int, run: Callable[[Sequence[Item]], Sequence[Result]]
) -> Iterator[tuple[int, Sequence[Result] | EngineUnavailable]]:
    """Yield the size and the results of each batch. A batch that does not fit the GPU's memory is halved.

    An item that does not fit alone yields an error."""
    import torch

    start = 0
    while start < len(items):
        batch = items[start : start + size]
        try:
            results = run(batch)
        except torch.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            if len(batch) > 1:
                size = max(1, len(batch) // 2)
                log.warning("batch halved, out of memory", size=size)
                continue
            log.warning("item left out, out of memory", reason=first_line(error))
            yield 1, EngineUnavailable("The GPU has too little memory for this input.")
            start += 1
            continue
        yield size, results
        start += len(batch)


def _checked_name(settings: ModelSettings) -> str:
    """Return the model's name; raises NotReady for a folder that isn't there, or has no safetensors."""
    name = settings.model or ""
    folder = Path(name).expanduser()
    if not folder.is_dir():
        if name.startswith(("/", ".", "~")):
            raise NotReady(
                f"There is no folder {name}; set MODEL to one that holds a model, or to its name at the hub."
            )
        return name
    if not any(folder.rglob("*.safetensors")):
        raise NotReady(
            f"The folder {name} holds no *.safetensors; other files of weights can hold programs and are not read. "
            "Convert them with save_pretrained(), or take a model that has them."
        )
    verify_in_place(folder)
    return str(folder)


def _reason(error: Exception) -> str:
    text = str(error)
    if "torchvision" in text.lower():
        if TORCHVISION_MISMATCH in text:
            return "torchvision was built for another torch; install the pair that belongs together, or uninstall it."
        return "it needs torchvision of the same release as torch; pip install torchvision, or take another model."
    if "trust_remote_code" in text or "remote code" in text:
        return "it comes with code of its own, which is never run; take a model that transformers knows."
    if "safetensors" in text and "no file named" in text:
        return "it has no model.safetensors; other files of weights can hold programs and are not read."
    if any(sign in text for sign in ("couldn't connect", "offline", "Connection", "resolve")):
        return AWAY
    return first_line(error)


def hub_fault() -> str | None:
    """Return why the Hugging Face hub can't be used; None: it answers."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    try:
        # The address is HF_ENDPOINT, which the operator sets.
        with urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=HUB_SECONDS):  # noqa: S310
            return None
    except HTTPError:
        return None
    except (OSError, HTTPException) as error:
        # The server answers, with a certificate that is unknown here. The libraries bring certificates of their own.
        if isinstance(getattr(error, "reason", None), ssl.SSLError):
            return None
        return f"{constants.ENDPOINT} can't be reached ({error})"


def first_line(error: Exception) -> str:
    """Return an error's first line."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
