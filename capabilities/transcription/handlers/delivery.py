"""Delivery: the answer of a transcribed recording, its price, its warnings and its form."""

import json
import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from capabilities.transcription.engines import HeardSegment, Transcriber
from capabilities.transcription.handlers.progress import Transcribed
from capabilities.transcription.kinds.transcription import AUTO, RecordingInput
from capabilities.transcription.kinds.transcripts import Format, Transcript
from pipeline.subtitles.segments import join_texts
from pipeline.subtitles.subtitles import srt, subtitles, vtt

ENGLISH = "en"
CUT_SHORT = "The file ends before its header says: the recording may be incomplete. All of its audio was transcribed."
TIMES_ESTIMATED = "The model server tells no times, so the times of segments and subtitles are estimates."
#: Frames per second, in which Whisper's `seek` counts.
FRAMES = 100


def transcript_of(
    transcribed: Transcribed,
    engine: Transcriber,
    *,
    seconds: float,
    price: int,
    is_translated: bool = False,
    is_cut_short: bool = False,
    is_diarized: bool = False,
    is_timed: bool = False,
) -> Transcript:
    """Return the answer. A translation is in English."""
    language = ENGLISH if is_translated and transcribed.language else transcribed.language
    probability = None if is_translated else transcribed.language_probability
    warnings = [engine.warning] if engine.warning else []
    if is_cut_short:
        warnings.append(CUT_SHORT)
    if is_timed and not transcribed.has_times:
        warnings.append(TIMES_ESTIMATED)
    cues = subtitles(transcribed.segments, language=language, latest=seconds)
    speakers = list(dict.fromkeys(cue.speaker for cue in cues if cue.speaker is not None))
    return Transcript(
        text=join_texts(transcribed.segments, language),
        language=language or AUTO,
        language_probability=None if probability is None else round(probability, 3),
        duration=seconds,
        credits_used=price,
        draft=engine.warning is not None,
        warnings=warnings,
        speakers=speakers if is_diarized else None,
        segments=cues,
    )


def render(transcript: Transcript, form: Format) -> str:
    """Return a transcript in one of our forms."""
    match form:
        case "json":
            return transcript.model_dump_json(exclude={"segments", *([] if transcript.speakers else ["speakers"])})
        case "verbose_json":
            unasked = {"speaker"} if transcript.speakers is None else set()
            document = transcript.model_dump(mode="json", exclude={"speakers"} if unasked else None)
            document["segments"] = [
                {"id": number, **{name: value for name, value in segment.items() if name not in unasked}}
                for number, segment in enumerate(document["segments"] or ())
            ]
            return json.dumps(document, ensure_ascii=False)
        case "text":
            return transcript.text if transcript.speakers is None else dialogue(transcript)
        case "srt":
            return srt(transcript.segments or ())
        case "vtt":
            return vtt(transcript.segments or ())


def dialogue(transcript: Transcript) -> str:
    """Return the text with a paragraph for each turn, which begins with its speaker."""
    turns = groupby(transcript.segments or (), key=lambda segment: segment.speaker)
    return "\n\n".join(f"{speaker}: {join_texts(list(said), transcript.language)}" for speaker, said in turns)


def rendered(transcript: Transcript, wanted: RecordingInput, heard: Sequence[HeardSegment]) -> str:
    """Return a transcript in the form that was asked for. OpenAI's JSON has `heard`, the engine's own segments."""
    form = wanted.response_format
    if form != "openai_json" and form != "openai_verbose_json" and form != "openai_diarized_json":
        return render(transcript, form)
    usage = {"type": "duration", "seconds": math.ceil(transcript.duration)}
    document: dict[str, Any] = {"text": transcript.text, "usage": usage}
    if transcript.warnings:  # not OpenAI's: what was left out, and why
        document["warnings"] = transcript.warnings
    if form == "openai_diarized_json":
        document = {"task": wanted.task, "duration": transcript.duration, **document}
        document["segments"] = [_openai_turn(number, segment) for number, segment in enumerate(heard)]
    if form == "openai_verbose_json":
        language = _language_name(transcript.language)
        document = {"task": wanted.task, "language": language, "duration": transcript.duration, **document}
        if "segment" in wanted.granularities:
            document["segments"] = [_openai_segment(number, segment) for number, segment in enumerate(heard)]
        if "word" in wanted.granularities:
            words = [word for segment in heard for word in segment.words or ()]
            document["words"] = [{"word": one.word.strip(), "start": one.start, "end": one.end} for one in words]
    return json.dumps(document, ensure_ascii=False)


def _openai_segment(number: int, segment: HeardSegment) -> dict[str, Any]:
    """Return a segment, with how it was decoded if the engine tells."""
    decoding = segment.decoding.model_dump() if segment.decoding else {}
    seek = int(segment.start * FRAMES)
    return {"id": number, "seek": seek, "start": segment.start, "end": segment.end, "text": segment.text, **decoding}


def _openai_turn(number: int, segment: HeardSegment) -> dict[str, Any]:
    """Return a segment with its speaker: A, B and so on, as OpenAI calls them."""
    letter = chr(ord("A") + int((segment.speaker or "Speaker 1").rpartition(" ")[2]) - 1)
    times = {"start": segment.start, "end": segment.end, "text": segment.text}
    return {"type": "transcript.text.segment", "id": f"seg_{number:03}", **times, "speaker": letter}


def _language_name(code: str) -> str:
    """Return the English name of a language in lower case, such as english."""
    from babel import Locale  # it takes a tenth of a second

    return "unknown" if code == AUTO else str(Locale("en").languages.get(code, code)).lower()
