"""Transcription: what is said in a recording, as text, with times, or as subtitles."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar

from pydantic import Field

from capabilities.transcription.kinds.transcripts import (
    CONTENT_TYPES,
    CREDITS_PER_MINUTE,
    ENDINGS,
    TIMED,
    Form,
    Format,
    Granularity,
    Task,
    Transcript,
)
from pipeline.errors import InvalidRequest
from pipeline.kind import Answer, FinishedItem, Kind, Limits, NewItem, Request, Response, Stored
from pipeline.lifecycle.jobs import Job
from pipeline.offers.languages import MAX_TAG, LanguageNotSupported, offered_languages, read_language
from pipeline.offers.offers import Offers, list_fetchable

FAMILY = "transcription"
#: The value that asks for the language to be detected.
AUTO = "auto"
#: Characters of a prompt; a model reads the first 223 tokens of it, which are about as many.
MAX_PROMPT = 1_000


class RecordingLanguageUnknown(InvalidRequest):
    """There is no language of that code."""

    code = "language_unknown"


class TranslationNotSupported(InvalidRequest):
    """No model here can translate."""

    code = "translation_not_supported"

    def __init__(self, remedy: str | None) -> None:
        super().__init__(" ".join(filter(None, ("No speech recognition model here translates.", remedy))), field="task")


class RecordingRequest(Request):
    """What is known of a recording, and what is to become of it."""

    language: str = Field(
        AUTO, max_length=MAX_TAG, description="Language spoken, ISO 639-1 (en-US counts as en); auto: find out."
    )
    prompt: str | None = Field(
        None, max_length=MAX_PROMPT, description="Names and words that are said, as they are spelled: a hint."
    )
    task: Task = Field("transcribe", description="translate: what is said is written down in English.")

    @property
    def form(self) -> Form:
        """The form of the answer."""
        return "text"

    @property
    def granularities(self) -> tuple[Granularity, ...]:
        """What OpenAI's JSON is to tell the times of."""
        return ()


class TranscriptionRequest(RecordingRequest):
    """What is known of the recording, and the form of the answer."""

    response_format: Format = Field("json", description="The form of the answer.")

    @property
    def form(self) -> Form:
        """The form of the answer."""
        return self.response_format


class RecordingInput(Stored):
    """The language of a recording (ISO 639; None: find it out), the form of its transcript, and names in it."""

    language: str | None
    response_format: Form
    prompt: str | None = None
    task: Task = "transcribe"
    granularities: tuple[Granularity, ...] = ()

    @property
    def is_timed(self) -> bool:
        """Whether each word is to have its times."""
        return self.response_format in TIMED or "word" in self.granularities


class TranscriptFile(Stored):
    """A transcript in the form that was asked for, as a file."""

    artifact: str
    response_format: Form
    duration_seconds: float


class Recorded:
    """What the kinds declare alike that write down what is said in a recording: its check, its item and its price."""

    queue: ClassVar[str] = "transcription"
    unit: ClassVar[str] = "seconds"
    files: ClassVar[tuple[str, ...]] = ("audio",)
    example: ClassVar[Mapping[str, Any]] = {"audio": "@recording"}
    #: Four hours of sound may take a small machine a day, as other recordings of its process take turns with it. A
    #: segment takes about a minute, even with a large model on a processor: 20 minutes without one are a stall.
    limits: Limits = Limits(run=timedelta(hours=24), stall=timedelta(minutes=20), deadline=timedelta(hours=24))

    def check(self, request: RecordingRequest, offers: Offers) -> None:
        """Refuse an unknown language, and what no engine can do; the worker checks it again. Raises InvalidRequest."""
        language = wanted_language(request)
        known = offered_languages(offers, FAMILY)
        if language is not None and known:
            require_language(language, known, offers)
        if request.task == "translate" and known and not can_translate(offers):
            raise TranslationNotSupported(what_brings(None, offers))

    def items(self, request: RecordingRequest) -> list[NewItem[RecordingInput]]:
        """Return the recording as one item, for now at the price of one minute: its length is not known yet."""
        # Rows keep what is set alone.
        more: dict[str, Any] = {} if request.task == "transcribe" else {"task": request.task}
        if request.granularities:
            more["granularities"] = request.granularities
        wanted = RecordingInput(
            language=wanted_language(request), response_format=request.form, prompt=request.prompt, **more
        )
        return [NewItem(wanted, CREDITS_PER_MINUTE)]


class Transcription(Recorded, Kind[TranscriptionRequest, RecordingInput, TranscriptFile]):
    """POST /tts/stt."""

    name = "transcription"
    routes = ("/tts/stt",)
    handler = "capabilities.transcription.handlers.transcription:TranscriptionHandler"
    summary = "Write down what is said in a recording of up to four hours, as JSON, text, SubRip or WebVTT."
    answer = Answer(model=Transcript, alternatives=("text/plain", "application/x-subrip", "text/vtt"))

    def response(self, job: Job, items: Sequence[FinishedItem[RecordingInput, TranscriptFile]]) -> Response:
        """Return the transcript as its worker has written it."""
        transcript = items[0].delivered
        wanted = transcript.response_format
        headers = (
            {} if wanted.endswith("json") else {"Content-Disposition": f"inline; filename=transcript{ENDINGS[wanted]}"}
        )
        return Response(artifacts=[transcript.artifact], content_type=CONTENT_TYPES[wanted], headers=headers)


def can_translate(offers: Offers) -> bool:
    """Return whether an engine that is ready can translate."""
    return any(offer.ready and offer.content.get("translates") for offer in offers.of(FAMILY))


def wanted_language(request: RecordingRequest) -> str | None:
    """Return the code of the language that was sent; None: it is to be detected. Raises LanguageUnknown."""
    if request.language.strip().lower() == AUTO:
        return None
    language = read_language(request.language)
    if language is None:
        raise RecordingLanguageUnknown(
            f"{request.language!r} is no language: send an ISO 639-1 code such as en or de, or auto.", field="language"
        )
    return language


def require_language(language: str, known: Sequence[str], offers: Offers) -> None:
    """Refuse a language that is not among those known, and name what would bring it. Raises LanguageNotSupported."""
    if language not in known:
        fault = f"No speech recognition engine here understands {language!r}."
        raise LanguageNotSupported(fault, known, remedy=what_brings(language, offers))


def what_brings(language: str | None, offers: Offers) -> str | None:
    """Return how a model for a language (None: for many) can be had, in a sentence; None: the catalogue has none."""
    models = list_fetchable(offers, FAMILY)
    knowing = [one for one in models if (language in one.languages if language else len(one.languages) > 1)]
    # They are in order of preference, so the last one is the smallest.
    return knowing[-1].remedy if knowing else None
