"""OpenAI's audio API over the kinds of speech and transcription (docs/openai.md)."""

from collections.abc import Callable, Mapping

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

__all__ = ["ERROR_FORMS", "MODELS", "PATHS", "RESOURCES"]

#: Clients whose base URL lacks /v1 ask for `/audio/` and `/models`.
ERROR_FORMS: Mapping[str, ErrorForm] = {"/v1/": openai_error, "/audio/": lacks_version, "/models": lacks_version}

SPEECH = "/v1/audio/speech"
TRANSCRIPTIONS = "/v1/audio/transcriptions"
TRANSLATIONS = "/v1/audio/translations"


def _at(route: str, resource: type[Work], kind: str) -> Callable[[Services], Work]:
    return lambda services: resource(services, services.kinds[kind], route)


RESOURCES: Mapping[str, Callable[[Services], object]] = {
    SPEECH: _at(SPEECH, OpenAISpeech, SpeechStream.name),
    TRANSCRIPTIONS: _at(TRANSCRIPTIONS, OpenAITranscription, Transcription.name),
    TRANSLATIONS: _at(TRANSLATIONS, OpenAITranslation, Transcription.name),
    "/v1/audio/voices": SpeechVoices,
    "/v1/audio/models": SpeechModels,
    "/v1/models": ModelList,
    "/v1/models/{model}": ModelResource,
}
