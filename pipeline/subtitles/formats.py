"""Subtitle formats: SubRip and WebVTT."""

from collections.abc import Sequence

from pipeline.subtitles.segments import Segment
from pipeline.subtitles.subtitles import lines_of


def srt(cues: Sequence[Segment]) -> str:
    """Return subtitles as SubRip."""
    return "".join(
        # An arrow in a text would pass for a line of times.
        f"{number}\n{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}\n{lines_of(cue.text.replace('-->', '→'))}\n\n"
        for number, cue in enumerate(cues, start=1)
    )


def vtt(cues: Sequence[Segment]) -> str:
    """Return subtitles as WebVTT."""
    shown = (f"\n{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{_escaped(lines_of(cue.text))}\n" for cue in cues)
    return "WEBVTT\n" + "".join(shown)


def _clock(seconds: float, separator: str) -> str:
    milliseconds = round(seconds * 1_000)
    minutes, milliseconds = divmod(milliseconds, 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{milliseconds // 1_000:02}{separator}{milliseconds % 1_000:03}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
