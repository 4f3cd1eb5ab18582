"""Metadata by an endpoint."""

from collections.abc import Iterator
from typing import Any

import pytest
from examples.posts import POSTS
from model_server import ModelServer, chat, refused

from capabilities.blog.engines.metadata.extractive.extractive import Extractive
from capabilities.blog.engines.metadata.llm.endpoint import EndpointWriter
from capabilities.blog.engines.metadata.plain import read_post
from pipeline.settings import Settings
from workers.engines.endpoints.errors import AnswerInvalid, QuotaSpent

PATH = "/chat/completions"
POST = read_post(POSTS[0].title, POSTS[0].content, "en")
GOOD = {
    "excerpt": "Cherry tomatoes ripen first, and a balcony with six hours of sun is enough.",
    "category": "Home & Garden",
    "tags": ["Cherry Tomatoes", "balcony", "compost", "watering", "tomato plants"],
}


@pytest.fixture(name="server")
def _server() -> Iterator[ModelServer]:
    with ModelServer({"/models": {}}) as server:
        yield server


@pytest.fixture(name="writer")
def _writer(server: ModelServer) -> Iterator[EndpointWriter]:
    writer = EndpointWriter(Settings(endpoints={"house": {"url": server.url, "posts": "qwen"}}), "house")
    writer.setup()
    yield writer
    writer.close()


def test_excerpt_category_and_tags_come_in_one_answer(server: ModelServer, writer: EndpointWriter) -> None:
    server.answers[PATH] = chat(GOOD)
    written = writer.write(POST)
    assert (written.excerpt, written.category) == (GOOD["excerpt"], GOOD["category"])
    assert "cherry tomatoes" in written.tags
    assert POST.title in str(server.asked[-1].body["messages"])


@pytest.mark.parametrize(
    "changed", [{"excerpt": "Buy cheap pills at pills.example.com now, they are the best."}, {"tags": "none"}]
)
def test_unusable_answers_bring_a_warning(server: ModelServer, writer: EndpointWriter, changed: dict[str, Any]) -> None:
    server.answers[PATH] = chat({**GOOD, **changed})
    written = writer.write(POST)
    assert written.excerpt == Extractive().write(POST).excerpt
    assert "answer was not used" in written.warnings[-1]


def test_prose_is_asked_for_once_more_and_a_spent_quota_is_told(server: ModelServer, writer: EndpointWriter) -> None:
    server.answers[PATH] = chat("Here is your excerpt!")
    with pytest.raises(AnswerInvalid):
        writer.write(POST)
    assert server.paths() == [PATH, PATH]
    server.answers[PATH] = refused(429, {"error": {"code": "insufficient_quota", "message": "no credit"}})
    with pytest.raises(QuotaSpent, match="credit of its key is spent"):
        writer.write(POST)
    assert not writer.is_available()
