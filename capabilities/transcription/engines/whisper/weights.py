"""Weights: the Whisper model to run, and the folder of its files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from capabilities.transcription.settings import TranscriptionSettings
from pipeline.errors import NotReady, PressroomError
from pipeline.log import get_logger
from pipeline.settings import Settings
from pipeline.settings.fields import ModelsSettings
from workers.engines.model_choice import OFF
from workers.engines.models import fingerprint, first_line, hub_fault
from workers.models.advice import can_run
from workers.models.catalogue import CatalogueModel
from workers.models.fetching import fetch
from workers.models.machine import Machine
from workers.models.sources.hub import hub_errors
from workers.models.store import ModelStore

log = get_logger(__name__)

FAMILY, ENGINE = "transcription", "whisper"
SETTING = "PRESSROOM_TRANSCRIPTION__WHISPER__MODEL"
#: Files that a model must have. Without a tokenizer, faster-whisper downloads that of another model, whose words may
#: have other numbers.
NEEDED = ("model.bin", "tokenizer.json")
#: Sizes that have another name in the catalogue.
ALIASES = {"turbo": "large-v3-turbo"}


@dataclass(frozen=True, slots=True)
class Weights:
    """The files of a model. Models whose texts may differ have different names."""

    name: str
    folder: str
    #: True if a processor would be too slow for it.
    needs_gpu: bool = False


def in_catalogue(name: str, store: ModelStore) -> CatalogueModel | None:
    """Return the catalogue's model of a name such as `whisper-small` or a size such as `small`, or None."""
    for known in (name, f"whisper-{ALIASES.get(name, name)}"):
        model = store.catalogue.get(known)
        if model is not None and (model.family, model.engine) == (FAMILY, ENGINE):
            return model
    return None


def in_order(here: Sequence[CatalogueModel], machine: Machine) -> Sequence[CatalogueModel]:
    """Return models in order of preference.

    Those fetched that the machine can run come first, then larger ones that somebody fetched nevertheless, the smallest
    first. The installed ones follow, then those that are slow without a GPU, and English alone."""

    def rank(model: CatalogueModel) -> tuple[bool, bool, bool, int]:
        is_fit = can_run(machine, model)
        is_installed = model.is_in_wheels
        lacks_gpu = model.needs.gpu and not is_fit
        place = here.index(model)
        return len(model.languages) == 1, lacks_gpu, is_installed, place if is_fit else len(here) + model.size_bytes

    return sorted(here, key=rank)


def find_weights(settings: Settings, store: ModelStore, machine: Machine) -> Iterator[Weights]:
    """Yield the model of the settings, downloaded if need be, or else those here, in order of preference.

    Raises NotReady."""
    if (wanted := settings.of(TranscriptionSettings).whisper.model) is not None:
        yield _find_set(wanted, store, settings.models)
        return
    damaged: NotReady | None = None
    for model in in_order(store.here(FAMILY, ENGINE), machine):
        try:
            folder = store.folder(model)
        except NotReady as error:
            log.warning("model not used", engine=ENGINE, model=model.name, needs=error.message)
            damaged = error
            continue
        if folder is not None:
            yield Weights(model.name, str(folder), model.needs.gpu)
    if damaged is not None:
        raise damaged


def missing(settings: Settings, store: ModelStore) -> str | None:
    """Return a model's missing needs, without asking the hub, or None."""
    setting = settings.of(TranscriptionSettings).whisper.model
    if setting is not None:
        return _missing(setting, store, settings.models)
    absent = store.missing(FAMILY, ENGINE)
    return None if store.here(FAMILY, ENGINE) else f"no model is here; {_command(absent[-1])}"


def _missing(setting: str, store: ModelStore, models: ModelsSettings) -> str | None:
    if setting == OFF:
        return f"{SETTING} is {OFF}, so it is not used"
    folder = Path(setting).expanduser()
    if folder.is_dir():
        lacking = _lacking(folder)
        return lacking and (
            f"The model {setting!r} can't be used: there is no {lacking} in that folder. Convert it with "
            "`ct2-transformers-converter … --copy_files tokenizer.json preprocessor_config.json`."
        )
    if (model := in_catalogue(setting, store)) is not None:
        is_missing = models.download == "never" and not store.is_here(model)
        return f"{SETTING} is {setting!r}, which is not here; {_command(model)}" if is_missing else None
    if setting.startswith(("/", ".", "~")) or setting.count("/") > 1:
        return f"{SETTING} is {setting!r}, and there is no such folder."
    return None


def _find_set(setting: str, store: ModelStore, models: ModelsSettings) -> Weights:
    if (needs := _missing(setting, store, models)) is not None:
        raise NotReady(needs)
    folder = Path(setting).expanduser()
    if folder.is_dir():
        return Weights(fingerprint(setting) or setting, str(folder))
    if (model := in_catalogue(setting, store)) is not None:
        return Weights(model.name, _fetched(model, store, models))
    return Weights(setting, _downloaded(setting, models))


def _fetched(model: CatalogueModel, store: ModelStore, models: ModelsSettings) -> str:
    """Return the folder of a catalogue's model, downloaded if need be."""
    try:
        return str(store.folder(model) or fetch(store, model, stall_seconds=models.stall_seconds))
    except NotReady:
        raise
    except PressroomError as error:
        raise NotReady(
            f"{SETTING} is {model.name}, which is not here. {error.message} Later {_command(model)}"
        ) from error


def _command(model: CatalogueModel) -> str:
    return f"`pressroom models fetch {model.name}` downloads it"


def _downloaded(setting: str, models: ModelsSettings) -> str:
    """Return the folder of a model that only the hub has, downloaded if need be."""
    from faster_whisper.utils import download_model

    try:
        folder = str(download_model(setting, local_files_only=True))
    except ValueError as error:  # neither a size nor a name
        raise NotReady(f"{SETTING} is {setting!r}, which is neither a folder nor a model: {error}") from error
    except OSError:
        folder = ""
    # An incomplete download is found too.
    if folder and _lacking(Path(folder)) is None:
        return folder
    fault = "PRESSROOM_MODELS__DOWNLOAD is never" if models.download == "never" else hub_fault()
    if fault is not None:
        raise NotReady(
            f"The model {setting!r} is not on this machine, and {fault}. Download it where there is a network "
            f"(`hf download NAME --local-dir FOLDER`), set {SETTING} to that folder, and start the pool again."
        )
    log.info("model is being downloaded", model=setting)
    try:
        return str(download_model(setting))
    except hub_errors() as error:
        raise NotReady(
            f"The model {setting!r} could not be downloaded: {first_line(error)} Start the pool again to go on with it."
        ) from error


def _lacking(folder: Path) -> str | None:
    return " and no ".join(name for name in NEEDED if not (folder / name).is_file()) or None
