"""Import of pictures: those of a CSV file of URLs are described, and the texts come back as CSV."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from capabilities.alt_text.kinds.batch import BatchImage
from pipeline.csv_cells import defused
from pipeline.sheets.sheet import Row
from pressroom import AsyncPressroom
from scripts.imports.url_import import Cells, UrlImport, is_web_url

TEXTS = ("alt_text", "short_alt_text", "long_alt_text", "seo_alt_text")
TOLD = ("confidence", "language", "engine", "draft", "generated_at", "code", "message")
#: Fields of a picture that a column of that name may say for its row; an empty cell leaves the option in force.
FIELDS = ("mode", "language", "keywords", "page_title", "context")


class AltTextImport(UrlImport):
    """One import of pictures."""

    name = "alt-text"
    doing = "describing"
    names = ("image_url", "image", "url", "src", "link", "picture", "photo")
    columns = (*TEXTS, *TOLD)
    unanswered = ("", "", "", "", "", "", "", "", "", "internal_error", "The service gave no answer for this picture.")

    def fault_of(self, row: Row) -> str | None:
        """Return why a row is not sent; the service judges URLs one by one, at no cost."""
        if not is_web_url(row.value or ""):
            return "it does not begin with http:// or https://"
        try:
            BatchImage.model_validate(self._image(row))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            return f"{'.'.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')}"
        return None

    def question_of(self, row: Row) -> str:
        """Return the request for a row's picture."""
        return json.dumps(self._image(row), sort_keys=True)

    def is_answered(self, cells: Cells) -> bool:
        return not dict(zip(self.columns, cells, strict=False)).get("code")

    async def submit(self, client: AsyncPressroom, questions: Sequence[str], key: str) -> str:
        """Submit a batch."""
        images = [{**json.loads(question), "source": "batch"} for question in questions]
        return (await client.submit("/batch", {"images": images}, idempotency_key=key)).id

    async def answers(self, client: AsyncPressroom, questions: Sequence[str], job_id: str) -> Mapping[str, Cells]:
        """Read the result of each picture, in the order of the request."""
        answer = await client.result(job_id)
        return {question: _cells(one) for question, one in zip(questions, answer.json["results"], strict=True)}

    def _image(self, row: Row) -> dict[str, Any]:
        places = self.sheet.places(*FIELDS)
        said = {name: row.cells[place].strip() for name, place in places.items() if place < len(row.cells)}
        return {"image_url": row.value, **self._fields, **{name: value for name, value in said.items() if value}}


def _cells(result: Mapping[str, Any]) -> Cells:
    found = (result.get(name) for name in (*TEXTS, *TOLD))
    return tuple("" if value is None else "true" if value is True else defused(str(value)) for value in found)
