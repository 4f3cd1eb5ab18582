"""Speech: a text is spoken and comes back as one WAV file."""

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field

from pipeline.jobs import Item, Job
from pipeline.kind import Kind, Part, Response
from pipeline.kinds.speech.fields import SpokenRequest, check_speech, speech_credits
from pipeline.offers import Offers

#: Longest text of one request, in Unicode code points (docs/speech.md).
MAX_CHARACTERS = 10_000


class SpeechRequest(SpokenRequest):
    """What is to be spoken, how, and how loud."""

    volume_gain_db: float = Field(0.0, ge=-96, le=16, description="Gain in decibels; a limiter keeps it from clipping.")


class Speech(Kind[SpeechRequest]):
    """POST /tts."""

    name = "speech"
    queue = "synthesis"
    routes = ("/tts",)
    handler = "workers.handlers.speech.speech:SpeechHandler"
    unit = "texts"
    summary = "Speak a text of up to 10,000 characters; the answer is a WAV file."
    example: ClassVar[dict[str, Any]] = {"text": "Hello! This is Pressroom, speaking from your own machine."}
    bulky: ClassVar[frozenset[str]] = frozenset({"text"})
    answer_type = "audio/wav"
    request = SpeechRequest

    def check(self, request: SpeechRequest, offers: Offers) -> None:
        """Refuse a text that is empty or too long, and a voice or language that no engine has."""
        check_speech(request, offers, route="/tts", max_characters=MAX_CHARACTERS, instead="Use /tts/batch.")

    def parts(self, request: SpeechRequest) -> list[Part]:
        """Return the whole text as one item."""
        return [Part(request.model_dump(exclude_unset=True), speech_credits(len(request.text)))]

    def response(self, job: Job, items: Sequence[Item]) -> Response:
        """Return the WAV file."""
        output = items[0].output or {}
        return Response(
            artifacts=[output["artifact"]],
            content_type="audio/wav",
            headers={"Content-Disposition": "attachment; filename=output.wav"},
        )
