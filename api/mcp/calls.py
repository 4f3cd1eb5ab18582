"""Calls: a tool is a request to the API, so keys, prices, limits and errors are those of the API."""

import asyncio
import base64
import binascii
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
from mcp_types import AudioContent, CallToolResult, ContentBlock, ImageContent, ResourceLink, TextContent

from api.http.parameters import PRICE
from api.mcp.tools import BASE64, DRY_RUN, PATH, SAVE_AS, Tool

#: Clients give a tool a minute; a job that takes longer goes on without the call.
PATIENCE_SECONDS = 50.0
#: The first pause between two looks at a job, and the longest.
PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.1, 1.0
#: Larger files are linked to, not put into the answer.
MAX_INLINE_BYTES = 1024 * 1024
#: Asks for as much of a file as may be in an answer, and a byte more: all of it would be in memory several times.
BEGINNING = {"Range": f"bytes=0-{MAX_INLINE_BYTES}"}
MAX_BASE64_BYTES = 3 * 1024 * 1024
#: No route takes a larger file in a form.
MAX_FILE_BYTES = 100 * 1024 * 1024

Progress = Callable[[float, float | None, str | None], Awaitable[None]]


class CallRefused(Exception):
    """Arguments that can't be sent; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Carries out tools by requests of one client, which has the address and the key.

    `folder` is the one whose files tools may read, and into which they may write new ones; None: no file at all."""

    client: httpx2.AsyncClient
    folder: Path | None = None

    async def call(self, tool: Tool, arguments: Mapping[str, Any], progress: Progress) -> CallToolResult:
        """Return the answer to a tool's request; a refusal is an answer with `is_error`."""
        given = {name: value for name, value in arguments.items() if value is not None}
        if unknown := given.keys() - tool.arguments:
            return _failure(f"{tool.name} has no argument {min(unknown)[:60]!r}; it has {', '.join(tool.fields)}.")
        try:
            target = self._target(given.pop(SAVE_AS, None))
            request = self._request(tool, given)
            most = MAX_INLINE_BYTES if target is None else None
            if tool.method == "GET" and tool.makes_file:
                response = await self.result(request.url, most=most)
            else:
                response = await self.client.send(request)
            if tool.is_work and response.status_code == HTTPStatus.ACCEPTED:
                response = await self._ended(response.json(), progress, most=most)
            return self._shown(response, target)
        except CallRefused as refused:
            return _failure(str(refused))
        except httpx2.HTTPError as error:
            return _failure(f"{self.client.base_url} can't be reached: {error or type(error).__name__}.")

    async def result(self, url: httpx2.URL | str, *, most: int | None) -> httpx2.Response:
        """Return a job's result; of a sound or a picture of more than `most` bytes only the beginning."""
        response = await self.client.get(url, headers={} if most is None else BEGINNING)
        if response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:  # it is empty
            return await self.client.get(url)
        size = size_of(response)
        if size > len(response.content) and (_is_text(_kind(response)) or most is None or size <= most):
            return await self.client.get(url)
        return response

    def _request(self, tool: Tool, given: dict[str, Any]) -> httpx2.Request:
        file = self._file(tool, given)
        is_dry = given.pop(DRY_RUN, False)
        path = tool.path
        for name in [name for name in given if f"{{{name}}}" in path]:
            path = path.replace(f"{{{name}}}", quote(str(given.pop(name)), safe=""))
        if tool.method == "GET":
            query = {name: ",".join(value) if isinstance(value, list) else value for name, value in given.items()}
            return self.client.build_request("GET", path, params=query)
        headers = {"Prefer": "respond-async"} if tool.is_work else {}
        params = {"dry_run": "true"} if is_dry else {}
        fields = {**tool.fixed, **given}
        if tool.file and file:
            texts = {name: json.dumps(value) if isinstance(value, bool) else value for name, value in fields.items()}
            return self.client.build_request(
                "POST", path, params=params, headers=headers, data=texts, files={tool.file: file}
            )
        return self.client.build_request("POST", path, params=params, headers=headers, json=fields)

    def _file(self, tool: Tool, given: dict[str, Any]) -> tuple[str, bytes] | None:
        """Return the name and the bytes of the file that the arguments have or name. Raises CallRefused."""
        path, encoded = given.pop(PATH, None), given.pop(BASE64, None)
        if path is not None and encoded is not None:
            raise CallRefused(f"Send {PATH} or {BASE64}, not both.")
        if encoded is not None:
            try:
                content = base64.b64decode(encoded, validate=True)
            except (binascii.Error, ValueError):
                raise CallRefused(f"{BASE64} is not Base64.") from None
            if len(content) > MAX_BASE64_BYTES:
                raise CallRefused(f"{BASE64} has {len(content):,} bytes, more than {MAX_BASE64_BYTES:,}.")
            return "file", content
        if path is not None:
            found = self._inside(path)
            if not found.is_file():
                raise CallRefused(f"There is no file {path!r} in the shared folder.")
            if (size := found.stat().st_size) > MAX_FILE_BYTES:
                raise CallRefused(f"{path!r} has {size:,} bytes, more than {MAX_FILE_BYTES:,}.")
            return found.name, found.read_bytes()
        if tool.file and not any(name.endswith("_url") for name in given):
            choices = [
                *(name for name in tool.fields if name.endswith("_url")),
                *([PATH] if self.folder else []),
                BASE64,
            ]
            raise CallRefused(f"Which file? Send {' or '.join(choices)}.")
        return None

    def _target(self, name: str | None) -> Path | None:
        """Return the path of a result's new file. Raises CallRefused."""
        if name is None:
            return None
        target = self._inside(name)
        if target.exists():
            raise CallRefused(f"{name!r} is there already; choose another name.")
        if not target.parent.is_dir():
            raise CallRefused(f"The shared folder has no folder {str(Path(name).parent)!r}.")
        return target

    def _inside(self, name: str) -> Path:
        """Return a path in the shared folder, which links may not leave. Raises CallRefused."""
        if self.folder is None:
            raise CallRefused("No folder is shared; start `pressroom mcp --files FOLDER`.")
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise CallRefused(f"{name!r} is outside the shared folder.")
        return path

    async def _ended(self, job: Mapping[str, Any], progress: Progress, *, most: int | None) -> httpx2.Response:
        """Return the result of a job, or the job itself if it takes longer than a call may."""
        pause, waited, last = PAUSE_SECONDS, 0.0, None
        while True:
            response = await self.client.get(f"/jobs/{job['id']}")
            if response.status_code != HTTPStatus.OK:
                return response
            found = response.json()
            done = found["progress"]
            if found["state"] not in ("queued", "running"):
                return await self.result(f"/jobs/{job['id']}/result", most=most)
            if (told := (done["done"], done["total"], found["state"])) != last:
                await progress(*told)
                last = told
            if waited >= PATIENCE_SECONDS:
                return response
            await asyncio.sleep(pause)
            waited += pause
            pause = min(pause * 1.5, MAX_PAUSE_SECONDS)

    def _shown(self, response: httpx2.Response, target: Path | None) -> CallToolResult:
        """Return an answer of the API as an assistant reads it."""
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            return _failure(_reason(response))
        if (price := response.headers.get(PRICE)) is not None:
            return CallToolResult(content=[TextContent(text=f"It costs {price} credit{'' if price == '1' else 's'}.")])
        kind, notes = _kind(response), _notes(response)
        if kind == "application/json":
            found = response.json()
            shown = [TextContent(text=json.dumps(found, ensure_ascii=False)), *notes]
            return CallToolResult(content=shown, structured_content=found if isinstance(found, dict) else None)
        if target is not None:
            try:
                with target.open("xb") as file:
                    file.write(response.content)
            except OSError as error:  # it is paid, and must not be paid again
                said = f"{target.name} can't be written: {error.strerror}. get_job_result returns the result, free."
                return CallToolResult(content=[TextContent(text=said), *notes], is_error=True)
            said = f"Saved as {target.name}, {len(response.content):,} bytes."
            return CallToolResult(content=[TextContent(text=said), *notes])
        if _is_text(kind):
            return CallToolResult(content=[TextContent(text=response.text), *notes])
        return CallToolResult(content=[*_media(response, kind), *notes])


