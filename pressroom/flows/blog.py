"""Blog posts: what they need beside their words."""

from typing import Literal, Unpack

from pressroom.documents.blog import BlogPost
from pressroom.exchange import Flow
from pressroom.options import Options, work
from pressroom.service import Service

Style = Literal["realistic", "illustration", "abstract", "minimalist", "photographic"]


def blog(
    service: Service,
    title: str,
    content: str | None = None,
    *,
    image_style: Style | None = None,
    image_title: bool | None = None,
    language: str | None = None,
    **options: Unpack[Options],
) -> Flow[BlogPost]:
    """Make covers, an excerpt, a category and tags for a post."""
    fields = {
        "title": title,
        "content": content,
        "image_style": image_style,
        "image_title": image_title,
        "language": language,
    }
    return BlogPost.read((yield from work(service, "/blog/generate", fields, options)).json)
