"""Models: the names that clients of OpenAI's audio API may send, and what lists them."""

from dataclasses import dataclass
from typing import Literal

import falcon.asgi
from pydantic import BaseModel

from api.services.resource import Resource
from api.work.answers import show_json
from pipeline.errors import NotFound

Use = Literal["speech", "transcription"]

#: When OpenAI has published the first of these names, as clients want a moment in seconds since 1970.
CREATED = 1_677_532_384


class ModelNotFound(NotFound):
    """No model has that name here."""

    code = "model_not_found"

    def __init__(self, name: str, use: Use | None = None) -> None:
        known = [model.id for model in MODELS if use is None or use in model.uses]
        shown = name if len(name) <= 60 else name[:57] + "…"
        super().__init__(f"There is no model {shown!r} here; send one of {', '.join(known)}.", field="model")


@dataclass(frozen=True, slots=True)
class Model:
    """A name of a model, and what it may be asked for.

    All that speak are the same here: the voice decides which engine speaks. All that listen are the best model that
    this machine has."""

    id: str
    uses: tuple[Use, ...]


#: Ours, and all of OpenAI's that do what can be done here.
MODELS = (
    Model("pressroom", ("speech", "transcription")),
    Model("gpt-4o-mini-tts", ("speech",)),
    Model("gpt-4o-mini-tts-2025-03-20", ("speech",)),
    Model("gpt-4o-mini-tts-2025-12-15", ("speech",)),
    Model("tts-1", ("speech",)),
    Model("tts-1-hd", ("speech",)),
    Model("whisper-1", ("transcription",)),
    Model("gpt-transcribe", ("transcription",)),
    Model("gpt-4o-transcribe", ("transcription",)),
    Model("gpt-4o-mini-transcribe", ("transcription",)),
    Model("gpt-4o-mini-transcribe-2025-03-20", ("transcription",)),
    Model("gpt-4o-mini-transcribe-2025-12-15", ("transcription",)),
)


def require_model(name: str, use: Use) -> None:
    """Refuse a name that is none of a model for this use. Raises ModelNotFound."""
    if not any(model.id == name and use in model.uses for model in MODELS):
        raise ModelNotFound(name, use)


class ModelDocument(BaseModel):
    """A model, as OpenAI's clients read it."""

    id: str
    object: Literal["model"] = "model"
    created: int = CREATED
    owned_by: str = "pressroom"


class ModelListDocument(BaseModel):
    """All models."""

    object: Literal["list"] = "list"
    data: list[ModelDocument]


class ModelList(Resource):
    """GET /v1/models."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with all names that are taken."""
        await self._services.authenticate_reader(req)
        listed = ModelListDocument(data=[ModelDocument(id=model.id) for model in MODELS])
        show_json(resp, listed.model_dump(mode="json"))


class ModelResource(Resource):
    """GET /v1/models/{model}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, model: str) -> None:
        """Answer with one of them. Raises ModelNotFound."""
        await self._services.authenticate_reader(req)
        if model not in {known.id for known in MODELS}:
            raise ModelNotFound(model)
        show_json(resp, ModelDocument(id=model).model_dump(mode="json"))


class ModelName(BaseModel):
    """A model, by its id and what people are shown."""

    id: str
    name: str


class ModelNames(BaseModel):
    """The models that speak."""

    models: list[ModelName]


class SpeechModels(Resource):
    """GET /v1/audio/models, which Open WebUI asks for; needs no key, as it sends none."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with the names of models that speak."""
        speaking = [ModelName(id=model.id, name=model.id) for model in MODELS if "speech" in model.uses]
        show_json(resp, ModelNames(models=speaking).model_dump(mode="json"))
