"""Tools for assistants: recordings as text."""

from api.mcp.tools import Tool

TOOLS = (
    Tool(
        "transcribe",
        "/tts/stt",
        "Transcribe a recording, as JSON, text or subtitles (srt, vtt). 5 credits per minute.",
        fields=("language", "prompt", "response_format"),
        file="audio",
        is_work=True,
        makes_file=True,
    ),
)
