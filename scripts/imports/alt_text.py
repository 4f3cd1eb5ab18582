"""Import of pictures: those of a CSV file of URLs are described, and the texts come back as CSV."""

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.cells import defused
from scripts.client import Client
from scripts.imports.url_import import Cells, UrlImport

TEXTS = ("alt_text", "short_alt_text", "long_alt_text", "seo_alt_text")
TOLD = ("confidence", "language", "engine", "generated_at", "code", "message")


class AltTextImport(UrlImport):
    """One import of pictures."""

    name = "alt-text"
    doing = "describing"
    names = ("image_url", "image", "url", "src", "link")
    columns = (*TEXTS, *TOLD)
    unanswered = ("", "", "", "", "", "", "", "", "internal_error", "The service gave no answer for this picture.")

    def fault_of(self, url: str) -> str | None:
        """Return why a URL is not sent; the service judges the others one by one, at no cost."""
        return None if url.lower().startswith(("http://", "https://")) else "it does not begin with http:// or https://"

    def is_answered(self, cells: Cells) -> bool:
        """Return whether a picture has its texts."""
        return not dict(zip(self.columns, cells, strict=False)).get("code")

    async def submit(self, client: Client, urls: Sequence[str], key: str) -> str:
        """Submit a batch."""
        images = [{"image_url": url, "source": "batch", **self._fields} for url in urls]
        return await client.submit("/batch", {"images": images}, key=key)

    async def answers(self, client: Client, urls: Sequence[str], job_id: str) -> Mapping[str, Cells]:
        """Read what became of each picture."""
        answer = await client.get(f"/jobs/{job_id}/result")
        return {result["image_url"]: _cells(result) for result in answer["results"]}


def _cells(result: Mapping[str, Any]) -> Cells:
    found = (result.get(name) for name in (*TEXTS, *TOLD))
    return tuple("" if value is None else defused(str(value)) for value in found)
