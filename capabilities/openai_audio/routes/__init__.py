"""OpenAI's audio API over the kinds of speech and transcription (docs/openai.md)."""

from collections.abc import Mapping

from api.http.error_forms import ErrorForm
from api.services.services import Services
from api.work.work import Work
from capabilities.openai_audio.routes.errors import lacks_version, openai_error
from capabilities.openai_audio.routes.lists import ModelList, ModelResource, SpeechModels, SpeechVoices
from capabilities.openai_audio.routes.paths import MODELS, PATHS
from capabilities.openai_audio.routes.speech import OpenAISpeech
from capabilities.openai_audio.routes.transcriptions import OpenAITranscription, OpenAITranslation
from capabilities.speech.kinds.stream import SpeechStream
from capabilities.transcription.kinds.transcription import Transcription

__all__ = ["ERROR_FORMS", "MODELS", "PATHS", "WORK", "resources"]

WORK: Mapping[str, type[Work]] = {}
#: Clients whose base URL lacks /v1 ask for `/audio/` and `/models`.
ERROR_FORMS: Mapping[str, ErrorForm] = {"/v1/": openai_error, "/audio/": lacks_version, "/models": lacks_version}

SPEECH = "/v1/audio/speech"
TRANSCRIPTIONS = "/v1/audio/transcriptions"
TRANSLATIONS = "/v1/audio/translations"


def resources(services: Services) -> Mapping[str, object]:
    """Return the resources of all routes."""
    return {
        SPEECH: OpenAISpeech(services, services.kinds[SpeechStream.name], SPEECH),
        TRANSCRIPTIONS: OpenAITranscription(services, services.kinds[Transcription.name], TRANSCRIPTIONS),
        TRANSLATIONS: OpenAITranslation(services, services.kinds[Transcription.name], TRANSLATIONS),
        "/v1/audio/voices": SpeechVoices(services),
        "/v1/audio/models": SpeechModels(services),
        "/v1/models": ModelList(services),
        "/v1/models/{model}": ModelResource(services),
    }
