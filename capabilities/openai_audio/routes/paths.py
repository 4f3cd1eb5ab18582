"""Paths: these routes in the OpenAPI document. Their errors have a form of their own."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from api.openapi.document import WORK_ERRORS
from api.openapi.parts import FILE, JOB_PARAMETERS, PRICED, TEXT, WORK_HEADERS, Json, form_fields, json_answer, ref
from capabilities.openai_audio.routes.lists import ModelDocument, ModelListDocument, ModelNames, VoiceNames
from capabilities.openai_audio.routes.speech import SpeechBody
from capabilities.openai_audio.routes.transcriptions import TranscriptionBody, TranslationBody
from pipeline.audio_formats import MEDIA_TYPES

TAG = "openai"
EVENTS = "text/event-stream"
#: OpenAPI 3.1 has no schema for one event of many; 3.2 has itemSchema.
EVENT_STREAM: Json = {}
#: Errors of routes that make no job.
READ_ERRORS = ("401", "404", "429", "500", "503")

MEANINGS = {
    "400": "A field, header or body is invalid; `param` names it.",
    "401": "The key is missing or unknown.",
    "403": "This key may not do this.",
    "404": "No such model, or no such path.",
    "413": "The body or the file is too large.",
    "415": "This route does not take that content type.",
    "422": "This Idempotency-Key belongs to another request.",
    "429": "Too many requests, or (`insufficient_quota`) too few credits.",
    "500": "Internal error.",
    "503": "Try again after Retry-After seconds.",
}


class OpenAIErrorObject(BaseModel):
    """The error."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIError(BaseModel):
    """An error in OpenAI's form."""

    error: OpenAIErrorObject
    request_id: str


class OpenAISegment(BaseModel):
    """A segment, with how it was decoded if the engine tells."""

    id: int
    seek: int = Field(description="Start in hundredths of a second.")
    start: float
    end: float
    text: str
    tokens: list[int] | None = None
    temperature: float | None = None
    avg_logprob: float | None = None
    compression_ratio: float | None = None
    no_speech_prob: float | None = None


class OpenAIWord(BaseModel):
    """A word and its times in seconds."""

    word: str
    start: float
    end: float


class OpenAIUsage(BaseModel):
    """Seconds of audio."""

    type: Literal["duration"]
    seconds: int


class OpenAITranscript(BaseModel):
    """A transcript. Only text and usage come without verbose_json."""

    text: str
    usage: OpenAIUsage
    warnings: list[str] | None = Field(None, description="Not OpenAI's: parts left out, and why.")
    task: Literal["transcribe", "translate"] | None = None
    language: str | None = Field(None, description="English name of the language, such as english.")
    duration: float | None = None
    segments: list[OpenAISegment] | None = None
    words: list[OpenAIWord] | None = None


MODELS: Sequence[type[BaseModel]] = (
    OpenAITranscript,
    OpenAIError,
    ModelDocument,
    ModelListDocument,
    ModelNames,
    VoiceNames,
    SpeechBody,
)


def _errors(*statuses: str) -> Json:
    return {status: json_answer(ref(OpenAIError.__name__), MEANINGS[status]) for status in statuses}


def _work(summary: str, name: str, *, body: Json, content: Json) -> Json:
    statuses = [status for status in WORK_ERRORS if status != "402"]
    return {
        "post": {
            "operationId": f"openai_{name}",
            "tags": [TAG],
            "summary": summary,
            "parameters": JOB_PARAMETERS,
            "requestBody": {"required": True, "content": body},
            "responses": {
                "200": {"description": "The result.", "headers": WORK_HEADERS, "content": content},
                "204": PRICED,
                "202": json_answer(ref("Job"), "The job, with Location, if the request prefers not to wait."),
                **_errors(*statuses, "404"),
            },
        }
    }


def _form(body: type[BaseModel]) -> Json:
    schema = body.model_json_schema()
    fields = schema["properties"]
    lists = {name: field for name, field in fields.items() if field.get("type") == "array"}  # sent as name[], repeated
    schema["properties"] = {"file": FILE, **form_fields(fields), **lists}
    schema["required"] = ["file"]
    return {"multipart/form-data": {"schema": schema, "example": {"model": "whisper-1"}}}


def _transcript(model: type[BaseModel]) -> Json:
    texts = {name: {"schema": TEXT} for name in ("text/plain", "application/x-subrip", "text/vtt")}
    return {"application/json": {"schema": ref(model.__name__)}, **texts}


def _read(summary: str, name: str, model: type[BaseModel], *, is_open: bool = False, **more: Any) -> Json:
    statuses = ("500", "503") if is_open else READ_ERRORS
    operation = {
        "operationId": f"openai_{name}",
        "tags": [TAG],
        "summary": summary,
        "parameters": [],
        "responses": {"200": json_answer(ref(model.__name__), "The result."), **_errors(*statuses)},
        **more,
    }
    return {"get": operation | ({"security": []} if is_open else {})}


MODEL_PARAMETER: Json = {
    "name": "model",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
    "description": "The model's id.",
}

PATHS: Json = {
    "/v1/audio/speech": _work(
        "Speak a text; the audio is sent while it is made.",
        "speech",
        body={
            "application/json": {
                "schema": ref(SpeechBody.__name__),
                "example": {"model": "tts-1", "voice": "alloy", "input": "Good morning!"},
            }
        },
        content={
            **{name: {"schema": FILE} for name in MEDIA_TYPES.values()},
            EVENTS: EVENT_STREAM,
        },
    ),
    "/v1/audio/transcriptions": _work(
        "Transcribe a recording.",
        "transcriptions",
        body=_form(TranscriptionBody),
        content={**_transcript(OpenAITranscript), EVENTS: EVENT_STREAM},
    ),
    "/v1/audio/translations": _work(
        "Translate a recording into English, if a model here can.",
        "translations",
        body=_form(TranslationBody),
        content=_transcript(OpenAITranscript),
    ),
    "/v1/audio/voices": _read("List voices, for Open WebUI. Needs no key.", "voices", VoiceNames, is_open=True),
    "/v1/audio/models": _read(
        "List models that speak, for Open WebUI. Needs no key.", "names", ModelNames, is_open=True
    ),
    "/v1/models": _read("List models.", "models", ModelListDocument),
    "/v1/models/{model}": _read("Get a model.", "model", ModelDocument, parameters=[MODEL_PARAMETER]),
}
