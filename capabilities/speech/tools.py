"""Tools for assistants: texts read aloud."""

from api.mcp.tools import Tool

TOOLS = (
    Tool(
        "read_aloud",
        "/tts/batch",
        "Read a text of up to 20,000 characters aloud, as one MP3. 1 credit per 1,000 characters.",
        fields=("text", "language", "voice_name", "speed"),
        is_work=True,
        makes_file=True,
    ),
    Tool(
        "list_voices",
        "/tts/voices",
        "List the voices that can speak now; ask for those of quality natural first. Free.",
        fields=("language", "gender", "quality"),
        method="GET",
    ),
)
