"""Speech: a text is spoken and comes back as one WAV file."""

from collections.abc import Sequence

from pydantic import Field

from pipeline.jobs import Job
from pipeline.kind import Answer, FinishedItem, Kind, NewItem, Response
from pipeline.kinds.speech.fields import AudioFile, SpokenRequest, audio_response, check_speech, speech_credits
from pipeline.offers import Offers

#: Longest text of one request, in Unicode code points (docs/speech.md).
MAX_CHARACTERS = 10_000


class SpeechRequest(SpokenRequest):
    """What is to be spoken, how, and how loud."""

    volume_gain_db: float = Field(0.0, ge=-96, le=16, description="Gain in decibels; a limiter keeps it from clipping.")

    @property
    def gain_db(self) -> float:
        """How much louder it shall be, in decibels."""
        return self.volume_gain_db


class Speech(Kind[SpeechRequest, SpeechRequest, AudioFile]):
    """POST /tts."""

    name = "speech"
    queue = "synthesis"
    routes = ("/tts",)
    handler = "workers.handlers.speech.speech:SpeechHandler"
    unit = "texts"
    summary = "Speak a text of up to 10,000 characters; the answer is a WAV file."
    example = {"text": "Hello! This is Pressroom, speaking from your own machine."}
    bulky = frozenset({"text"})
    answer = Answer("audio/wav")

    def check(self, request: SpeechRequest, offers: Offers) -> None:
        """Refuse a text that is empty or too long, and a voice or language that no engine has."""
        check_speech(request, offers, route="/tts", max_characters=MAX_CHARACTERS, instead="Use /tts/batch.")

    def items(self, request: SpeechRequest) -> list[NewItem[SpeechRequest]]:
        """Return the whole text as one item."""
        return [NewItem(request, speech_credits(len(request.text)))]

    def response(self, job: Job, items: Sequence[FinishedItem[SpeechRequest, AudioFile]]) -> Response:
        """Return the WAV file."""
        return audio_response(items[0].delivered, "audio/wav", "output.wav")
