"""Tools for assistants: books read aloud."""

from api.mcp.tools import Tool

TOOLS = (
    Tool(
        "plan_audiobook",
        "/audiobooks/plan",
        "Read a manuscript (EPUB, DOCX, HTML, Markdown, text) or an article: its chapters, length and price. Free.",
        fields=("url", "read", "language"),
        file="manuscript",
        is_work=True,
    ),
    Tool(
        "make_audiobook",
        "/audiobooks",
        "Speak a planned book. Returns a job at once; get_job tells how far it is. 1 credit per 1,000 characters.",
        fields=("plan", "only", "title", "author", "voice_name", "language", "speed", "cast", "dialogue", "reuse"),
        is_work=True,
    ),
)
