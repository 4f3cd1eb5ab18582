"""Calls of tools: what becomes of a result that is paid."""

import asyncio
from pathlib import Path

import httpx2

from api.mcp.calls import Calls
from api.mcp.tools import Tool


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
