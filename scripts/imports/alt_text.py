"""Import of pictures: those of a CSV file of URLs are described, and the texts come back as CSV."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipeline.cells import defused
from scripts.client import Client
from scripts.imports.url_import import Cells, UrlImport

POLL_SECONDS = 0.3
TEXTS = ("alt_text", "short_alt_text", "long_alt_text", "seo_alt_text")
TOLD = ("confidence", "language", "engine", "generated_at", "code", "message")


class AltTextImport(UrlImport):
    """One import of pictures."""

    name = "alt-text"
    doing = "describing"
    names = ("image_url", "image", "url", "src", "link")
    columns = ("image_url", *TEXTS, *TOLD)
    unanswered = ("", "", "", "", "", "", "", "", "internal_error", "The service gave no answer for this picture.")

    def fault_of(self, url: str) -> str | None:
        """Return why a URL is not sent; the service judges the others one by one, at no cost."""
        return None if url.lower().startswith(("http://", "https://")) else "it does not begin with http:// or https://"

    def is_answered(self, cells: Cells) -> bool:
        """Return whether a picture has its texts."""
        return not dict(zip(self.columns[1:], cells, strict=False)).get("code")

    async def submit(self, client: Client, urls: Sequence[str], key: str) -> str:
        """Submit a batch."""
        return await submit_images(client, [{"image_url": url, "source": "batch", **self._fields} for url in urls], key)

    async def follow(self, client: Client, job_id: str, progress: Callable[[float], None]) -> None:
        """Wait until each picture has its text or has failed."""
        await follow_images(client, job_id, progress)

    async def answers(self, client: Client, urls: Sequence[str], job_id: str) -> Mapping[str, Cells]:
        """Read what became of each picture."""
        answer = await client.get(f"/jobs/{job_id}/result")
        return {result["image_url"]: _cells(result) for result in answer["results"]}


async def submit_images(client: Client, images: Sequence[Mapping[str, Any]], key: str | None = None) -> str:
    """Submit a job for the texts of some pictures; returns its id."""
    return await client.submit("/batch", {"images": list(images)}, key=key)


async def follow_images(client: Client, job_id: str, progress: Callable[[float], None]) -> None:
    """Return when a batch has ended, with texts or without; `progress` takes the share that is done."""
    while True:
        job = await client.get(f"/jobs/{job_id}")
        done = job["progress"]
        progress((done["done"] + done["failed"]) / max(1, done["total"]))
        if job["finished_at"]:
            return
        await asyncio.sleep(POLL_SECONDS)


def _cells(result: Mapping[str, Any]) -> Cells:
    found = (result.get(name) for name in (*TEXTS, *TOLD))
    return tuple("" if value is None else defused(str(value)) for value in found)
