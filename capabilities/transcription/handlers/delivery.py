"""Delivery: what becomes of all that was transcribed: the answer, its price, and what its readers must know."""

from collections.abc import Sequence
from datetime import timedelta

from capabilities.transcription.engines import Transcriber
from capabilities.transcription.handlers.begun import Transcribed
from capabilities.transcription.kinds.transcription import AUTO
from capabilities.transcription.kinds.transcripts import Transcript, join_texts, transcription_credits
from pipeline.subtitles.subtitles import subtitles

ENGLISH = "en"
#: Parts that are left out are told as one where no more than so many seconds are between them; and so many are told.
NEAR, MOST_TOLD = 5.0, 5
#: A list of rare names can sound like another language to a small model; told how they are spelled, it knows them.
IF_ENGLISH = "If it is English, send it again with its unusual names in `prompt`."


def price_of(transcribed: Transcribed, duration: timedelta) -> int:
    """Return what a recording costs: nothing for what was left out since the model does not know its language."""
    if transcribed.foreign and not transcribed.segments:
        return 0
    left_out = sum(end - start for start, end in transcribed.foreign)
    return transcription_credits(duration - timedelta(seconds=left_out))


def transcript_of(
    transcribed: Transcribed,
    engine: Transcriber,
    *,
    seconds: float,
    price: int,
    remedy: str | None,
    is_translated: bool = False,
) -> Transcript:
    """Return the answer. `remedy` tells how a model for more languages can be had, if there is one.

    What is translated is in English, whatever was said."""
    language = ENGLISH if is_translated and transcribed.language else transcribed.language
    probability = None if is_translated else transcribed.language_probability
    warnings = [engine.warning] if engine.warning else []
    if transcribed.foreign:
        warnings.append(_left_out(transcribed, engine.languages(), remedy))
    heard_nothing = transcribed.foreign and not transcribed.segments
    return Transcript(
        text=join_texts(transcribed.segments, language),
        language=AUTO if heard_nothing else language or AUTO,
        language_probability=None if probability is None else round(probability, 3),
        duration=seconds,
        credits_used=price,
        draft=engine.warning is not None,
        warnings=warnings,
        segments=subtitles(transcribed.segments, language=language, latest=seconds),
    )


def _left_out(transcribed: Transcribed, known: Sequence[str], remedy: str | None) -> str:
    """Return a sentence about what was left out. The model can't tell which language it was."""
    other = "another language than English" if list(known) == ["en"] else "a language that the model does not know"
    if transcribed.segments:
        told = f"From {_parts(transcribed.foreign)} somebody seems to speak {other}: that is left out, and not charged."
    else:
        told = f"Somebody seems to speak {other}: nothing was written down, and nothing is charged."
    if remedy:
        told = f"{told} {remedy}"
    return f"{told} {IF_ENGLISH}" if list(known) == ["en"] else told


def _parts(spans: Sequence[tuple[float, float]]) -> str:
    joined: list[tuple[float, float]] = []
    for start, end in spans:
        if joined and start - joined[-1][1] <= NEAR:
            start = joined.pop()[0]
        joined.append((start, end))
    told = [f"{_clock(start)} to {_clock(end)}" for start, end in joined[:MOST_TOLD]]
    more = len(joined) - len(told)
    return ", ".join(told) + (f" and in {more} more places" if more else "")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"
