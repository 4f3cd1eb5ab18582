"""Transcript forms: a transcript as JSON, plain text, SubRip or WebVTT."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pipeline.kinds.transcription.subtitles import lines_of
from pipeline.kinds.transcription.transcripts import Format, Transcript


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
    return "".join(
        # An arrow in a text would pass for a line of times.
        f"{number}\n{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}\n{lines_of(cue.text.replace('-->', '→'))}\n\n"
        for number, cue in enumerate(transcript.segments or (), start=1)
    )


def _vtt(transcript: Transcript) -> str:
    cues = (
        f"\n{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{_escaped(lines_of(cue.text))}\n"
        for cue in transcript.segments or ()
    )
    return "WEBVTT\n" + "".join(cues)


_RENDERERS: Mapping[Format, Callable[[Transcript], str]] = {
    "json": _json,
    "verbose_json": _verbose_json,
    "text": _text,
    "srt": _srt,
    "vtt": _vtt,
}


def _clock(seconds: float, separator: str) -> str:
    milliseconds = round(seconds * 1_000)
    minutes, milliseconds = divmod(milliseconds, 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{milliseconds // 1_000:02}{separator}{milliseconds % 1_000:03}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
