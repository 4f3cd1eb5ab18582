"""The demo of posts: saves their covers."""

import mimetypes

from capabilities.blog.kinds.metadata import BlogMetadata
from scripts.demo.steps import Answered


async def _show(answered: Answered) -> None:
    for number, image in enumerate(answered.document.get("images", ()), start=1):
        async with answered.session.get(image["url"]) as response:
            response.raise_for_status()
            suffix = mimetypes.guess_extension(response.content_type) or ".bin"
            answered.file.with_name(f"{answered.file.stem}-{number}{suffix}").write_bytes(await response.read())


SHOWN = {BlogMetadata.name: _show}
