"""Transcriptions and translations: recordings sent as OpenAI's clients send them, as jobs of /tts/stt."""

import codecs
from typing import Any

import falcon.asgi
from pydantic import BaseModel

from api.http.bodies.fields import FieldsInvalid, missing, read_fields
from api.http.bodies.forms import FormShape, Upload
from api.services.waiting import Waiter
from api.work.preferences import Preference
from api.work.streamed_work import StreamedWork
from api.work.submitting import Order
from api.work.work import Work
from capabilities.openai_audio.routes import sse
from capabilities.openai_audio.routes.models import require_model
from capabilities.openai_audio.routes.transcription_bodies import TranscriptionBody, TranslationBody
from capabilities.transcription.kinds.stream import TranscriptionStream, TranscriptionStreamRequest
from pipeline.accounts.keys import Caller
from pipeline.kind import AnyKind
from pipeline.lifecycle import Submitted

#: OpenAI's name of the file, and ours.
FILE, OURS = "file", "audio"


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
        # An empty field of a form is one that was not filled in.
        told = {name: value for name, value in sent.items() if value != ""} if isinstance(sent, dict) else sent
        return read_fields(self.body, told)

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
    """The text of a stream, so far."""

    def __init__(self) -> None:
        self._text = ""
        # A piece may end within a letter.
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def delta(self, piece: bytes) -> sse.Event | None:
        """Return the event of a piece."""
        text = self._decoder.decode(piece)
        self._text += text
        return {"type": "transcript.text.delta", "delta": text} if text else None

    def done(self) -> sse.Event:
        """Return the last event, which has all of it."""
        return {"type": "transcript.text.done", "text": self._text}
