"""Transcription: what is said in a recording, as text, with times, or as subtitles."""

from collections.abc import Sequence
from datetime import timedelta

from pydantic import Field

from pipeline.errors import InvalidRequest
from pipeline.fetchable import list_fetchable
from pipeline.jobs import Job
from pipeline.kind import Answer, FinishedItem, Kind, Limits, NewItem, Request, Response, Stored
from pipeline.kinds.transcription.transcripts import CONTENT_TYPES, CREDITS_PER_MINUTE, ENDINGS, Format, Transcript
from pipeline.languages import MAX_TAG, LanguageNotSupported, offered_languages, read_language
from pipeline.offers import Offers

FAMILY = "transcription"
#: The value that asks for the language to be detected.
AUTO = "auto"
#: Characters of a prompt; a model reads the first 223 tokens of it, which are about as many.
MAX_PROMPT = 1_000


class LanguageUnknown(InvalidRequest):
    """There is no language of that code."""

    code = "language_unknown"


class TranscriptionRequest(Request):
    """What is known of the recording, and the form of the answer."""

    language: str = Field(
        AUTO, max_length=MAX_TAG, description="Language spoken, ISO 639-1 (en-US counts as en); auto: find out."
    )
    prompt: str | None = Field(
        None, max_length=MAX_PROMPT, description="Names and words that are said, as they are spelled: a hint."
    )
    response_format: Format = Field("json", description="The form of the answer.")


class RecordingInput(Stored):
    """The language of a recording (ISO 639; None: find it out), the form of its transcript, and names in it."""

    language: str | None
    response_format: Format
    prompt: str | None = None


class TranscriptFile(Stored):
    """A transcript in the form that was asked for, as a file."""

    artifact: str
    response_format: Format
    duration_seconds: float


class Transcription(Kind[TranscriptionRequest, RecordingInput, TranscriptFile]):
    """POST /tts/stt."""

    name = "transcription"
    queue = "transcription"
    routes = ("/tts/stt",)
    handler = "workers.handlers.transcription.transcription:TranscriptionHandler"
    unit = "seconds"
    summary = "Write down what is said in a recording of up to four hours, as JSON, text, SubRip or WebVTT."
    files = ("audio",)
    example = {"audio": "@recording"}
    answer = Answer(model=Transcript, alternatives=("text/plain", "application/x-subrip", "text/vtt"))
    #: Four hours of sound may take a small machine a day, as other recordings of its process take turns with it. A
    #: segment takes about a minute, even with a large model on a processor: 20 minutes without one are a stall.
    limits = Limits(run=timedelta(hours=24), stall=timedelta(minutes=20), deadline=timedelta(hours=24))

    def check(self, request: TranscriptionRequest, offers: Offers) -> None:
        """Refuse an unknown language, and one that no engine understands; the worker checks it again."""
        language = wanted_language(request)
        known = offered_languages(offers, FAMILY)
        if language is not None and known:
            require_language(language, known, offers)

    def items(self, request: TranscriptionRequest) -> list[NewItem[RecordingInput]]:
        """Return the recording as one item, for now at the price of one minute: its length is not known yet."""
        wanted = RecordingInput(
            language=wanted_language(request), response_format=request.response_format, prompt=request.prompt
        )
        return [NewItem(wanted, CREDITS_PER_MINUTE)]

    def response(self, job: Job, items: Sequence[FinishedItem[RecordingInput, TranscriptFile]]) -> Response:
        """Return the transcript as its worker has written it."""
        transcript = items[0].delivered
        wanted = transcript.response_format
        headers = (
            {} if wanted.endswith("json") else {"Content-Disposition": f"inline; filename=transcript{ENDINGS[wanted]}"}
        )
        return Response(artifacts=[transcript.artifact], content_type=CONTENT_TYPES[wanted], headers=headers)


def wanted_language(request: TranscriptionRequest) -> str | None:
    """Return the code of the language that was sent; None: it is to be detected. Raises LanguageUnknown."""
    if request.language.strip().lower() == AUTO:
        return None
    language = read_language(request.language)
    if language is None:
        raise LanguageUnknown(
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
