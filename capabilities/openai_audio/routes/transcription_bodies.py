"""Transcription bodies: forms with a recording as OpenAI's clients send them, and the requests of ours they mean."""

from typing import Any, ClassVar, Literal, get_args

from pydantic import Field

from capabilities.transcription.kinds.stream import TranscriptionStreamRequest
from capabilities.transcription.kinds.transcription import AUTO, MAX_PROMPT, RecordingRequest
from capabilities.transcription.kinds.transcripts import Form, Granularity, Task
from pipeline.errors import InvalidRequest
from pipeline.kind import Request
from pipeline.offers.languages import MAX_TAG

ResponseFormat = Literal["json", "text", "srt", "verbose_json", "vtt"]
#: The forms whose content differs from ours.
FORMS: dict[ResponseFormat, Form] = {"json": "openai_json", "verbose_json": "openai_verbose_json"}


class StreamNotOfForm(InvalidRequest):
    """Only text can be sent while it is heard."""

    code = "stream_not_of_form"


class OpenAIRecording(RecordingRequest):
    """A request of ours whose answer is in OpenAI's form."""

    response_format: Form
    timestamp_granularities: tuple[Granularity, ...] = ()

    @property
    def form(self) -> Form:
        """The form of the answer."""
        return self.response_format

    @property
    def granularities(self) -> tuple[Granularity, ...]:
        """What the answer tells the times of."""
        return self.timestamp_granularities


class TranslationBody(Request):
    """What is known of a recording that is to be translated into English, as OpenAI's clients send it."""

    model: str = Field("whisper-1", description="One of GET /v1/models that listens; all of them are the same here.")
    prompt: str | None = Field(None, description="Names and words that are said; the last 1,000 characters count.")
    response_format: ResponseFormat = Field("json", description="The form of the answer.")
    temperature: float | None = Field(None, ge=0, le=1, description="Taken, and without effect.")

    task: ClassVar[Task] = "translate"
    #: Fields that a form has once for each entry.
    lists: ClassVar[frozenset[str]] = frozenset()

    @property
    def is_streamed(self) -> bool:
        """Whether the text is sent while it is heard."""
        return False

    def recording(self) -> RecordingRequest:
        """Return the request of ours that it means. Raises StreamNotOfForm."""
        fields = self.common()
        if not self.is_streamed:
            form = FORMS.get(self.response_format, self.response_format)
            timed = self.timed() if form == "openai_verbose_json" else ()
            return OpenAIRecording(**fields, response_format=form, timestamp_granularities=timed)
        if self.response_format not in {"json", "text"}:
            raise StreamNotOfForm(
                f"A stream has no {self.response_format}: send response_format=json, or no stream.", field="stream"
            )
        return TranscriptionStreamRequest(**fields)

    def common(self) -> dict[str, Any]:
        """Return the fields that all our requests have."""
        # Whisper reads the end of a long prompt, and we its beginning.
        prompt = (self.prompt or "").strip()[-MAX_PROMPT:]
        return {"task": self.task} | ({"prompt": prompt} if prompt else {})

    def timed(self) -> tuple[Granularity, ...]:
        """Return what the answer tells the times of."""
        return ("segment",)


class TranscriptionBody(TranslationBody):
    """What is known of a recording, as OpenAI's clients send it."""

    language: str | None = Field(None, max_length=MAX_TAG, description="Language spoken, ISO 639-1; else found out.")
    timestamp_granularities: list[Granularity] = Field(
        [], max_length=2, description="With verbose_json: word, segment or both; segment when it is not sent."
    )
    stream: bool | None = Field(None, description="Whether the text is sent while it is heard, as events.")
    keywords: list[str] = Field([], max_length=100, description="Names and words that are said, put into the prompt.")
    languages: list[str] = Field([], max_length=20, description="Languages that may be spoken: one alone is taken.")

    task: ClassVar[Task] = "transcribe"
    lists: ClassVar[frozenset[str]] = frozenset({"timestamp_granularities", "keywords", "languages"})

    @property
    def is_streamed(self) -> bool:
        """Whether the text is sent while it is heard."""
        return bool(self.stream)

    def common(self) -> dict[str, Any]:
        """Return the fields that all our requests have."""
        only = self.languages[0] if len(self.languages) == 1 else AUTO
        prompt = ", ".join(filter(None, (super().common().get("prompt"), *self.keywords)))[-MAX_PROMPT:]
        fields: dict[str, Any] = {"task": self.task, "language": self.language or only}
        return fields | ({"prompt": prompt} if prompt else {})

    def timed(self) -> tuple[Granularity, ...]:
        """Return what the answer tells the times of."""
        return tuple(name for name in get_args(Granularity) if name in self.timestamp_granularities) or ("segment",)
