"""The engines of each family, by name: one line an engine, imported when its pool first needs it."""

import importlib
from typing import Any, Protocol, Self

from pipeline.errors import NotReady
from pipeline.offers import preferred_engines
from pipeline.settings import Settings

ENGINES: dict[str, dict[str, str]] = {
    "captioning": {
        "vlm": "workers.engines.captioning.vlm:Vlm",
        "blip": "workers.engines.captioning.blip:Blip",
        "basic": "workers.engines.captioning.basic.basic:Basic",
    },
    "synthesis": {
        "edge": "workers.engines.synthesis.edge.edge:Edge",
        "espeak": "workers.engines.synthesis.espeak.espeak:Espeak",
    },
    "transcription": {
        "whisper": "workers.engines.transcription.whisper.whisper:Whisper",
        "sphinx": "workers.engines.transcription.sphinx:Sphinx",
    },
    "pictures": {
        "diffusion": "workers.engines.pictures.diffusion.diffusion:Diffusion",
        "drawn": "workers.engines.pictures.drawn.drawn:Drawn",
    },
    "metadata": {
        "llm": "workers.engines.metadata.llm.llm:Llm",
        "extractive": "workers.engines.metadata.extractive.extractive:Extractive",
    },
    "search": {
        "duckduckgo": "workers.engines.search.duckduckgo:DuckDuckGo",
        "bing": "workers.engines.search.bing:Bing",
        "google": "workers.engines.search.google:Google",
        "searxng": "workers.engines.search.searxng:Searxng",
        "brave_api": "workers.engines.search.brave_api:BraveApi",
        "serper": "workers.engines.search.serper:Serper",
        "serpapi": "workers.engines.search.serpapi:SerpApi",
    },
}


class Engine(Protocol):
    """What every engine of every family has."""

    name: str

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the engine as the operator wants it, not set up yet."""

    def readiness(self) -> str | None:
        """Return what is missing before it can be set up; None: nothing."""

    def setup(self) -> None:
        """Load what it needs, once a process. Raises NotReady."""


def load_engines(settings: Settings, family: str) -> list[Any]:
    """Return a family's engines in order of preference, not set up yet. Raises NotReady for a name nobody knows."""
    known = ENGINES[family]
    engines = []
    for name in preferred_engines(settings, family):
        if name not in known:
            listed = ", ".join(sorted(known))
            setting = f"PRESSROOM_{family.upper()}__{'PROVIDERS' if family == 'search' else 'ENGINES'}"
            raise NotReady(f"{setting} names {name!r}; the {family} engines are {listed}.")
        module, _, attribute = known[name].partition(":")
        engines.append(getattr(importlib.import_module(module), attribute).from_settings(settings))
    return engines
