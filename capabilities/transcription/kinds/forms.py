"""Transcript forms: a transcript as JSON, plain text, SubRip or WebVTT."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from capabilities.transcription.kinds.transcripts import Format, Transcript
from pipeline.subtitles.subtitles import srt, vtt


def render(transcript: Transcript, wanted: Format) -> bytes:
    """Return a transcript, which has its segments, in the form that was asked for."""
    return _RENDERERS[wanted](transcript).encode()


def _json(transcript: Transcript) -> str:
    return transcript.model_dump_json(exclude={"segments"})


def _verbose_json(transcript: Transcript) -> str:
    document: dict[str, Any] = transcript.model_dump(mode="json")
    document["segments"] = [{"id": number, **segment} for number, segment in enumerate(document["segments"] or ())]
    return json.dumps(document, ensure_ascii=False)


def _text(transcript: Transcript) -> str:
    return transcript.text


def _srt(transcript: Transcript) -> str:
    return srt(transcript.segments or ())


def _vtt(transcript: Transcript) -> str:
    return vtt(transcript.segments or ())


_RENDERERS: Mapping[Format, Callable[[Transcript], str]] = {
    "json": _json,
    "verbose_json": _verbose_json,
    "text": _text,
    "srt": _srt,
    "vtt": _vtt,
}
