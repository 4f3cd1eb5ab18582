"""Tools for assistants: pictures as alt text."""

from api.mcp.tools import Tool

TOOLS = (
    Tool(
        "describe_picture",
        "/generate",
        "Describe a picture as alt text. 1 credit; a draft (draft: true) and an ornament are free.",
        fields=("image_url", "mode", "language", "page_title", "context", "keywords", "allow_decorative"),
        file="image",
        is_work=True,
    ),
    Tool(
        "describe_pictures",
        "/batch",
        "Describe up to 100 pictures by their URLs. 1 credit for each that is described.",
        fields=("images",),
        is_work=True,
    ),
)
