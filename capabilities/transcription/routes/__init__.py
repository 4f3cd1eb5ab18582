"""The Transcript page of the dashboard."""

from collections.abc import Sequence

from api.try_pages import Bulk, Call, Trial, TryPage
from capabilities.transcription.kinds.transcription import AUTO, FAMILY
from capabilities.transcription.kinds.transcripts import CREDITS_PER_MINUTE
from pipeline.offers.languages import offered_languages
from pipeline.offers.offers import Offers

__all__ = ["TRY"]

PRICE = f"{CREDITS_PER_MINUTE} credits per started minute"


def _languages(offers: Offers) -> Sequence[tuple[str, str]]:
    known = offered_languages(offers, FAMILY)
    return [(AUTO, "Detect language"), *((code, code) for code in known)] if known else []


TRY = TryPage(
    slug="transcript",
    title="Transcript",
    lead="Drop one recording, or many, and get text and subtitles; click a word to hear it.",
    trials=(Trial("transcription", "A transcript", PRICE, Call("transcribe", "audio", more=("task", "keep_audio"))),),
    engines=(FAMILY,),
    main=("audio", "language", "keep_audio"),
    labels={
        "audio": "Recording",
        "prompt": "Names and special words",
        "keep_audio": "Keep the recording to hear it later",
    },
    choices={"language": _languages},
    starts={"response_format": "verbose_json", "keep_audio": True},
    bulk=Bulk("audio", "transcription"),
    accepts={"audio": "audio/*,video/*"},
    template="transcript.html",
    script="try_transcript.js",
    submit="Transcribe",
    icon="captions",
    order=4,
)
