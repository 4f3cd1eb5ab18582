"""MCP: an assistant uses a whole system by the SDK's own client, over HTTP and as a program that it starts."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import StdioServerParameters, stdio_client
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from search_engine import SearchEngine
from systems import Running

from pressroom import Pressroom

pytestmark = pytest.mark.system

HERE, GONE = "https://e.example/here", "https://e.example/gone"
PICTURE = Path(__file__).parents[2] / "capabilities" / "alt_text" / "demo"


@asynccontextmanager
async def over_http(service: Running, key: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=90) as http,
        Client(streamable_http_client(f"{service.address}/mcp", http_client=http)) as client,
    ):
        yield client


@asynccontextmanager
async def as_a_program(service: Running, folder: Path) -> AsyncIterator[Client]:
    arguments = ["-m", "scripts.main", "mcp", "--url", service.address, "--files", str(folder)]
    environment = {**os.environ, "PRESSROOM_API_KEY": service.key}
    async with Client(
        stdio_client(StdioServerParameters(command=sys.executable, args=arguments, env=environment))
    ) as client:
        yield client


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(scenario())  # type: ignore[arg-type]


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer
    return answer


def text(answer: Any) -> str:
    return "\n".join(block.text for block in answer.content if block.type == "text")


def test_an_assistant_learns_the_price_speaks_and_finds_the_sound_again(service: Running) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def told(done: float, total: float | None, message: str | None) -> None:
        seen.append((done, total, message))

    async def scenario() -> None:
        async with over_http(service, service.key) as client:
            said = {"text": "Good morning! " * 10}
            price = await call(client, "read_aloud", dry_run=True, **said)
            assert text(price) == "It costs 1 credit."
            assert (await call(client, "list_jobs")).content[0].text == "[]"

            spoken = await client.call_tool("read_aloud", said, progress_callback=told)
            sound, link, notes = spoken.content
            assert (sound.type, sound.mime_type) == ("audio", "audio/mpeg")
            assert "Credits used: 1." in notes.text
            assert {message for _, _, message in seen} <= {"queued", "running"}
            assert seen

            [listed] = (await client.list_resources()).resources
            assert listed.uri == link.uri
            [again] = (await client.read_resource(link.uri)).contents
            assert again.blob == sound.data

    run(scenario)


def test_an_assistant_finds_out_why_a_page_is_missing(service: Running, engine: SearchEngine) -> None:
    engine.pages = {HERE}

    async def scenario() -> None:
        async with over_http(service, service.key) as client:
            job = (await call(client, "check_pages", urls=[HERE, GONE])).structured_content
            for _ in range(600):
                state = (await call(client, "get_job", job_id=job["job_id"])).structured_content["state"]
                if state not in ("queued", "running"):
                    break
                await asyncio.sleep(0.1)
            rows = json.loads((await call(client, "list_checked_pages", job_id=job["job_id"])).content[0].text)
            assert {row["url"]: row["is_indexed"] for row in rows} == {HERE: True, GONE: False}

    run(scenario)


def test_a_key_for_two_routes_sees_their_tools_and_those_for_jobs(service: Running) -> None:
    with Pressroom(service.key, url=service.address) as owner:
        limited = owner.create_key("assistant", routes=["/generate", "/tts/batch"]).api_key or ""

    async def scenario() -> None:
        async with over_http(service, limited) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert names == {
                "describe_picture", "read_aloud", "list_jobs", "get_job", "get_job_result", "cancel_job"
            }  # fmt: skip
            with pytest.raises(MCPError, match="no tool 'check_pages' for this key"):
                await client.call_tool("check_pages", {"urls": [HERE]})

    run(scenario)


def test_arguments_lead_to_no_other_route(service: Running) -> None:
    async def scenario() -> None:
        async with over_http(service, service.key) as client:
            for tool, arguments, reason in (
                ("get_job", {"job_id": "../keys"}, "route_not_found"),
                ("read_aloud", {"text": "No.", "webhook_url": "https://example.org"}, "no argument 'webhook_url'"),
            ):
                refused = await client.call_tool(tool, arguments)
                assert refused.is_error
                assert reason in text(refused)

    run(scenario)


def test_a_wrong_key_is_refused_as_everywhere(service: Running) -> None:
    for headers in ({}, {"Authorization": "Bearer pr_live_wrong"}):
        answer = httpx2.post(f"{service.address}/mcp", json={"jsonrpc": "2.0"}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    assert httpx2.get(f"{service.address}/mcp", headers={"X-API-Key": service.key}).status_code == 405


def test_a_program_reads_and_writes_one_folder_only(service: Running, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.png").symlink_to(tmp_path / "secret.txt")
    picture = next(PICTURE.glob("*.png"), None) or next(PICTURE.rglob("*.jpg"))
    (folder / picture.name).write_bytes(picture.read_bytes())

    async def scenario() -> None:
        async with as_a_program(service, folder) as client:
            described = await call(client, "describe_picture", file_path=picture.name)
            assert described.structured_content["alt_text"]

            saved = await call(client, "read_aloud", text="Good morning!", save_as="morning.mp3")
            assert text(saved).startswith("Saved as morning.mp3")
            heard = await call(client, "transcribe", file_path="morning.mp3", response_format="text")
            assert "good morning" in text(heard).lower()

            for arguments, reason in (
                ({"file_path": "../secret.txt"}, "outside the shared folder"),
                ({"file_path": "link.png"}, "outside the shared folder"),
                ({"file_path": "gone.png"}, "no file 'gone.png'"),
                ({"file_base64": "?"}, "not Base64"),
                ({}, "Send image_url or file_path or file_base64"),
            ):
                refused = await client.call_tool("describe_picture", arguments)
                assert refused.is_error
                assert reason in text(refused)
            twice = await client.call_tool("read_aloud", {"text": "No.", "save_as": "morning.mp3"})
            assert "there already" in text(twice)

    run(scenario)
