"""Rendering: a transcript in the form that was asked for, which may be OpenAI's JSON."""

import json
import math
from collections.abc import Sequence
from typing import Any

from capabilities.transcription.engines import HeardSegment
from capabilities.transcription.kinds.forms import render
from capabilities.transcription.kinds.transcription import AUTO, RecordingInput
from capabilities.transcription.kinds.transcripts import FORMATS, Transcript

#: Frames of a second by which Whisper counts: `seek` is where a segment begins in them.
FRAMES = 100


def rendered(transcript: Transcript, asked: RecordingInput, heard: Sequence[HeardSegment]) -> bytes:
    """Return a transcript; `heard` are the engine's own segments, which OpenAI's JSON has in place of subtitles."""
    wanted = asked.response_format
    if wanted in FORMATS:
        return render(transcript, wanted)
    document = _openai_json(transcript)
    if wanted == "openai_verbose_json":
        document = {
            "task": asked.task,
            "language": _language_name(transcript.language),
            "duration": transcript.duration,
            **document,
            **_times(asked, heard),
        }
    return json.dumps(document, ensure_ascii=False).encode()


def _openai_json(transcript: Transcript) -> dict[str, Any]:
    document: dict[str, Any] = {
        "text": transcript.text,
        "usage": {"type": "duration", "seconds": math.ceil(transcript.duration)},
    }
    # Not OpenAI's: whoever looks finds what was left out, and why.
    return document | ({"warnings": transcript.warnings} if transcript.warnings else {})


def _times(asked: RecordingInput, heard: Sequence[HeardSegment]) -> dict[str, Any]:
    times: dict[str, Any] = {}
    if "segment" in asked.granularities:
        times["segments"] = [_segment(number, segment) for number, segment in enumerate(heard)]
    if "word" in asked.granularities:
        times["words"] = [
            {"word": word.word.strip(), "start": word.start, "end": word.end}
            for segment in heard
            for word in segment.words or ()
        ]
    return times


def _segment(number: int, segment: HeardSegment) -> dict[str, Any]:
    """Return a segment; how it was decoded is left out where the engine does not tell."""
    decoding = segment.decoding.model_dump() if segment.decoding else {}
    seek = int(segment.start * FRAMES)
    return {"id": number, "seek": seek, "start": segment.start, "end": segment.end, "text": segment.text, **decoding}


def _language_name(code: str) -> str:
    """Return the English name of a language, as OpenAI has it: english for en."""
    from babel import Locale  # it takes a tenth of a second

    return "unknown" if code == AUTO else str(Locale("en").languages.get(code, code)).lower()
