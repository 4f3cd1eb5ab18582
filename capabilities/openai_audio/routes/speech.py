"""Speech: POST /v1/audio/speech, with the jobs of /tts/stream, or of /tts for a whole WAV file."""

import base64
from typing import Any, Literal

import falcon.asgi
from pydantic import BaseModel, Field

from api.http.bodies.fields import ignore, read_fields
from api.http.bodies.forms import Upload
from api.services.waiting import Waiter
from api.work.preferences import Preference
from api.work.submitting import Order
from api.work.work import Work
from capabilities.openai_audio.routes import sse
from capabilities.openai_audio.routes.lists import require_model
from capabilities.speech.kinds.fields import AUTO, LanguageCode, SpokenRequest, VoiceName
from capabilities.speech.kinds.speech import Speech, SpeechRequest
from capabilities.speech.kinds.stream import SpeechStreamRequest
from capabilities.speech.routes.lexicon import SpeakingStream
from pipeline.accounts.keys import Caller
from pipeline.audio_formats import AudioFormat
from pipeline.kind import NOT_BLANK, AnyKind, Request
from pipeline.lifecycle import Submitted


class VoiceReference(Request):
    """A voice by its id."""

    id: VoiceName


class SpeechBody(Request):
    """The body of OpenAI's clients. null counts as not sent."""

    input: str = Field(json_schema_extra=NOT_BLANK, description="The text to speak.")
    model: str = Field("tts-1", description="One of GET /v1/models that speaks; all are the same here.")
    voice: VoiceName | VoiceReference | None = Field(
        None, description="One of OpenAI's names, such as alloy, or a voice of GET /tts/voices; also {id: …}."
    )
    instructions: str | None = Field(None, max_length=4_096, description="Accepted without effect.")
    response_format: AudioFormat | None = Field(None, description="Default: mp3. pcm is 24 kHz.")
    speed: float | None = Field(None, ge=0.25, le=4.0, description="Speaking rate.")
    stream_format: Literal["audio", "sse"] | None = Field(
        None, description="sse: events with the audio in base64. Send audio or sse to stream a WAV file."
    )
    language: LanguageCode | None = Field(None, description="Not OpenAI's: the text's language. Default: detected.")

    @property
    def is_whole(self) -> bool:
        """Return whether the sound is sent as a whole: a WAV file begins with its length."""
        return self.response_format == "wav" and self.stream_format is None

    def spoken(self) -> SpokenRequest:
        """Return our request for it."""
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
            ignore(req, "instructions")
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
    # Clients in typed languages want these numbers, though no tokens are counted here.
    return {"type": "speech.audio.done", "usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}}
