"""A kind of somebody else: the words of a text are counted."""

from collections.abc import Sequence
from typing import Any, ClassVar

from pipeline.kind import FinishedItem, Kind, NewItem, Request, Response, Stored
from pipeline.lifecycle.jobs import Job


class WordsRequest(Request):
    """The text."""

    text: str


class WordsCounted(Stored):
    """How many words a text has."""

    words: int


class CountWords(Kind[WordsRequest, WordsRequest, WordsCounted]):
    """POST /words/tally."""

    name = "word_tally"
    queue = "synthesis"
    routes = ("/words/tally",)
    handler = "pressroom_words_handler:CountWordsHandler"
    summary = "Count the words of a text."
    example: ClassVar[dict[str, Any]] = {"text": "Good morning!"}

    def items(self, request: WordsRequest) -> list[NewItem[WordsRequest]]:
        return [NewItem(request, price=2)]

    def response(self, job: Job, items: Sequence[FinishedItem[WordsRequest, WordsCounted]]) -> Response:
        return Response({"words": items[0].delivered.words})