def result_uri(job_id: str) -> str:
    """Return the URI of a job's result as a resource."""
    return f"pressroom://jobs/{job_id}/result"


def size_of(response: httpx2.Response) -> int:
    """Return the bytes of a file of which an answer may have only a part."""
    if response.status_code == HTTPStatus.PARTIAL_CONTENT:
        return int(response.headers["content-range"].rpartition("/")[2])
    return len(response.content)


def _kind(response: httpx2.Response) -> str:
    return str(response.headers.get("content-type", "").partition(";")[0])


def _is_text(kind: str) -> bool:
    return kind.startswith("text/") or kind in ("application/json", "application/x-subrip")


def _media(response: httpx2.Response, kind: str) -> list[ContentBlock]:
    """Return a sound or a picture: the bytes if they are few, and a link to them."""
    shown: list[ContentBlock] = []
    size = size_of(response)
    if size <= MAX_INLINE_BYTES:
        data = base64.b64encode(response.content).decode()
        if kind.startswith("audio/"):
            shown.append(AudioContent(data=data, mime_type=kind))
        elif kind.startswith("image/"):
            shown.append(ImageContent(data=data, mime_type=kind))
    if job_id := response.headers.get("x-job-id"):
        link = ResourceLink(name="result", uri=result_uri(job_id), mime_type=kind, size=size, description="The result.")
        shown.append(link)
    return shown


def _notes(response: httpx2.Response) -> list[ContentBlock]:
    """Return a result's headers as one line for people."""
    labels = {
        "x-job-id": "Job",
        "x-engine": "Engine",
        "x-credits-used": "Credits used",
        "x-credits-remaining": "Credits left",
        "x-warning": "Warning",
    }
    said = [f"{label}: {found}" for name, label in labels.items() if (found := response.headers.get(name))]
    return [TextContent(text=". ".join(said) + ".")] if said else []


def _reason(response: httpx2.Response) -> str:
    """Return why the API refused: its message, code and field."""
    try:
        error = response.json()
        return f"{error['message']} ({error['code']})"
    except (ValueError, KeyError, TypeError):
        return f"The service answered {response.status_code}."


def _failure(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=message)], is_error=True)
