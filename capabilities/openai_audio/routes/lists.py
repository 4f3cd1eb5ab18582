"""Lists: the names of models and voices that clients of OpenAI's audio API may send."""

from collections.abc import Mapping, Sequence
from typing import Literal

import falcon.asgi
from pydantic import BaseModel

from api.services.resource import Resource
from api.work.answers import show_json
from capabilities.speech.voices.offered_voices import offered_voices, voice_aliases
from pipeline.errors import NotFound

Use = Literal["speech", "transcription"]
#: When OpenAI published the first of these names, in seconds since 1970, which clients want.
CREATED = 1_677_532_384
#: Our name, and OpenAI's for what can be done here. All that speak are the same: the voice decides which engine speaks.
#: All that listen are the best model of this machine.
MODELS: Mapping[str, Sequence[Use]] = {
    "pressroom": ("speech", "transcription"),
    "gpt-4o-mini-tts": ("speech",),
    "gpt-4o-mini-tts-2025-03-20": ("speech",),
    "gpt-4o-mini-tts-2025-12-15": ("speech",),
    "tts-1": ("speech",),
    "tts-1-hd": ("speech",),
    "whisper-1": ("transcription",),
    "gpt-transcribe": ("transcription",),
    "gpt-4o-transcribe": ("transcription",),
    "gpt-4o-transcribe-diarize": ("transcription",),
    "gpt-4o-mini-transcribe": ("transcription",),
    "gpt-4o-mini-transcribe-2025-03-20": ("transcription",),
    "gpt-4o-mini-transcribe-2025-12-15": ("transcription",),
}


class ModelNotFound(NotFound):
    """There is no model of that name."""

    code = "model_not_found"

    def __init__(self, name: str, use: Use | None = None) -> None:
        known = [model for model, uses in MODELS.items() if use is None or use in uses]
        shown = name if len(name) <= 60 else name[:57] + "…"
        super().__init__(f"There is no model {shown!r} here; send one of {', '.join(known)}.", field="model")


def require_model(name: str, use: Use) -> None:
    """Raise ModelNotFound unless there is a model of that name for this use."""
    if use not in MODELS.get(name, ()):
        raise ModelNotFound(name, use)


class ModelDocument(BaseModel):
    """A model."""

    id: str
    object: Literal["model"] = "model"
    created: int = CREATED
    owned_by: str = "pressroom"


class ModelListDocument(BaseModel):
    """All models."""

    object: Literal["list"] = "list"
    data: list[ModelDocument]


class Named(BaseModel):
    """A model or a voice, by the value to send and the name to show."""

    id: str
    name: str


class ModelNames(BaseModel):
    """The models that speak."""

    models: list[Named]


class VoiceNames(BaseModel):
    """OpenAI's names, then the voices that can speak now."""

    voices: list[Named]


class ModelList(Resource):
    """GET /v1/models."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        await self._services.authenticate_reader(req)
        listed = ModelListDocument(data=[ModelDocument(id=name) for name in MODELS])
        show_json(resp, listed.model_dump(mode="json"))


class ModelResource(Resource):
    """GET /v1/models/{model}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, model: str) -> None:
        await self._services.authenticate_reader(req)
        if model not in MODELS:
            raise ModelNotFound(model)
        show_json(resp, ModelDocument(id=model).model_dump(mode="json"))


class SpeechModels(Resource):
    """GET /v1/audio/models; needs no key, since Open WebUI sends none."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        speaking = [Named(id=name, name=name) for name, uses in MODELS.items() if "speech" in uses]
        show_json(resp, ModelNames(models=speaking).model_dump(mode="json"))


class SpeechVoices(Resource):
    """GET /v1/audio/voices; needs no key, since Open WebUI sends none."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with all voices, natural ones first, as a list of 300 is read from its start."""
        ready = offered_voices(await self._services.offer_cache.offers()).ready
        names = [Named(id=name, name=name.title()) for name in voice_aliases()]
        names += [
            Named(id=voice.id, name=f"{voice.display_name} ({voice.language_codes[0]})")
            for voice in sorted(ready, key=lambda voice: voice.quality != "natural")
        ]
        show_json(resp, VoiceNames(voices=names).model_dump(mode="json"))
