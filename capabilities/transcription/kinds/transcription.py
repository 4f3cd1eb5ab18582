"""Transcription: writes down what is said in a recording, as text, with times, or as subtitles."""

from collections.abc import Mapping, Sequence
from copy import copy
from datetime import timedelta
from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import Field

from capabilities.transcription.kinds.transcripts import (
    CONTENT_TYPES,
    CREDITS_PER_MINUTE,
    ENDINGS,
    MOST_SPEAKERS,
    TIMED,
    Form,
    Format,
    Granularity,
    Task,
    Transcript,
)
from pipeline.downloads.addresses import Reach
from pipeline.downloads.targets import Refused, read_target, shown
from pipeline.downloads.urls import MAX_CHARACTERS, SCHEME
from pipeline.errors import InvalidRequest
from pipeline.kind import WHOLE, Answer, FinishedItem, Kind, Limits, NewItem, Request, Response, Stored, fitting_headers
from pipeline.lifecycle.jobs import Job
from pipeline.offers.languages import MAX_TAG, LanguageNotSupported, offered_languages, read_language
from pipeline.offers.offers import Offers, list_fetchable
from pipeline.settings import Settings
from pipeline.storage.streams import Parts

FAMILY = "transcription"
#: An address in the documents.
EXAMPLE_URL = "https://example.org/episode-12.mp3"
#: The value that asks for the language to be detected.
AUTO = "auto"
#: Characters of a prompt. A model reads its first 223 tokens, about as many.
MAX_PROMPT = 1_000


class RecordingLanguageUnknown(InvalidRequest):
    """There is no language of that code."""

    code = "language_unknown"


class TranslationNotSupported(InvalidRequest):
    """No model here can translate."""

    code = "translation_not_supported"

    def __init__(self, remedy: str | None) -> None:
        super().__init__(" ".join(filter(None, ("No speech recognition model here translates.", remedy))), field="task")


class RecordingMissing(InvalidRequest):
    """There is no recording, or there are two."""

    code = "recording_missing"
    field = "upload"
    message = "Send either upload, the id of a complete upload of POST /uploads, or url, the address of a recording."


class RecordingUrlRefused(InvalidRequest):
    """The address is never asked."""

    code = "recording_url_blocked"
    field = "url"


class RecordingRequest(Request):
    """A recording, and what to do with it."""

    language: str = Field(
        AUTO, max_length=MAX_TAG, description="Language spoken, ISO 639-1 (en-US counts as en); auto detects it."
    )
    prompt: str | None = Field(
        None, max_length=MAX_PROMPT, description="A hint: names and words in the recording, as they are spelled."
    )
    task: Task = Field("transcribe", description="translate writes the text in English.")

    @property
    def form(self) -> Form:
        """The form of the answer."""
        return "text"

    @property
    def granularities(self) -> tuple[Granularity, ...]:
        """The times in OpenAI's JSON."""
        return ()

    @property
    def told_apart(self) -> bool:
        """True if speakers are wanted."""
        return False

    @property
    def people(self) -> int | None:
        """... how many people do, if that is known."""
        return None


class TranscriptionRequest(RecordingRequest):
    """A recording, and the form of the answer."""

    response_format: Format = Field("json", description="The form of the answer.")
    keep_audio: bool = Field(
        False, description="Keep the recording as long as the transcript; otherwise it is deleted at the job's end."
    )

    diarize: bool = Field(False, description="Tell who speaks, as Speaker 1, Speaker 2 ….")
    speakers: Annotated[int, Field(ge=1, le=MOST_SPEAKERS), WHOLE] | None = Field(
        None, description="How many people speak, if you know; otherwise diarize counts them."
    )

    @property
    def form(self) -> Form:
        return self.response_format

    @property
    def told_apart(self) -> bool:
        return self.diarize

    @property
    def people(self) -> int | None:
        return self.speakers


class TranscriptionStreamRequest(RecordingRequest):
    """A recording whose text is streamed."""


class LongTranscriptionRequest(TranscriptionRequest):
    """A long recording, uploaded before or to be downloaded, and the form of the answer."""

    upload: UUID | None = Field(None, description="A complete upload of POST /uploads; the job takes its id.")
    url: str | None = Field(
        None,
        max_length=MAX_CHARACTERS,
        pattern=SCHEME,
        description="Address of the recording, such as the enclosure of a podcast's feed, instead of an upload.",
    )


class RecordingInput(Stored):
    """The language of a recording (ISO 639; None to detect it), the form of its transcript, and names in it.

    It is a file of the request unless `upload` or `url` says otherwise."""

    language: str | None
    response_format: Form
    prompt: str | None = None
    task: Task = "transcribe"
    granularities: tuple[Granularity, ...] = ()
    keep_audio: bool = False
    upload: UUID | None = None
    url: str | None = None
    #: Number of people to tell apart; 0: as many as are heard; None: not asked.
    speakers: int | None = None

    @property
    def is_timed(self) -> bool:
        """Return whether each word needs its times."""
        return self.response_format in TIMED or "word" in self.granularities or self.speakers is not None


class TranscriptFile(Stored):
    """A transcript as a file."""

    artifact: str
    response_format: Form
    duration_seconds: float
    warning: str | None = None
    #: The artifact of the recording, where it is kept.
    recording: str | None = None


