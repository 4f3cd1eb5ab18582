"""Chat: questions to an endpoint's `/chat/completions`, whose answers are JSON by a schema."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.log import get_logger
from workers.engines import never
from workers.engines.endpoints.client import Call, EndpointClient
from workers.engines.endpoints.errors import AnswerInvalid, EndpointFailed, RequestRefused
from workers.engines.tokens import Tokens, counting, current

log = get_logger(__name__)

#: A chat answer is text; more bytes than this are no answer.
MOST_ANSWER = 2**20
#: The thoughts that some models write before their answer, and the fence that many put around JSON.
THINKING = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
FENCE = re.compile(r"^\s*```(?:json)?\s*(.*?)\s*```\s*$", re.DOTALL)
#: Fields that some servers or models refuse, by words of the refusal, and what is sent instead.
REFUSABLE = (
    (re.compile(r"max_tokens.*max_completion_tokens|max_completion_tokens"), "max_tokens", "max_completion_tokens"),
    (re.compile(r"temperature"), "temperature", None),
    (re.compile(r"response_format|json_schema|schema|grammar|guided"), "response_format", None),
)


@dataclass(frozen=True, slots=True)
class Question:
    """Messages, the JSON schema of the answer, and the most tokens that it may have; `tokens` counts them."""

    messages: Sequence[Mapping[str, Any]]
    schema: Mapping[str, Any]
    most: int
    tokens: Tokens = field(default_factory=current)


@dataclass(slots=True)
class ChatModel:
    """One model of an endpoint. Fields that it refused once are not sent again."""

    client: EndpointClient
    model: str
    _refused: dict[str, str | None] = field(default_factory=dict)

    def ask(
        self, questions: Iterable[Question], *, stop: Callable[[], bool] = never
    ) -> list[Mapping[str, Any] | EndpointFailed]:
        """Return the JSON object that answers each question, or why there is none. Raises Stopped.

        An answer that is none by its schema is asked for once more, in words instead of by `response_format`."""
        answers, asked = self._asked(questions, stop, in_words=False)
        again = [place for place, answer in enumerate(answers) if isinstance(answer, AnswerInvalid)]
        if again:
            log.info("endpoint asked again", endpoint=self.client.name, model=self.model, answers=len(again))
            retried, _ = self._asked([asked[place] for place in again], stop, in_words=True)
            for place, answer in zip(again, retried, strict=True):
                answers[place] = answer
        return answers

    def _asked(
        self, questions: Iterable[Question], stop: Callable[[], bool], *, in_words: bool
    ) -> tuple[list[Mapping[str, Any] | EndpointFailed], list[Question]]:
        """Return the answers, and the questions; what was refused for one of its fields is asked for without it."""
        asked: list[Question] = []

        def calls() -> Iterator[Call]:
            for question in questions:
                asked.append(question)
                yield self._call(question, in_words=in_words)

        bodies = self.client.send(calls(), stop=stop)
        for _ in REFUSABLE:
            refused = [place for place, body in enumerate(bodies) if self._learns(body)]
            if not refused:
                break
            repeated = [self._call(asked[place], in_words=in_words) for place in refused]
            for place, body in zip(refused, self.client.send(repeated, stop=stop), strict=True):
                bodies[place] = body
        return [self._read(body, question) for body, question in zip(bodies, asked, strict=True)], asked

    def _call(self, question: Question, *, in_words: bool) -> Call:
        messages = list(question.messages)
        is_plain = in_words or "response_format" in self._refused
        if is_plain:
            form = json.dumps(question.schema, ensure_ascii=False)
            messages.append({"role": "user", "content": f"Answer with one JSON object by this schema alone: {form}"})
        body = {
            "model": self.model,
            "messages": messages,
            "max_tokens": question.most,
            "temperature": 0,  # the same picture has the same text
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": question.schema},
            },
        }
        if is_plain:
            del body["response_format"]
        for name, instead in self._refused.items():
            if name in body and instead is not None:
                body[instead] = body[name]
            body.pop(name, None)
        return Call("/chat/completions", json=body, most=MOST_ANSWER)

    def _learns(self, answer: bytes | EndpointFailed) -> bool:
        """Note which field was refused; return whether leaving it out may help."""
        if not isinstance(answer, RequestRefused):
            return False
        for words, name, instead in REFUSABLE:
            if name not in self._refused and words.search(answer.said):
                self._refused = {**self._refused, name: instead}  # other threads may be reading the old one
                return True
        # Others refused the same field at the same time.
        return any(name in self._refused and words.search(answer.said) for words, name, _ in REFUSABLE)

    def _read(self, body: bytes | EndpointFailed, question: Question) -> Mapping[str, Any] | EndpointFailed:
        try:
            with counting(question.tokens):
                document = self.client.read(body)
            choice = document["choices"][0]
            text = str(choice["message"]["content"] or "")
        except EndpointFailed as error:
            return error
        except (KeyError, IndexError, TypeError):
            return AnswerInvalid(self.client.name, "answered without a message")
        if choice.get("finish_reason") == "length":
            return AnswerInvalid(self.client.name, f"broke off after {question.most:,} tokens")
        return self._object(text, question.schema)

    def _object(self, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any] | AnswerInvalid:
        text = THINKING.sub("", text)
        if fenced := FENCE.match(text):
            text = fenced[1]
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or not _has_parts(found, schema["properties"]):
            return AnswerInvalid(self.client.name, "answered something else than the JSON asked for")
        return found


def _has_parts(found: Mapping[str, Any], parts: Mapping[str, Any]) -> bool:
    """Return whether an answer has all that was asked for. null is no text: as one it would read "None"."""
    return all(
        name in found and (part.get("type") != "string" or isinstance(found[name], str)) for name, part in parts.items()
    )
