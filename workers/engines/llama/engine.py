"""Engine: the common parts of engines that llama.cpp runs; those of one model share its process."""

import importlib.util
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pipeline.errors import NotReady
from pipeline.settings.fields import GgufSettings
from workers.engines.llama.server import LlamaServer, ServerOptions
from workers.engines.model_choice import OFF
from workers.models.advice import remedy
from workers.models.catalogue import read_catalogue
from workers.models.machine import count_cores, free_memory, gigabytes, missing_instructions, this_machine
from workers.models.store import verify_in_place

#: Memory beside the weights for one slot, and for each further one: context, buffers and the process itself.
OVERHEAD_BYTES, SLOT_BYTES = 600 * 10**6, 300 * 10**6
#: Tokens that one slot needs for a post or a picture with its instructions, and that all slots share.
SLOT_TOKENS = 4_096
#: Tokens of a picture, where the catalogue does not say how many suit the model.
IMAGE_TOKENS = 256
#: Part of the name of a projector's file, as llama.cpp's converter writes it.
PROJECTOR = "mmproj"


class LlamaEngine:
    """A model of GGUF files. A subclass has the family, and asks `server`."""

    name = "llama"
    family: str
    #: True if the model must see, so that it needs a projector.
    sees: bool
    #: True if `setup` takes seconds, in which another engine may work.
    loads_long = True

    def __init__(self, settings: GgufSettings, *, threads: int | None = None) -> None:
        self._settings = settings
        self._threads = threads

    @property
    def model(self) -> str | None:
        """Return the folder of its model."""
        return self._settings.model

    def readiness(self) -> str | None:
        """Return the model's missing needs; None: it can be loaded. Imports nothing of llama.cpp."""
        if self.model == OFF:
            return f"PRESSROOM_{self.family.upper()}__LLAMA__MODEL is {OFF}, so it is not used"
        if importlib.util.find_spec("xllamacpp") is None:
            return "xllamacpp is not installed: it has wheels for Linux (x86-64, arm64) and macOS on arm64"
        if lacking := missing_instructions():
            return f"llama.cpp needs a processor with {', '.join(lacking)}, which this one lacks"
        if self.model is None:
            return f"no model is here; {remedy(self.family, self.name, this_machine())}"
        try:
            self._options()
        except NotReady as error:
            return error.message
        return None

    def setup(self) -> None:
        """Load the model, once for all engines of this process that have the same. Raises NotReady."""
        verify_in_place(Path(self._folder()))
        self.server.start()

    @property
    def server(self) -> LlamaServer:
        """Return the model's process. Raises NotReady."""
        return shared_server(self._options())

    @property
    def details(self) -> Mapping[str, Any]:
        """Return the catalogue's entry of the model, if any."""
        known = read_catalogue().get(Path(self.model or "").name)
        return {} if known is None else known.details

    def _folder(self) -> Path:
        return Path(self.model or "").expanduser()

    def _options(self) -> ServerOptions:
        """Return how the model is run. Raises NotReady when files or memory are missing."""
        folder = self._folder()
        files = sorted(folder.glob("*.gguf"))
        projectors = [file for file in files if PROJECTOR in file.name]
        models = [file for file in files if file not in projectors]
        if len(models) != 1 or len(projectors) > 1 or (self.sees and not projectors):
            raise NotReady(
                f"{folder} must hold one model and its projector ({PROJECTOR}*.gguf); it has {len(files)} files"
            )
        options = ServerOptions(
            model=str(models[0]),
            projector=str(projectors[0]) if projectors else None,
            image_tokens=self.details.get("image_tokens", IMAGE_TOKENS),
            threads=self._threads or count_cores(),
        )
        return _sized(options, sum(file.stat().st_size for file in files))


@lru_cache(maxsize=8)
def shared_server(options: ServerOptions) -> LlamaServer:
    """Return the server of a model: the same for all who ask in this process."""
    return LlamaServer(options)


@lru_cache(maxsize=8)
def _sized(options: ServerOptions, size: int) -> ServerOptions:
    """Return options with as many slots as the memory holds; the first look counts. Raises NotReady."""
    free, needed = free_memory(), size + OVERHEAD_BYTES
    if free < needed:
        name = Path(options.model).parent.name
        raise NotReady(f"{name} takes {gigabytes(needed)} of memory; {gigabytes(free)} are free")
    slots = 2 if free >= 2 * needed + SLOT_BYTES else 1
    return replace(options, slots=slots, context=SLOT_TOKENS * slots)


_CHARACTER = r'([^"\\\x7F\x00-\x1F] | "\\" ["\\/bfnrt])'


def grammar_of(schema: Mapping[str, Any]) -> str:
    """Return the grammar of an object, array, enum or string; lengths of strings and arrays must be bounded."""
    return f"root ::= {_rule(schema)}\n"


def _rule(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "(" + " | ".join(_literal(json.dumps(value, ensure_ascii=False)) for value in schema["enum"]) + ")"
    if schema["type"] == "string":
        return rf'"\"" {_CHARACTER}{{{schema["minLength"]},{schema["maxLength"]}}} "\""'
    if schema["type"] == "array":
        item = _rule(schema["items"])
        return f'"[" {item} ({_literal(", ")} {item}){{{schema["minItems"] - 1},{schema["maxItems"] - 1}}} "]"'
    parts = [
        f"{_literal(('' if place == 0 else ', ') + json.dumps(name) + ': ')} {_rule(field)}"
        for place, (name, field) in enumerate(schema["properties"].items())
    ]
    return f'"{{" {" ".join(parts)} "}}"'


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
