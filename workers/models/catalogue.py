"""Catalogue: every model that an engine can run by itself, by name, as catalogue.toml lists them."""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from pipeline.errors import InvalidRequest

STRICT = ConfigDict(extra="forbid")
FILE = Path(__file__).with_name("catalogue.toml")
#: Names of models are names of folders too.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: The kinds of files that a model may have: weights that hold no program, and what describes them.
SAFE_SUFFIXES = frozenset({".safetensors", ".gguf", ".onnx", ".json", ".txt", ".jinja"})
#: Beside these, what the catalogue names: CTranslate2's model.bin, and bare numbers such as Kokoro's voices. Engines
#: read them as such; a file of the same suffix that the catalogue does not name may be a pickle, which is a program.
LISTED_SUFFIXES = SAFE_SUFFIXES | {".bin", ".npz"}


class ModelUnknown(InvalidRequest):
    """The catalogue has no model of that name."""

    code = "model_unknown"


@dataclass(frozen=True, slots=True, config=STRICT)
class File:
    """A file of a model."""

    #: Its path in the model's folder.
    name: str
    #: Hexadecimal; None: the first download decides, and writes it down.
    sha256: str | None = None
    size_bytes: int | None = None
    #: Its paths in installed packages, as `package/path/in/it`; several are parts to be joined.
    wheel: tuple[str, ...] = ()
    #: Its path in the hub's repository and in an npm package, where that is not `name`.
    hub: str | None = None
    #: The hub's version of it, if that has another hash and serves as well.
    at_hub: "File | None" = None

    def sized(self, size_bytes: int) -> "File":
        """Return the version that has this size, or else the first."""
        return self.at_hub if self.at_hub and self.at_hub.size_bytes == size_bytes else self


@dataclass(frozen=True, slots=True, config=STRICT)
class Hub:
    """A repository at the Hugging Face hub."""

    repo: str
    #: A commit, or a branch or tag whose commit the first download writes down.
    revision: str = "main"
    #: Patterns of the model's files, where the catalogue lists none, and of files to leave out.
    patterns: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    #: SHA-256 of files that match the patterns, as public repositories pin them.
    sha256: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, config=STRICT)
class Registries:
    """Packages of PyPI and npm that have a model's files; each file's hash is in the catalogue."""

    #: Requirements of wheels that have what the files' `wheel` names.
    pypi: tuple[str, ...] = ()
    #: The npm package that has the files without a wheel.
    npm: str | None = None


@dataclass(frozen=True, slots=True, config=STRICT)
class Needs:
    """The requirements of a model."""

    #: Memory, of the GPU if it needs one.
    memory_bytes: int = 0
    #: Memory that nothing else takes when the model is fetched or loaded.
    free_bytes: int = 0
    gpu: bool = False
    #: cuBLAS and cuDNN where the linker finds them; torch brings its own, CTranslate2 does not.
    cuda: bool = False
    #: AVX2, FMA, F16C and BMI2 of an x86-64 processor: llama.cpp's wheels are built with them.
    instructions: bool = False
    cores: int = 1
    #: Packages by the names that they are imported by.
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, config=STRICT)
class CatalogueModel:
    """Weights and what belongs to them, in one folder."""

    name: str
    family: str
    engine: str
    #: Its use, in one line.
    gives: str
    #: SPDX identifier.
    licence: str
    #: Its makers, and the model it was made from.
    origin: str
    size_bytes: int
    #: ISO 639-1 codes or BCP 47 tags; empty: all that the engine has.
    languages: tuple[str, ...] = ()
    #: Empty: those of the hub's repository that match its patterns.
    files: tuple[File, ...] = ()
    hub: Hub | None = None
    registries: Registries | None = None
    #: Small and good enough to be downloaded without being asked for.
    automatic: bool = False
    #: Downloaded when a request comes that it would answer better.
    on_demand: bool = False
    #: Further families of engines of the same name, which run the same files.
    also: tuple[str, ...] = ()
    needs: Needs = Needs()
    #: The name that alternatives share: of those one is enough, the first that suits the machine.
    one_of: str | None = None
    #: Values that only the engine reads: ids of voices, speakers, genders.
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def voices(self) -> tuple[str, ...]:
        """Return the ids of the voices that it brings, as its engine offers them: `voices` of its details."""
        return tuple(voice if isinstance(voice, str) else voice["id"] for voice in self.details.get("voices", ()))

    def serves(self, family: str, engine: str | None = None) -> bool:
        """Return whether a family's engine, or any of it, runs the model."""
        return family in (self.family, *self.also) and engine in (None, self.engine)

    @property
    def is_in_wheels(self) -> bool:
        """Return whether installed packages may have all of its files."""
        return bool(self.files) and all(file.wheel for file in self.files)


@cache
def read_catalogue(path: Path | None = None) -> Mapping[str, CatalogueModel]:
    """Return all models by name, in the file's order, which is the order of preference within an engine.

    Raises ValueError for an entry that is not as it should be."""
    path = path or FILE
    models: dict[str, CatalogueModel] = {}
    for entry in tomllib.loads(path.read_text("utf-8"))["model"]:
        model = _read(entry)
        if models.setdefault(model.name, model) is not model:
            raise ValueError(f"{path.name} has two models named {model.name}")
    return MappingProxyType(models)


def find_model(name: str, catalogue: Mapping[str, CatalogueModel] | None = None) -> CatalogueModel:
    """Return the model of that name. Raises ModelUnknown."""
    catalogue = read_catalogue() if catalogue is None else catalogue
    if name not in catalogue:
        raise ModelUnknown(f"The catalogue has no model {name!r}; `pressroom models list` shows those it has.")
    return catalogue[name]


def models_of(
    family: str, engine: str, catalogue: Mapping[str, CatalogueModel] | None = None
) -> Sequence[CatalogueModel]:
    """Return an engine's models in order of preference."""
    catalogue = read_catalogue() if catalogue is None else catalogue
    return [model for model in catalogue.values() if model.serves(family, engine)]


def is_safe(name: str, suffixes: Collection[str] = SAFE_SUFFIXES) -> bool:
    """Return whether a file of that path may belong to a model: it is relative, and of a kind that holds no program."""
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts and path.suffix in suffixes


def _read(entry: Mapping[str, Any]) -> CatalogueModel:
    size = sum(file.get("size_bytes", 0) for file in entry.get("files", ()))
    model = CatalogueModel(**{"size_bytes": size, **entry})
    if not NAME.fullmatch(model.name):
        raise ValueError(f"{model.name!r} is not a name for a model")
    for file in model.files:
        if not is_safe(file.name, LISTED_SUFFIXES):
            raise ValueError(f"{model.name} has a file {file.name!r}, which is of no safe kind")
    if model.registries and not all(file.sha256 for file in model.files):
        raise ValueError(f"{model.name} comes from a registry and lacks a SHA-256")
    if not model.files and not (model.hub and model.hub.patterns):
        raise ValueError(f"{model.name} lists no files")
    return model
