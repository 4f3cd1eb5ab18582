"""Tools for assistants: recordings as text."""

from api.mcp.tools import Tool

TOLD = ("language", "prompt", "response_format", "diarize", "speakers")

TOOLS = (
    Tool(
        "transcribe",
        "/tts/stt",
        "Transcribe a recording of up to 25 MB, as JSON, text or subtitles (srt, vtt); diarize tells who speaks."
        " 5 credits per minute.",
        fields=TOLD,
        file="audio",
        is_work=True,
        makes_file=True,
    ),
    Tool(
        "transcribe_url",
        "/transcriptions",
        "Transcribe a recording of up to four hours at an address, such as a podcast's. 5 credits per minute.",
        fields=("url", *TOLD),
        is_work=True,
        makes_file=True,
    ),
)
