"""Tools for assistants: what made a file."""

from api.mcp.tools import Tool

TOOLS = (
    Tool(
        "verify_file",
        "/verify",
        "Tell which engine made a sound or a picture, and whether it was altered since. Free.",
        file="file",
        is_work=True,
    ),
)