class Recorded:
    """The check, item and price of the kinds that write down a recording."""

    queue: ClassVar[str] = "transcription"
    unit: ClassVar[str] = "seconds"
    files: ClassVar[tuple[str, ...]] = ("audio",)
    larger_files: ClassVar[str | None] = (
        "Send it to POST /uploads, and its id to POST /transcriptions, which takes 2 GiB and four hours."
    )
    example: ClassVar[Mapping[str, Any]] = {"audio": "@recording"}
    #: Four hours of sound may take a small machine a day, since other recordings take turns with it. A segment takes
    #: about a minute even with a large model on a processor, so 20 minutes without one are a stall.
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
        """Return the recording as one item, at the price of one minute until its length is known."""
        # Rows keep only what is set.
        more: dict[str, Any] = {} if request.task == "transcribe" else {"task": request.task}
        if isinstance(request, TranscriptionRequest) and request.keep_audio:
            more["keep_audio"] = True
        if request.told_apart:
            more["speakers"] = request.people or 0
        if isinstance(request, LongTranscriptionRequest):
            more |= request.model_dump(include={"upload", "url"}, exclude_none=True)
        if request.granularities:
            more["granularities"] = request.granularities
        wanted = RecordingInput(
            language=wanted_language(request), response_format=request.form, prompt=request.prompt, **more
        )
        return [NewItem(wanted, CREDITS_PER_MINUTE)]


class Written(Recorded):
    """The answer of the kinds that write a transcript as a file."""

    shown_by: ClassVar[tuple[str, ...]] = ("recording",)
    answer: ClassVar[Answer] = Answer(model=Transcript, alternatives=("text/plain", "application/x-subrip", "text/vtt"))

    def response(self, job: Job, items: Sequence[FinishedItem[RecordingInput, TranscriptFile]]) -> Response:
        """Return the transcript in the form that was asked for."""
        transcript = items[0].delivered
        wanted = transcript.response_format
        headers: dict[str, str] = {}
        if not wanted.endswith("json"):  # JSON has the warnings in its document
            headers = fitting_headers({"X-Warning": transcript.warning})
            headers["Content-Disposition"] = f"inline; filename=transcript{ENDINGS[wanted]}"
        return Response(artifacts=[transcript.artifact], content_type=CONTENT_TYPES[wanted], headers=headers)


class Transcription(Written, Kind[TranscriptionRequest, RecordingInput, TranscriptFile]):
    """POST /tts/stt."""

    name = "transcription"
    routes = ("/tts/stt",)
    handler = "capabilities.transcription.handlers.transcription:TranscriptionHandler"
    summary = "Transcribe a recording of up to four hours and 25 MiB, as JSON, text, SubRip or WebVTT."


class LongTranscription(Written, Kind[LongTranscriptionRequest, RecordingInput, TranscriptFile]):
    """POST /transcriptions."""

    name = "long_transcription"
    routes = ("/transcriptions",)
    files: ClassVar[tuple[str, ...]] = ()
    resumable = "upload"
    handler = "capabilities.transcription.handlers.long:LongTranscriptionHandler"
    summary = "Transcribe a recording of up to 2 GiB and four hours, uploaded before or downloaded from a URL."
    example: ClassVar[Mapping[str, Any]] = {"url": EXAMPLE_URL}
    reach: Reach | None = None

    def configured(self, settings: Settings) -> "LongTranscription":
        configured = copy(self)
        configured.reach = Reach(settings.fetch.allow_networks)
        return configured

    def check(self, request: RecordingRequest, offers: Offers) -> None:
        """Refuse a request with no recording or two, and an address that is never asked. Raises InvalidRequest."""
        if not isinstance(request, LongTranscriptionRequest) or (request.upload is None) == (request.url is None):
            raise RecordingMissing
        super().check(request, offers)
        if request.url is not None and self.reach is not None:
            try:
                read_target(request.url, self.reach)
            except Refused as refused:
                raise RecordingUrlRefused(
                    f"{shown(request.url)} can't be fetched: {refused.why}. Use a URL that anybody on the Internet can"
                    " open, or let the operator allow its network."
                ) from None


class TranscriptionStream(Recorded, Kind[TranscriptionStreamRequest, RecordingInput, Parts]):
    """POST /tts/stt/stream."""

    name = "transcription_stream"
    routes = ("/tts/stt/stream",)
    handler = "capabilities.transcription.handlers.stream:TranscriptionStreamHandler"
    summary = "Transcribe a recording; the text is sent while it is transcribed."
    streams = True
    answer = Answer("text/plain")

    def response(self, job: Job, items: Sequence[FinishedItem[RecordingInput, Parts]]) -> Response:
        parts = items[0].delivered
        return Response(
            artifacts=[parts.key(number) for number in range(parts.count)], content_type=CONTENT_TYPES["text"]
        )


def can_translate(offers: Offers) -> bool:
    """Return whether a ready engine can translate."""
    return any(offer.ready and offer.content.get("translates") for offer in offers.of(FAMILY))


def wanted_language(request: RecordingRequest) -> str | None:
    """Return the code of the language that was sent; None to detect it. Raises RecordingLanguageUnknown."""
    if request.language.strip().lower() == AUTO:
        return None
    language = read_language(request.language)
    if language is None:
        raise RecordingLanguageUnknown(
            f"{request.language!r} is not a language: send an ISO 639-1 code such as en or de, or auto.",
            field="language",
        )
    return language


def require_language(language: str, known: Sequence[str], offers: Offers) -> None:
    """Refuse a language that is not known, and name what would bring it. Raises LanguageNotSupported."""
    if language not in known:
        fault = f"No speech recognition engine here understands {language!r}."
        raise LanguageNotSupported(fault, known, remedy=what_brings(language, offers))


def what_brings(language: str | None, offers: Offers) -> str | None:
    """Return a sentence on how to get a model for a language, or for many (None); None if there is no such model."""
    models = list_fetchable(offers, FAMILY)
    knowing = [one for one in models if (language in one.languages if language else len(one.languages) > 1)]
    # In order of preference, so the last one is the smallest.
    return knowing[-1].remedy if knowing else None
