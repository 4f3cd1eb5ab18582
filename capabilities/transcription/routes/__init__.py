"""The Transcript page of the dashboard."""

from collections.abc import Sequence

from api.try_pages import Call, Trial, TryPage
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
    lead="Choose or record audio and read it; click a word to hear it.",
    trials=(Trial("transcription", "A transcript", PRICE, Call("transcribe", "audio", more=("task",))),),
    engines=(FAMILY,),
    main=("audio", "language"),
    labels={"audio": "Recording", "prompt": "Names and special words"},
    choices={"language": _languages},
    starts={"response_format": "verbose_json"},
    accepts={"audio": "audio/*,video/*"},
    template="transcript.html",
    script="try_transcript.js",
    submit="Transcribe",
    icon="captions",
    order=4,
)
