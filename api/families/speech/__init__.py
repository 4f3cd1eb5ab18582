"""Speech: the voices that can speak, and an account's lexicon."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from api.families.speech.lexicon import LexiconDocument, LexiconRequest, LexiconResource, SpeakingStream, SpeakingWork
from api.families.speech.try_page import TRY
from api.families.speech.voices import Voices
from api.services import Services
from api.work import Work

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
    """Return the list of voices, and the lexicon."""
    return {"/tts/voices": Voices(services), "/tts/lexicon": LexiconResource(services)}
