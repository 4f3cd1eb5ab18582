"""OpenAI: its audio API over the kinds of speech and of transcription (docs/openai.md)."""

from collections.abc import Mapping

from api.error_forms import ErrorForm
from api.families.openai.errors import lacks_version, openai_error
from api.families.openai.models import ModelList, ModelResource, SpeechModels
from api.families.openai.paths import MODELS, PATHS
from api.families.openai.speech import OpenAISpeech
from api.families.openai.transcriptions import OpenAITranscription, OpenAITranslation
from api.families.openai.voices import SpeechVoices
from api.services import Services
from api.work import Work
from pipeline.kinds.speech.stream import SpeechStream
from pipeline.kinds.transcription.transcription import Transcription

__all__ = ["ERROR_FORMS", "MODELS", "PATHS", "WORK", "resources"]

WORK: Mapping[str, type[Work]] = {}
#: `/audio/` and `/models` are what clients ask for whose base URL lacks /v1.
ERROR_FORMS: Mapping[str, ErrorForm] = {"/v1/": openai_error, "/audio/": lacks_version, "/models": lacks_version}

SPEECH = "/v1/audio/speech"
TRANSCRIPTIONS = "/v1/audio/transcriptions"
TRANSLATIONS = "/v1/audio/translations"


def resources(services: Services) -> Mapping[str, object]:
    """Return all of it."""
    return {
        SPEECH: OpenAISpeech(services, services.kinds[SpeechStream.name], SPEECH),
        TRANSCRIPTIONS: OpenAITranscription(services, services.kinds[Transcription.name], TRANSCRIPTIONS),
        TRANSLATIONS: OpenAITranslation(services, services.kinds[Transcription.name], TRANSLATIONS),
        "/v1/audio/voices": SpeechVoices(services),
        "/v1/audio/models": SpeechModels(services),
        "/v1/models": ModelList(services),
        "/v1/models/{model}": ModelResource(services),
    }
