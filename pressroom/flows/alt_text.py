"""Alt text: pictures that are described."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Unpack

from pressroom.documents.alt_text import AltText, BatchAltText
from pressroom.exchange import Flow
from pressroom.options import Options, work
from pressroom.service import Service
from pressroom.uploads import Upload

Mode = Literal["short", "long", "seo"]
URL = re.compile(r"(https?://|data:)", re.IGNORECASE)


def describe(
    service: Service,
    image: Upload,
    *,
    mode: Mode | None = None,
    language: str | None = None,
    keywords: Sequence[str] | None = None,
    page_title: str | None = None,
    context: str | None = None,
    allow_decorative: bool | None = None,
    **options: Unpack[Options],
) -> Flow[AltText]:
    """Describe a picture: its URL (http, https or data), its path, its bytes or an open file."""
    fields: dict[str, Any] = {
        "mode": mode,
        "language": language,
        "keywords": list(keywords) if keywords is not None else None,
        "page_title": page_title,
        "context": context,
        "allow_decorative": allow_decorative,
    }
    is_url = isinstance(image, str) and URL.match(image) is not None
    files = None if is_url else {"image": image}
    answer = yield from work(
        service, "/generate", fields | ({"image_url": image} if is_url else {}), options, files=files
    )
    return AltText.read(answer.json)


def describe_batch(
    service: Service,
    images: Iterable[str | Mapping[str, Any]],
    *,
    mode: Mode | Literal["all"] | None = None,
    language: str | None = None,
    **options: Unpack[Options],
) -> Flow[list[BatchAltText]]:
    """Describe up to 100 pictures by their URLs, or by objects with `image_url` and the fields of `describe`.

    A picture that can't be described fails alone: it has a `code`. With the mode all each has its three texts."""
    own = {name: value for name, value in (("mode", mode), ("language", language)) if value is not None}
    sent = [{**own, **({"image_url": image} if isinstance(image, str) else image)} for image in images]
    answer = yield from work(service, "/batch", {"images": sent}, options)
    return [BatchAltText.read(result) for result in answer.json["results"]]
