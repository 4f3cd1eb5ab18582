"""Tools for assistants: what a blog post needs."""

from api.mcp.tools import Tool

TOOLS = (
    Tool(
        "prepare_post",
        "/blog/generate",
        "Make up to three covers, an excerpt, a category and tags for a blog post. 3 credits.",
        fields=("title", "content", "language", "image_style", "image_title"),
        is_work=True,
    ),
)
