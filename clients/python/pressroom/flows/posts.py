"""Posts: alt text for pictures, and covers and metadata for blog posts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Unpack

from pressroom.documents.posts import AltText, BatchAltText, BlogPost
from pressroom.exchange import Flow
from pressroom.files import Upload
from pressroom.options import Options, work
from pressroom.service import Service, given

Mode = Literal["short", "long", "seo"]
Style = Literal["realistic", "illustration", "abstract", "minimalist", "photographic"]
URL = re.compile(r"(https?://|data:)", re.IGNORECASE)


class ImageOptions(Options, total=False):
    """Options for a picture."""

    mode: Mode | None
    language: str | None
    keywords: Sequence[str] | None
    page_title: str | None
    context: str | None
    allow_decorative: bool | None


class PostOptions(Options, total=False):
    """Options for a blog post."""

    image_style: Style | None
    image_title: bool | None
    language: str | None


def describe(service: Service, image: Upload, **options: Unpack[ImageOptions]) -> Flow[AltText]:
    """Describe a picture: its URL (http, https or data), its path, its bytes or an open file."""
    is_url = isinstance(image, str) and URL.match(image) is not None
    fields, files = ({"image_url": image}, None) if is_url else ({}, {"image": image})
    return AltText.read((yield from work(service, "/generate", fields, options, files=files)).json)


def describe_batch(
    service: Service,
    images: Iterable[str | Mapping[str, Any]],
    *,
    mode: Mode | Literal["all"] | None = None,
    language: str | None = None,
    **options: Unpack[Options],
) -> Flow[list[BatchAltText]]:
    """Describe up to 100 pictures by their URLs, or by objects with `image_url` and the fields of `describe`.

    A picture that can't be described fails alone, with a `code`. The mode all gives each three texts."""
    own = given({"mode": mode, "language": language})
    sent = [{**own, **({"image_url": image} if isinstance(image, str) else image)} for image in images]
    answer = yield from work(service, "/batch", {"images": sent}, options)
    return [BatchAltText.read(result) for result in answer.json["results"]]


def blog(service: Service, title: str, content: str | None = None, **options: Unpack[PostOptions]) -> Flow[BlogPost]:
    """Make covers, an excerpt, a category and tags for a post."""
    fields = {"title": title, "content": content}
    return BlogPost.read((yield from work(service, "/blog/generate", fields, options)).json)
