"""Speech: POST /v1/audio/speech, whose jobs are those of /tts/stream, and of /tts for a whole WAV file."""

import base64
from typing import Annotated, Any, Literal

import falcon.asgi
from pydantic import BaseModel, Field, StringConstraints

from api.http.bodies.fields import read_fields
from api.http.bodies.forms import Upload
from api.http.request_context import context_of
from api.services.waiting import Waiter
from api.work.preferences import Preference
from api.work.submitting import Order
from api.work.work import Work
from capabilities.openai_audio.routes import sse
from capabilities.openai_audio.routes.models import require_model
from capabilities.speech.kinds.fields import AUTO, SpokenRequest
from capabilities.speech.kinds.speech import Speech, SpeechRequest
from capabilities.speech.kinds.stream import SpeechStreamRequest
from capabilities.speech.routes.lexicon import SpeakingStream
from pipeline.accounts.keys import Caller
from pipeline.audio_formats import AudioFormat
from pipeline.kind import NOT_BLANK, AnyKind, Request
from pipeline.lifecycle import Submitted

#: Says what of a request has had no effect.
IGNORED = "x-ignored-fields"

VoiceId = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class VoiceReference(Request):
    """A voice by its id."""

    id: VoiceId


class SpeechBody(Request):
    """What is to be spoken, as OpenAI's clients send it; null counts as not sent."""

    input: str = Field(json_schema_extra=NOT_BLANK, description="What is spoken.")
    model: str = Field("tts-1", description="One of GET /v1/models that speaks; all of them are the same here.")
    voice: VoiceId | VoiceReference | None = Field(
        None, description="A name of OpenAI's, such as alloy, or a voice of GET /tts/voices; also {id: …}."
    )
    instructions: str | None = Field(None, max_length=4_096, description="Taken, and without effect.")
    response_format: AudioFormat | None = Field(None, description="mp3 when it is not sent; pcm is 24 kHz.")
    speed: float | None = Field(None, ge=0.25, le=4.0, description="Speaking rate.")
    stream_format: Literal["audio", "sse"] | None = Field(
        None, description="sse: events with the sound in base64. A WAV file that is to be streamed wants audio or sse."
    )
    language: Annotated[str, StringConstraints(min_length=1, max_length=35)] | None = Field(
        None, description="Not OpenAI's: the text's language, where it is known; else it is found out."
    )

    @property
    def is_whole(self) -> bool:
        """Whether the sound is sent once all of it is there: a WAV file begins with its length."""
        return self.response_format == "wav" and self.stream_format is None

    def spoken(self) -> SpokenRequest:
        """Return the request of ours that it means."""
        named = self.voice.id if isinstance(self.voice, VoiceReference) else self.voice
        fields: dict[str, Any] = {"text": self.input, "language": self.language or AUTO, "plain_text": True}
        if named is not None:
            fields["voice_name"] = named
        if self.speed is not None:
            fields["speed"] = self.speed
        if self.is_whole:
            return SpeechRequest(**fields)
        return SpeechStreamRequest(**fields, response_format=self.response_format or "mp3")


class OpenAISpeech(SpeakingStream):
    """POST /v1/audio/speech."""

    async def _order_of(self, req: falcon.asgi.Request, caller: Caller, request: BaseModel, upload: Upload) -> Order:
        if not isinstance(request, SpeechBody):
            return await super()._order_of(req, caller, request, upload)
        require_model(request.model, "speech")
        if request.instructions:
            context_of(req).headers[IGNORED] = "instructions"
        req.context.body = request
        return await super()._order_of(req, caller, request.spoken(), upload)

    def _checked(self, sent: bytes | dict[str, Any], upload: Upload) -> BaseModel:
        return read_fields(SpeechBody, sent)

    def _kind_of(self, request: BaseModel) -> AnyKind:
        whole: AnyKind = self._services.kinds[Speech.name]
        return whole if isinstance(request, SpeechRequest) else self._kind

    async def _answer(
        self, order: Order, submitted: Submitted, preference: Preference, waiter: Waiter, resp: falcon.asgi.Response
    ) -> None:
        body: SpeechBody = resp.context.request.context.body
        if body.is_whole:
            await Work._answer(self, order, submitted, preference, waiter, resp)
            return
        await super()._answer(order, submitted, preference, waiter, resp)
        if body.stream_format == "sse" and resp.stream is not None:
            sse.show_events(resp, delta=_delta, done=_done)


def _delta(piece: bytes) -> sse.Event:
    return {"type": "speech.audio.delta", "audio": base64.b64encode(piece).decode()}


def _done() -> sse.Event:
    # No tokens are counted here; clients in typed languages want the numbers all the same.
    return {"type": "speech.audio.done", "usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}}
