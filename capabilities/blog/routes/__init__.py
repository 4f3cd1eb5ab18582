"""Blog: the page on which a post's pictures and texts are tried."""

from api.try_pages import Call, Trial, TryPage
from capabilities.blog.kinds.metadata import CREDITS

__all__ = ["TRY"]

TRY = TryPage(
    slug="blog",
    title="Blog post",
    lead="Turn a title and a text into a card with cover, excerpt, category and tags.",
    trials=(Trial("blog_metadata", "A card", f"{CREDITS} credits", Call("blog", "title")),),
    engines=("metadata", "pictures"),
    main=("title", "content", "image_style"),
    filled=("title", "content", "image_style"),
    labels={"image_title": "Write the title on drawn covers", "image_style": "Style"},
    controls={"title": "text", "language": "text"},
    script="try_blog.js",
    submit="Create card",
    icon="newspaper",
    order=3,
)
