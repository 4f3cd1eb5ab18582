"""Calls of tools: what becomes of a result that is paid."""

import asyncio
from pathlib import Path

import httpx2
import pytest

from api.mcp.calls import MAX_INLINE_BYTES, Calls, size_of
from api.mcp.tools import JOB_TOOLS, Tool


def test_a_result_that_can_not_be_saved_is_not_lost(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()

    def speak(_: httpx2.Request) -> httpx2.Response:
        shared.rmdir()
        return httpx2.Response(200, headers={"Content-Type": "audio/mpeg", "X-Job-Id": "7"}, content=b"sound")

    async def progress(*_: object) -> None:
        pass

    async def scenario() -> None:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(speak), base_url="http://here") as client:
            tool = Tool("read_aloud", "/tts/batch", "", fields=("text",), is_work=True, makes_file=True)
            answer = await Calls(client, shared).call(tool, {"text": "Hello.", "save_as": "a.mp3"}, progress)
        assert answer.is_error
        said = " ".join(block.text for block in answer.content if block.type == "text")
        assert "get_job_result returns the result, free" in said
        assert "Job: 7" in said

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("kind", "size", "sent"),
    [
        ("audio/mpeg", 0, 0),
        ("audio/mpeg", MAX_INLINE_BYTES, MAX_INLINE_BYTES),
        ("audio/mpeg", MAX_INLINE_BYTES + 2, MAX_INLINE_BYTES + 1),
        ("text/plain", MAX_INLINE_BYTES + 2, MAX_INLINE_BYTES + 2),
    ],
)
def test_of_a_large_sound_only_the_beginning_is_read_and_of_a_text_all(kind: str, size: int, sent: int) -> None:
    def send(request: httpx2.Request) -> httpx2.Response:
        whole, end = bytes(size), int(request.headers.get("Range", "-0").rpartition("-")[2]) + 1
        if end == 1:
            return httpx2.Response(200, headers={"Content-Type": kind}, content=whole)
        if not size:
            return httpx2.Response(416)
        told = {"Content-Type": kind, "Content-Range": f"bytes 0-{min(end, size) - 1}/{size}"}
        return httpx2.Response(206, headers=told, content=whole[:end])

    async def scenario() -> None:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(send), base_url="http://here") as client:
            found = await Calls(client).result("/jobs/7/result", most=MAX_INLINE_BYTES)
        assert (size_of(found), len(found.content)) == (size, sent)

    asyncio.run(scenario())


def test_a_tool_without_a_price_takes_no_dry_run() -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response:
        raise AssertionError(f"{request.url} was asked.")

    async def progress(*_: object) -> None:
        pass

    async def scenario() -> None:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(refuse), base_url="http://here") as client:
            (cancel,) = [tool for tool in JOB_TOOLS if tool.name == "cancel_job"]
            answer = await Calls(client).call(cancel, {"job_id": "7", "dry_run": True}, progress)
        assert answer.is_error

    asyncio.run(scenario())
