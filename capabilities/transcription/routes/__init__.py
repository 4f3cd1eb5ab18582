"""The routes of transcription beside its kinds', and the Transcript page of the dashboard."""

from collections.abc import Mapping, Sequence

from api.services.resource import Resource
from api.try_pages import Bulk, Call, Trial, TryPage
from capabilities.transcription.kinds.transcription import AUTO, FAMILY
from capabilities.transcription.kinds.transcripts import CREDITS_PER_MINUTE
from capabilities.transcription.routes.names import PATH, NamedTranscript
from pipeline.offers.languages import offered_languages
from pipeline.offers.offers import Offers

__all__ = ["RESOURCES", "TRY"]

RESOURCES: Mapping[str, type[Resource]] = {PATH: NamedTranscript}

PRICE = f"{CREDITS_PER_MINUTE} credits per started minute"


def _languages(offers: Offers) -> Sequence[tuple[str, str]]:
    known = offered_languages(offers, FAMILY)
    return [(AUTO, "Detect language"), *((code, code) for code in known)] if known else []


def _tasks(offers: Offers) -> Sequence[tuple[str, str]]:
    return (("transcribe", "The language that is spoken"), ("translate", "English"))


def _forms(offers: Offers) -> Sequence[tuple[str, str]]:
    named = {"verbose_json": "Words to click on", "json": "Text", "text": "Text file", "srt": "SubRip", "vtt": "WebVTT"}
    return tuple(named.items())


TRY = TryPage(
    slug="transcript",
    title="Transcript",
    lead="Drop one recording, or many, of up to four hours and 2 GB: get text and subtitles; click a word to hear it.",
    trials=(Trial("transcription", "A transcript", PRICE, Call("transcribe", "audio", more=("task", "keep_audio"))),),
    besides=("long_transcription",),
    engines=(FAMILY,),
    main=("audio", "language", "keep_audio"),
    labels={
        "audio": "Recording",
        "prompt": "Names and special words",
        "task": "Written in",
        "response_format": "Result",
        "keep_audio": "Keep the recording to hear it later",
        "diarize": "Tell who speaks",
        "speakers": "How many people speak",
    },
    abouts={
        "language": "Choose it if the wrong one is detected.",
        "task": "",
        "response_format": "Words to click on can be saved as text and subtitles, too.",
    },
    choices={"language": _languages, "task": _tasks, "response_format": _forms},
    starts={"response_format": "verbose_json", "keep_audio": True},
    bulk=Bulk("audio", "transcription"),
    accepts={"audio": "audio/*,video/*"},
    template="transcript.html",
    script="try_transcript.js",
    submit="Transcribe",
    icon="captions",
    order=4,
)
