"""Chat with endpoints: JSON by a schema where the server has it, and without where it has not."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web
from model_server import ModelServer, chat, refused

from pipeline.marks.receipts import TokenCount
from pipeline.settings.endpoints import EndpointSettings
from workers.engines.endpoints.chat import ChatModel, Question
from workers.engines.endpoints.client import EndpointClient
from workers.engines.endpoints.errors import AnswerInvalid, RequestRefused

PATH = "/chat/completions"
SCHEMA = {"type": "object", "properties": {"short": {"type": "string"}}, "required": ["short"]}
QUESTION = Question([{"role": "user", "content": "What is it?"}], SCHEMA, most=60)
DOG = {"short": "A dog."}


@pytest.fixture(name="server")
def _server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(name="model")
def _model(server: ModelServer) -> Iterator[ChatModel]:
    client = EndpointClient("house", EndpointSettings(url=server.url))
    yield ChatModel(client, "llava")
    client.close()


def bodies(server: ModelServer) -> list[dict[str, Any]]:
    return [one.body for one in server.asked]


def test_an_answer_by_the_schema_is_its_json(server: ModelServer, model: ChatModel) -> None:
    server.answers[PATH] = chat(DOG)
    assert model.ask([QUESTION, QUESTION]) == [DOG, DOG]
    (body, _) = bodies(server)
    assert body["model"] == "llava"
    assert body["messages"] == QUESTION.messages
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA


@pytest.mark.parametrize(
    "text",
    ["```json\n" + json.dumps(DOG) + "\n```", "<think>Hm, a dog?</think>\n" + json.dumps(DOG), json.dumps(DOG) + "\n"],
)
def test_what_stands_around_the_json_is_left_out(server: ModelServer, model: ChatModel, text: str) -> None:
    server.answers[PATH] = chat(text)
    assert model.ask([QUESTION]) == [DOG]


def test_a_server_that_ignores_the_schema_is_asked_once_more_in_words(server: ModelServer, model: ChatModel) -> None:
    server.answers[PATH] = lambda body: chat("A dog." if "response_format" in body else DOG)
    question = Question(QUESTION.messages, SCHEMA, most=60)
    assert model.ask([question, QUESTION]) == [DOG, DOG]
    assert json.dumps(SCHEMA) in bodies(server)[-1]["messages"][-1]["content"]
    assert question.tokens == {"house": TokenCount(prompt=600, completion=80)}  # both answers took some


@pytest.mark.parametrize(
    ("field", "said", "instead"),
    [
        ("response_format", {"error": "'response_format.type' must be 'text'"}, None),
        ("temperature", {"error": {"message": "Unsupported value: 'temperature' does not support 0"}}, None),
        ("max_tokens", {"error": {"message": "Use 'max_completion_tokens' for 'max_tokens'"}}, "max_completion_tokens"),
    ],
)
def test_a_field_that_the_server_refuses_is_not_sent_again(
    server: ModelServer, model: ChatModel, field: str, said: Any, instead: str | None
) -> None:
    server.answers[PATH] = lambda body: web.json_response(said, status=400) if field in body else chat(DOG)
    assert model.ask([QUESTION, QUESTION]) == [DOG, DOG]
    assert model.ask([QUESTION]) == [DOG]
    assert [field in body for body in bodies(server)] == [True, True, False, False, False]
    assert instead is None or bodies(server)[-1][instead] == 60


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (chat("A dog, I think."), "something else than the JSON asked for"),
        (chat({"long": "A dog."}), "something else than the JSON asked for"),
        (chat('{"short": null}'), "something else than the JSON asked for"),
        (chat('{"short": "A d', finish="length"), "broke off after 60 tokens"),
        ({"choices": []}, "without a message"),
        (web.Response(text="<html>Sign in</html>"), "something else than JSON"),
    ],
)
def test_what_is_no_answer_is_an_error(server: ModelServer, model: ChatModel, answer: Any, reason: str) -> None:
    server.answers[PATH] = answer if not isinstance(answer, web.Response) else lambda _: web.Response(text=answer.text)
    (found,) = model.ask([QUESTION])
    assert isinstance(found, AnswerInvalid)
    assert reason in found.message
    assert len(server.asked) == 2


def test_one_refused_question_takes_no_other_answer_away(server: ModelServer, model: ChatModel) -> None:
    long = Question([{"role": "user", "content": "x" * 100}], SCHEMA, most=60)
    server.answers[PATH] = lambda body: (
        refused(400, {"error": "the context is too long"})(body) if "xxx" in str(body["messages"]) else chat(DOG)  # type: ignore[operator]
    )
    refusal, answer = model.ask([long, QUESTION])
    assert isinstance(refusal, RequestRefused)
    assert answer == DOG
