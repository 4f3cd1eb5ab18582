"""The routes of speech: the kinds that speak, the voices, and an account's lexicon."""

from collections.abc import Mapping

from api.services.resource import Resource
from api.work.work import Work
from capabilities.speech.routes.lexicon import LexiconResource, SpeakingStream, SpeakingWork
from capabilities.speech.routes.try_page import TRY
from capabilities.speech.routes.voices import Voices

__all__ = ["RESOURCES", "TRY", "WORK"]

WORK: Mapping[str, type[Work]] = {
    "/tts": SpeakingWork,
    "/tts/batch": SpeakingWork,
    "/tts/stream": SpeakingStream,
    "/tts/with-music": SpeakingWork,
}
RESOURCES: Mapping[str, type[Resource]] = {"/tts/voices": Voices, "/tts/lexicon": LexiconResource}
