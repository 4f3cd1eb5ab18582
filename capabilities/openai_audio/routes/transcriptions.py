"""Transcriptions and translations of OpenAI's clients, as jobs of /tts/stt and /tts/stt/stream."""

import codecs
from typing import Any, ClassVar, Literal, get_args

import falcon.asgi
from pydantic import BaseModel, Field

from api.http.bodies.fields import FieldsInvalid, missing, read_fields
from api.http.bodies.forms import FormShape, Upload
from api.services.waiting import Waiter
from api.work.preferences import Preference
from api.work.streamed_work import StreamedWork
from api.work.submitting import Order
from api.work.work import Work
from capabilities.openai_audio.routes import sse
from capabilities.openai_audio.routes.lists import require_model
from capabilities.transcription.kinds.transcription import (
    AUTO,
    MAX_PROMPT,
    RecordingRequest,
    TranscriptionStream,
    TranscriptionStreamRequest,
)
from capabilities.transcription.kinds.transcripts import MOST_SPEAKERS, Form, Granularity, Task
from pipeline.accounts.keys import Caller
from pipeline.errors import InvalidRequest
from pipeline.kind import AnyKind, Request
from pipeline.lifecycle import Submitted
from pipeline.offers.languages import MAX_TAG

#: OpenAI's name of the file, and ours.
FILE, OURS = "file", "audio"

ResponseFormat = Literal["json", "text", "srt", "verbose_json", "vtt", "diarized_json"]
#: Forms whose content differs from ours.
FORMS: dict[ResponseFormat, Form] = {
    "json": "openai_json",
    "verbose_json": "openai_verbose_json",
    "diarized_json": "openai_diarized_json",
}


class StreamNotOfForm(InvalidRequest):
    """Only text can be streamed."""

    code = "stream_not_of_form"


class OpenAIRecording(RecordingRequest):
    """Our request with an answer in OpenAI's form."""

    response_format: Form
    timestamp_granularities: tuple[Granularity, ...] = ()
    speakers: int | None = None

    @property
    def form(self) -> Form:
        return self.response_format

    @property
    def granularities(self) -> tuple[Granularity, ...]:
        return self.timestamp_granularities

    @property
    def told_apart(self) -> bool:
        return self.response_format == "openai_diarized_json"

    @property
    def people(self) -> int | None:
        return self.speakers


class TranslationBody(Request):
    """The form of OpenAI's clients for a translation."""

    model: str = Field("whisper-1", description="One of GET /v1/models that listens; all are the same here.")
    prompt: str | None = Field(None, description="Names and words in the recording; the last 1,000 characters count.")
    response_format: ResponseFormat = Field("json", description="The form of the answer.")
    speakers: int | None = Field(
        None, ge=1, le=MOST_SPEAKERS, description="Not OpenAI's: how many people speak, for diarized_json."
    )
    temperature: float | None = Field(None, ge=0, le=1, description="Accepted without effect.")

    task: ClassVar[Task] = "translate"
    #: Fields that a form repeats for each entry.
    lists: ClassVar[frozenset[str]] = frozenset()

    @property
    def is_streamed(self) -> bool:
        """Return whether the text is streamed."""
        return False

    def recording(self) -> RecordingRequest:
        """Return our request for it. Raises StreamNotOfForm."""
        fields = self.common()
        if not self.is_streamed:
            form = FORMS.get(self.response_format, self.response_format)
            timed = self.timed() if form == "openai_verbose_json" else ()
            return OpenAIRecording(
                **fields, response_format=form, timestamp_granularities=timed, speakers=self.speakers
            )
        if self.response_format not in {"json", "text"}:
            raise StreamNotOfForm(
                f"A stream can't be {self.response_format}: send response_format=json, or no stream.", field="stream"
            )
        return TranscriptionStreamRequest(**fields)

    def common(self) -> dict[str, Any]:
        """Return the fields of any request of ours."""
        # Whisper reads the end of a long prompt, and we its beginning.
        prompt = (self.prompt or "").strip()[-MAX_PROMPT:]
        return {"task": self.task} | ({"prompt": prompt} if prompt else {})

    def timed(self) -> tuple[Granularity, ...]:
        """Return the times in the answer."""
        return ("segment",)


