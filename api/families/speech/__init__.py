"""Speech: the voices that can speak."""

from collections.abc import Mapping
from typing import Any

from api.families.speech.openapi import GET_VOICES
from api.families.speech.voices import Voices
from api.services import Services
from api.work import Work

__all__ = ["PATHS", "WORK", "resources"]

WORK: Mapping[str, type[Work]] = {}
PATHS: Mapping[str, Any] = {"/tts/voices": {"get": GET_VOICES}}


def resources(services: Services) -> Mapping[str, object]:
    """Return the list of voices."""
    return {"/tts/voices": Voices(services)}
