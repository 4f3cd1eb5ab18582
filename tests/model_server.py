"""A server in OpenAI's form on loopback, with the differences between real ones, for the tests of endpoints."""

import asyncio
import base64
import io
import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web
from loopback import served
from PIL import Image

KEY = "sk-right"
#: What the server answers to a request: a reply, or what it makes of the request's JSON or form.
Answer = web.Response | Callable[[Mapping[str, Any]], Any]


@dataclass
class Asked:
    """A request as it came."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]


@dataclass
class ModelServer:
    """Answers as told by `answers`, a path each; what is not told is 404. `asked` are the requests so far."""

    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    key: str | None = None
    seconds: float = 0.0
    most_at_once: int = 0
    _now: int = 0

    def __enter__(self) -> Self:
        app = web.Application(client_max_size=2**30)
        app.router.add_route("*", "/v1{path:.*}", self._serve)
        self._serving = ExitStack()
        self.url = f"http://127.0.0.1:{self._serving.enter_context(served(app))}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the server; its port answers nobody from now on."""
        self._serving.close()

    def paths(self) -> list[str]:
        """Return the paths that were asked for, without the probes' list of models."""
        return [one.path for one in self.asked if one.path not in ("/models", "/audio/voices")]

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        path = request.match_info["path"]
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            body = await _read(request)
            self.asked.append(Asked(path, body, dict(request.headers)))
            if self.key is not None and request.headers.get("Authorization") != f"Bearer {self.key}":
                return web.json_response(
                    {"error": {"message": f"wrong {request.headers['Authorization']}"}}, status=401
                )
            if path not in ("/models", "/audio/voices"):
                await asyncio.sleep(self.seconds)
            found = self.answers.get(path)
            if found is None:
                return web.json_response({"error": {"message": "no such route", "code": 404}}, status=404)
            answer = found(body) if callable(found) else found
            if asyncio.iscoroutine(answer):
                answer = await answer
            return answer if isinstance(answer, web.StreamResponse) else web.json_response(answer)
        finally:
            self._now -= 1


async def _read(request: web.Request) -> dict[str, Any]:
    if request.content_type == "application/json":
        return dict(await request.json())
    if request.content_type == "multipart/form-data":
        form = await request.post()
        return {name: value.file.read() if isinstance(value, web.FileField) else value for name, value in form.items()}
    return {}


def refused(status: int, error: Any, **headers: str) -> Answer:
    """Return a refusal; `error` is the body's JSON, which differs between servers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: web.json_response(error, status=status, headers=named)


def chat(text: str | Mapping[str, Any], *, finish: str = "stop") -> dict[str, Any]:
    """Return an answer of /chat/completions."""
    content = text if isinstance(text, str) else json.dumps(text)
    message = {"role": "assistant", "content": content}
    usage = {"prompt_tokens": 300, "completion_tokens": 40, "total_tokens": 340}
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}


def drawing(size: tuple[int, int] = (1536, 1024)) -> dict[str, Any]:
    """Return an answer of /images/generations: a picture of many colours in base64."""
    file = io.BytesIO()
    Image.radial_gradient("L").resize(size).convert("RGB").save(file, "PNG")
    return {"data": [{"b64_json": base64.b64encode(file.getvalue()).decode()}]}
