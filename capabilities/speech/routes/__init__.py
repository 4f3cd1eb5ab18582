"""The routes of speech: the kinds that speak, the voices, and an account's lexicon."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from api.services.services import Services
from api.work.work import Work
from capabilities.speech.routes.lexicon import (
    LexiconDocument,
    LexiconRequest,
    LexiconResource,
    SpeakingStream,
    SpeakingWork,
)
from capabilities.speech.routes.try_page import TRY
from capabilities.speech.routes.voices import Voices

__all__ = ["MODELS", "PATHS", "TRY", "WORK", "resources"]

WORK: Mapping[str, type[Work]] = {
    "/tts": SpeakingWork,
    "/tts/batch": SpeakingWork,
    "/tts/stream": SpeakingStream,
    "/tts/with-music": SpeakingWork,
}
PATHS: Mapping[str, Any] = json.loads(files(__name__).joinpath("openapi.json").read_text("utf-8"))
MODELS = (LexiconRequest, LexiconDocument)


def resources(services: Services) -> Mapping[str, object]:
    """Return the other routes."""
    return {"/tts/voices": Voices(services), "/tts/lexicon": LexiconResource(services)}
