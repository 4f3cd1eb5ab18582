"""Tools for assistants: which pages search engines show, and why others are missing."""

from api.mcp.tools import Tool

TOOLS = (
    Tool(
        "check_pages",
        "/indexing/jobs",
        "Check whether pages are in search results, and find out why others are not. Returns a job at once;"
        " list_checked_pages has its answers. 1 credit for each new answer.",
        fields=("urls", "sitemap_url", "index", "fresh", "name"),
        fixed={"type": "check", "diagnose": True},
        is_work=True,
    ),
    Tool(
        "list_checked_pages",
        "/indexing/jobs/{job_id}/urls",
        "List the pages of a check with their answers and, for a missing page, the cause. Free.",
        fields=("job_id", "status", "reason", "limit", "offset"),
        method="GET",
    ),
)
