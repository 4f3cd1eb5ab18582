"""Server: tools, results of jobs as resources, and what an assistant is told at first."""

import base64
from collections.abc import Callable
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
    ToolAnnotations,
)
from mcp_types import Tool as ShownTool

from api.mcp.calls import Calls, result_uri, size_of
from api.mcp.tools import Json, Tool, all_tools

Context = ServerRequestContext[Any, Any]

INSTRUCTIONS = (
    "Pressroom works for people who publish: it describes pictures, reads texts aloud, transcribes recordings, writes"
    " excerpts and makes covers of posts, and checks whether pages are in search results. Work costs the credits of"
    " the account; call a tool with dry_run to learn its price first. Long work goes on as a job: get_job tells how"
    " far it is, and get_job_result returns what it made. A draft (draft: true) needs a person's eye."
)
#: Before and after the job's id in the URI of a result.
RESULT = ("pressroom://jobs/", "/result")
LISTED_JOBS = 50
#: Larger sounds and pictures are not sent in Base64.
MAX_RESOURCE_BYTES = 25 * 1024 * 1024


class Assistance:
    """The handlers of a server. `calls` returns the calls of the client that a request comes from."""

    def __init__(self, calls: Callable[[Context], Calls]) -> None:
        self._calls = calls
        self._document: Json | None = None

    def server(self) -> "Server[Any]":
        """Return a server, for any transport."""
        return Server(
            "pressroom",
            title="Pressroom",
            version=version("pressroom"),
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def _list_tools(self, context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        calls = self._calls(context)
        document = await self._described(calls)
        tools = [_shown(tool, document, has_folder=calls.folder is not None) for tool in await _usable(calls)]
        return ListToolsResult(tools=tools)

    async def _call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        calls = self._calls(context)
        tool = next((tool for tool in await _usable(calls) if tool.name == params.name), None)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"There is no tool {params.name[:60]!r} for this key.")
        return await calls.call(tool, params.arguments or {}, context.session.report_progress)

    async def _list_resources(self, context: Context, _: PaginatedRequestParams | None) -> ListResourcesResult:
        calls = self._calls(context)
        answer = await calls.client.get("/jobs", params={"state": "succeeded,partial", "limit": LISTED_JOBS})
        answer.raise_for_status()
        jobs = answer.json()
        return ListResourcesResult(
            resources=[Resource(name=job["name"] or job["kind"], uri=result_uri(job["id"])) for job in jobs]
        )

    async def _list_templates(self, context: Context, _: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        template = ResourceTemplate(
            name="result", uri_template="{job_id}".join(RESULT), description="The result of a job that has ended."
        )
        return ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        before, after = RESULT
        uri = str(params.uri)
        if not (uri.startswith(before) and uri.endswith(after)):
            raise MCPError(INVALID_PARAMS, f"Resources look like {'{job_id}'.join(RESULT)}, not like {uri[:80]!r}.")
        job_id = quote(uri[len(before) : -len(after)], safe="")
        answer = await self._calls(context).result(f"/jobs/{job_id}/result", most=MAX_RESOURCE_BYTES)
        if answer.is_error:
            raise MCPError(INVALID_PARAMS, answer.json().get("message", f"The service answered {answer.status_code}."))
        if (size := size_of(answer)) > len(answer.content):
            raise MCPError(INVALID_PARAMS, f"The result has {size:,} bytes. Download it: GET /jobs/{job_id}/result.")
        kind = answer.headers.get("content-type", "").partition(";")[0]
        if kind.startswith("text/") or kind == "application/json":
            return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=kind, text=answer.text)])
        blob = base64.b64encode(answer.content).decode()
        return ReadResourceResult(contents=[BlobResourceContents(uri=uri, mime_type=kind, blob=blob)])

    async def _described(self, calls: Calls) -> Json:
        if self._document is None:
            answer = await calls.client.get("/openapi.json")
            answer.raise_for_status()
            self._document = answer.json()
        return self._document


async def _usable(calls: Calls) -> list[Tool]:
    """Return the tools of the key that the calls have. Raises MCPError for a key that isn't valid."""
    answer = await calls.client.post("/verify-key", json={})
    found = answer.json()
    if not found.get("valid"):
        raise MCPError(INVALID_PARAMS, found.get("error") or found.get("message"))
    return [tool for tool in all_tools() if tool.is_for(found.get("routes"))]


def _shown(tool: Tool, document: Json, *, has_folder: bool) -> ShownTool:
    reads = tool.method == "GET"
    return ShownTool(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        description=tool.description,
        input_schema=tool.input_schema(document, has_folder=has_folder),
        annotations=ToolAnnotations(read_only_hint=reads, destructive_hint=False, open_world_hint=tool.is_work),
    )