class TranscriptionBody(TranslationBody):
    """The form of OpenAI's clients for a transcription."""

    language: str | None = Field(None, max_length=MAX_TAG, description="Language spoken, ISO 639-1. Default: detected.")
    timestamp_granularities: list[Granularity] = Field(
        [], max_length=2, description="With verbose_json: word, segment or both. Default: segment."
    )
    stream: bool | None = Field(None, description="Stream the text as events.")
    keywords: list[str] = Field(
        [], max_length=100, description="Names and words in the recording, added to the prompt."
    )
    languages: list[str] = Field(
        [], max_length=20, description="Languages that may be spoken; counts only if there is one."
    )

    task: ClassVar[Task] = "transcribe"
    lists: ClassVar[frozenset[str]] = frozenset({"timestamp_granularities", "keywords", "languages"})

    @property
    def is_streamed(self) -> bool:
        return bool(self.stream)

    def common(self) -> dict[str, Any]:
        only = self.languages[0] if len(self.languages) == 1 else AUTO
        prompt = ", ".join(filter(None, (super().common().get("prompt"), *self.keywords)))[-MAX_PROMPT:]
        fields: dict[str, Any] = {"task": self.task, "language": self.language or only}
        return fields | ({"prompt": prompt} if prompt else {})

    def timed(self) -> tuple[Granularity, ...]:
        return tuple(name for name in get_args(Granularity) if name in self.timestamp_granularities) or ("segment",)


class OpenAITranslation(StreamedWork):
    """POST /v1/audio/translations."""

    body: type[TranslationBody] = TranslationBody

    async def _order_of(self, req: falcon.asgi.Request, caller: Caller, request: BaseModel, upload: Upload) -> Order:
        if not isinstance(request, TranslationBody):
            return await super()._order_of(req, caller, request, upload)
        require_model(request.model, "transcription")
        req.context.body = request
        return await super()._order_of(req, caller, request.recording(), upload)

    def _form_shape(self) -> FormShape:
        texts = self.body.model_fields.keys() - self.body.lists
        return FormShape({FILE: OURS}, frozenset(texts), self.body.lists)

    def _checked(self, sent: bytes | dict[str, Any], upload: Upload) -> BaseModel:
        if OURS not in upload.hashes:
            raise FieldsInvalid([missing(FILE)])
        # An empty field of a form was not filled in.
        filled = {name: value for name, value in sent.items() if value != ""} if isinstance(sent, dict) else sent
        return read_fields(self.body, filled)

    def _kind_of(self, request: BaseModel) -> AnyKind:
        streamed: AnyKind = self._services.kinds[TranscriptionStream.name]
        return streamed if isinstance(request, TranscriptionStreamRequest) else self._kind

    async def _answer(
        self, order: Order, submitted: Submitted, preference: Preference, waiter: Waiter, resp: falcon.asgi.Response
    ) -> None:
        body: TranslationBody = resp.context.request.context.body
        if not body.is_streamed:
            await Work._answer(self, order, submitted, preference, waiter, resp)
            return
        await super()._answer(order, submitted, preference, waiter, resp)
        if resp.stream is not None:
            text = _Text()
            sse.show_events(resp, delta=text.delta, done=text.done)


class OpenAITranscription(OpenAITranslation):
    """POST /v1/audio/transcriptions."""

    body = TranscriptionBody


class _Text:
    """The text of a stream so far."""

    def __init__(self) -> None:
        self._text = ""
        # A piece may end inside a letter.
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def delta(self, piece: bytes) -> sse.Event | None:
        text = self._decoder.decode(piece)
        self._text += text
        return {"type": "transcript.text.delta", "delta": text} if text else None

    def done(self) -> sse.Event:
        """Return the last event, with the whole text."""
        return {"type": "transcript.text.done", "text": self._text}
