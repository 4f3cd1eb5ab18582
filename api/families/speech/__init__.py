"""Speech: the voices that can speak."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from api.families.speech.voices import Voices
from api.services import Services
from api.work import Work

__all__ = ["MODELS", "PATHS", "WORK", "resources"]

WORK: Mapping[str, type[Work]] = {}
PATHS: Mapping[str, Any] = json.loads(files(__name__).joinpath("openapi.json").read_text("utf-8"))
MODELS = ()


def resources(services: Services) -> Mapping[str, object]:
    """Return the list of voices."""
    return {"/tts/voices": Voices(services)}
